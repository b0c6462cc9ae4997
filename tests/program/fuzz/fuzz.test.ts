/**
 * Random sequences of valid and invalid instructions against a simple model: 20 of 60 steps here, 100 in the suite
 * `fuzz`. SEED=n RUNS=1 repeats one sequence, and larger numbers try more. With enough sequences, every instruction
 * that moves money must succeed at least once.
 */
import { expect } from 'chai';
import { idl } from '../../../app/sdk/program/program.ts';
import { Tally, trySeed } from './run.ts';

const STEPS = 60;
const SEED = Number(process.env.SEED ?? 1);
const RUNS = Number(process.env.RUNS ?? 20);
/** This many sequences certainly include every instruction. */
const ENOUGH = 100;
/** They move no money but the rent of an account that nothing else uses; their own tests have their attacks. */
const ELSEWHERE = [
  'propose_change',
  'apply_change',
  'cancel_change',
  'cancel_all_changes',
  'accept_admin',
  'remove_relay_authority',
  'set_creator_verified',
];

describe('random sequences', function () {
  this.timeout(900_000);

  it(`(${RUNS} of ${STEPS} steps each) agree with the model and keep every invariant (seed ${SEED})`, async () => {
    const tally = new Tally();
    for (let seed = SEED; seed < SEED + RUNS; seed += 1) {
      const failure = await trySeed(seed, STEPS, tally);
      if (failure) throw new Error(`SEED=${seed} RUNS=1 reproduces this:\n${failure.message}`);
    }
    expect(tally.sequences).to.equal(RUNS);
    if (RUNS < ENOUGH) return;
    const names = idl.instructions.map(({ name }) => name).filter((name) => !ELSEWHERE.includes(name));
    const never = names.filter((name) => tally.of(toSnake(name), 'ok') === 0);
    expect(never, 'instructions that never succeeded').to.deep.equal([]);
  });
});

/** Converts to snake case, in which the SDK's IDL keeps the program's names. */
function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
