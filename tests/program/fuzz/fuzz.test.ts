/**
 * Random sequences of valid and invalid instructions against a plain model: 20 of 60 steps here, 100 in the suite `fuzz`,
 * any number by `npm run fuzz`. SEED=n RUNS=1 runs one again. Where there are enough of them, every instruction must
 * succeed in some, and a bug put into the model on purpose must be found, and be made small.
 */
import { expect } from 'chai';
import { idl } from '../../../app/sdk/program/program.ts';
import { VM_KIND } from '../../harness/vm/vm.ts';
import { TREASURY } from './rules/config.ts';
import { type Failure, type Sabotage, Tally, trySeed } from './run.ts';

const STEPS = 60;
const SEED = Number(process.env.SEED ?? 1);
const RUNS = Number(process.env.RUNS ?? 20);
/** So many sequences are sure to meet every instruction. */
const ENOUGH = 100;
/** A fixed seed keeps a red build about the change that made it; this many sequences are sure to meet the bug below. */
const RUNS_TO_FIND = 20;

/** As if the fee were rounded up: one unit more for the treasury wherever 1% has a remainder. */
const roundedUp: Sabotage = (ledger, { name }) => {
  if (name !== 'settle_execution') return;
  const held = ledger.token(TREASURY);
  if (held.amount % 10_000n !== 0n) ledger.changeToken(TREASURY, { amount: held.amount + 1n });
};

describe('random sequences', function () {
  this.timeout(900_000);

  before(function () {
    // Forged signatures are among the steps, and only this VM refuses them.
    if (VM_KIND !== 'litesvm') this.skip();
  });

  it(`${RUNS} of ${STEPS} steps agree with the model and keep every invariant (seed ${SEED})`, async () => {
    const tally = new Tally();
    for (let seed = SEED; seed < SEED + RUNS; seed += 1) {
      const failure = await trySeed(seed, STEPS, tally);
      if (failure) throw new Error(`SEED=${seed} RUNS=1 reproduces this:\n${failure.message}`);
    }
    expect(tally.sequences).to.equal(RUNS);
    if (RUNS < ENOUGH) return;
    const never = idl.instructions.map(({ name }) => name).filter((name) => tally.of(toSnake(name), 'ok') === 0);
    expect(never, 'instructions that never succeeded').to.deep.equal([]);
  });

  it('finds a fee that is wrongly rounded up, and reduces the sequence', async function () {
    if (RUNS < ENOUGH) this.skip();
    let failure: Failure | null = null;
    for (let seed = SEED; !failure && seed < SEED + RUNS_TO_FIND; seed += 1) {
      failure = await trySeed(seed, STEPS, new Tally(), roundedUp);
    }
    expect(failure?.message).to.match(/settle_execution: chain and model differ/);
    expect(failure!.sequence.steps.length).to.be.at.most(6);
  });
});

/** The IDL as loaded keeps the names of the program, in snake case. */
function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
