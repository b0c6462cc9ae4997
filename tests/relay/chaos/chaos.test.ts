/**
 * Chaos runs with a seed. A failure names its seed; SEED=n RUNS=1 repeats it. Larger numbers try more.
 */
import { expect } from 'chai';
import { onPostgres } from '../../harness/postgres.ts';
import { type Chaos, startChaos } from './run.ts';

const EXECUTIONS = 20;
const SEED = Number(process.env.SEED ?? 1);
const RUNS = Number(process.env.RUNS ?? 1);

// Two relays need PostgreSQL, because a SQLite ledger is on one machine.
(onPostgres ? describe : describe.skip)('chaos with two relays', function () {
  // Each run ends by itself when nothing moves any more; this limit is only against a test that hangs.
  this.timeout(1_200_000);
  let chaos: Chaos;
  before(async () => {
    chaos = await startChaos();
  });
  after(() => chaos.stop());

  for (let seed = SEED; seed < SEED + RUNS; seed += 1) {
    it(`(seed ${seed}: kills, faults, bad creators) violates no invariant in ${EXECUTIONS} executions`, async () => {
      expect(await chaos.run(seed, EXECUTIONS)).to.deep.equal([]);
    });
  }
});
