/** Seeded chaos; a failure names its seed, which `npm run chaos -- --seed S --seeds 1` repeats, `--relays 2` for two. */
import { expect } from 'chai';
import { onPostgres } from '../../harness/postgres.ts';
import { type Chaos, startChaos } from './run.ts';

/** Two relays share a PostgreSQL; a ledger of SQLite is one machine's. */
const RELAYS = onPostgres ? 2 : 1;
const FIRST_SEED = 1;
const SEEDS = onPostgres ? 3 : 20;
const EXECUTIONS = 20;

describe(`chaos, ${RELAYS === 2 ? 'two relays' : 'one relay'}`, function () {
  // A run ends by itself where nothing moves any more; this is only against a test that hangs.
  this.timeout(1_200_000);
  let chaos: Chaos;
  before(async () => {
    chaos = await startChaos(RELAYS);
  });
  after(() => chaos.stop());

  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
    it(`seed ${seed}: kills, faults of the node and creators that misbehave, over ${EXECUTIONS} executions`, async () => {
      expect((await chaos.run(seed, EXECUTIONS)).violations).to.deep.equal([]);
    });
  }
});
