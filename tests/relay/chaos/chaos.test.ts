/**
 * Seeded chaos; a failure names its seed, which `npm run chaos -- --seed S --seeds 1` repeats: `--relays 2` for two,
 * and with DATABASE=postgres for one on PostgreSQL.
 */
import { expect } from 'chai';
import { onPostgres } from '../../harness/postgres.ts';
import { type Chaos, startChaos } from './run.ts';

const EXECUTIONS = 20;
const FIRST_SEED = 1;
/**
 * How many seeds by the number of relays: two share a PostgreSQL; a ledger of SQLite is one machine's. `npm run chaos` runs
 * as many as wanted.
 */
const SEEDS: [relays: 1 | 2, seeds: number][] = onPostgres
  ? [
      [1, 1],
      [2, 2],
    ]
  : [[1, 2]];

for (const [relays, seeds] of SEEDS) {
  describe(`chaos, ${relays === 2 ? 'two relays' : 'one relay'}`, function () {
    // A run ends by itself where nothing moves any more; this is only against a test that hangs.
    this.timeout(1_200_000);
    let chaos: Chaos;
    before(async () => {
      chaos = await startChaos(relays);
    });
    after(() => chaos.stop());

    for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed += 1) {
      it(`seed ${seed}: kills, faults and creators that misbehave, over ${EXECUTIONS} executions`, async () => {
        expect((await chaos.run(seed, EXECUTIONS)).violations).to.deep.equal([]);
      });
    }
  });
}
