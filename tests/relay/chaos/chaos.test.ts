/** Seeded chaos; a failure names its seed, which `npm run chaos -- --seed S --seeds 1` repeats. */
import { expect } from 'chai';
import { type Chaos, startChaos } from './run.ts';

const FIRST_SEED = 1;
const SEEDS = 20;
const EXECUTIONS = 20;

describe('chaos', function () {
  // A run ends by itself where nothing moves any more; this is only against a test that hangs.
  this.timeout(1_200_000);
  let chaos: Chaos;
  before(async () => {
    chaos = await startChaos();
  });
  after(() => chaos.stop());

  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
    it(`seed ${seed}: kills, faults of the node and creators that misbehave, over ${EXECUTIONS} executions`, async () => {
      expect((await chaos.run(seed, EXECUTIONS)).violations).to.deep.equal([]);
    });
  }
});
