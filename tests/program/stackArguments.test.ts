/**
 * A function's sixth and later arguments are passed on the stack. How depends on the version of SBPF, and on whether
 * the runtime leaves gaps between stack frames. Linker and runtime must agree.
 */
import { expect } from 'chai';
import { createRandom } from '../harness/random.ts';
import { deployVerifier, mixedOfNine, NINE, nineArguments, TEST_VERIFIER_ID } from '../harness/vm/verifier.ts';
import { Vm } from '../harness/vm/vm.ts';

const ROUNDS = 50;

describe('arguments on the stack', () => {
  let vm: Vm;

  before(async () => {
    vm = await Vm.create();
    deployVerifier(vm);
  });

  it(`reach a function with nine arguments, three of them 128 bits wide, in each of ${ROUNDS} calls`, async () => {
    const { below } = createRandom(9);
    const number = (bytes: number) =>
      BigInt(`0x${Buffer.from(Array.from({ length: bytes }, () => below(256))).toString('hex')}`);
    for (let round = 0; round < ROUNDS; round++) {
      const nine = NINE.map(number);
      const outcome = await vm.send([nineArguments(nine, mixedOfNine(nine))], []);
      expect(outcome.error?.name, `${nine}`).to.equal(undefined);
    }
  });

  it('rejects: a result that differs in any one argument', async () => {
    const nine = NINE.map((bytes, at) => 2n ** BigInt(bytes * 8 - 1) + BigInt(at));
    for (const at of NINE.keys()) {
      const other = nine.with(at, nine[at]! - 1n);
      const { error } = await vm.send([nineArguments(nine, mixedOfNine(other))], []);
      expect(error?.name, `argument ${at}`).to.equal(`${TEST_VERIFIER_ID}:6000`);
    }
  });
});
