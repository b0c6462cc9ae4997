/**
 * Chaos runs with a seed. A failure names its seed. `npm run chaos -- --seed S --seeds 1` repeats it; add `--relays 2`
 * for two relays, and DATABASE=postgres for one on PostgreSQL.
 */
import { expect } from 'chai';
import { onPostgres } from '../../harness/postgres.ts';
import { type Chaos, startChaos } from './run.ts';

const EXECUTIONS = 20;
const FIRST_SEED = 1;
/**
 * Number of seeds for one and two relays. Two relays need PostgreSQL, because a SQLite ledger is on one machine. `npm
 * run chaos` runs any number.
 */
const SEEDS: [relays: 1 | 2, seeds: number][] = onPostgres
  ? [
      [1, 1],
      [2, 2],
    ]
  : [[1, 2]];

for (const [relays, seeds] of SEEDS) {
  describe(`chaos with ${relays === 2 ? 'two relays' : 'one relay'}`, function () {
    // Each run ends by itself when nothing moves any more; this limit is only against a test that hangs.
    this.timeout(1_200_000);
    let chaos: Chaos;
    before(async () => {
      chaos = await startChaos(relays);
    });
    after(() => chaos.stop());

    for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed += 1) {
      it(`(seed ${seed}: kills, faults, bad creators) violates no invariant in ${EXECUTIONS} executions`, async () => {
        expect((await chaos.run(seed, EXECUTIONS)).violations).to.deep.equal([]);
      });
    }
  });
}
