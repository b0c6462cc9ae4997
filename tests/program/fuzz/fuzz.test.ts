/**
 * Random sequences of valid and invalid instructions against a simple model: 20 of 60 steps here, 100 in the suite
 * `fuzz`. SEED=n RUNS=1 repeats one sequence, and larger numbers try more. With enough sequences, every instruction
 * that moves money must succeed at least once.
 */
import { expect } from 'chai';
import { toCamel } from '../../../app/sdk/program/idlValues.ts';
import { idl } from '../../../app/sdk/program/program.ts';
import { trySeed } from './run.ts';

const STEPS = 60;
const SEED = Number(process.env.SEED ?? 1);
const RUNS = Number(process.env.RUNS ?? 20);
/** This many sequences certainly include every instruction. */
const ENOUGH = 100;
/** They move no money but the rent of an account that nothing else uses; their own tests have their attacks. */
const ELSEWHERE = [
  'proposeChange',
  'applyChange',
  'cancelChange',
  'cancelAllChanges',
  'acceptAdmin',
  'removeRelayAuthority',
  'setCreatorVerified',
];

describe('random sequences', function () {
  this.timeout(900_000);

  it(`(${RUNS} of ${STEPS} steps each) agree with the model and keep every invariant (seed ${SEED})`, async () => {
    const succeeded = new Set<string>();
    for (let seed = SEED; seed < SEED + RUNS; seed += 1) {
      const failure = await trySeed(seed, STEPS, succeeded);
      if (failure) throw new Error(`SEED=${seed} RUNS=1 reproduces this:\n${failure}`);
    }
    if (RUNS < ENOUGH) return;
    const names = idl.instructions.map(({ name }) => toCamel(name)).filter((name) => !ELSEWHERE.includes(name));
    expect(
      names.filter((name) => !succeeded.has(name)),
      'instructions that never succeeded',
    ).to.deep.equal([]);
  });
});
