/**
 * The embedded node answers as Agave's validator does. Both get the same requests in the same scene; the validator's
 * answers are in answers.json. tests/validator/newcomer.test.ts checks and renews them.
 */
import { expect } from 'chai';
import { deployProgram } from '../../app/local/network.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { type Answers, askAll, readAnswers } from '../harness/answers/ask.ts';
import { playScene } from '../harness/answers/scene.ts';
import { startNode, type TestNode } from '../harness/node/node.ts';

/** Longer than the default of tests, so that the requests' blockhash stays valid. */
const SLOT_MS = 400;
/** Lamports a byte; the validator keeps this rent whatever its features say. */
const VALIDATOR_RENT = 6_960;

/** Requests that the embedded node answers differently, and why. */
const DIFFERENCES: Record<string, string> = {
  'getAgGenesisCert with a parameter': 'The validator adds the parameters as Rust prints them.',
  getVersion: 'The node says that it has cheat codes, as a Surfpool does.',
  'simulateTransaction with a lookup table that is not there': 'The node reads no lookup tables, and says so.',
  'getSignaturesForAddress: memos and errors': 'Its own build of the memo program runs out of units in a syscall.',
  'getSignatureStatuses after a send of: units run out': 'Its memo program runs out of units in a syscall.',
};

describe('the embedded node compared with a validator', () => {
  let node: TestNode;
  let answers: Answers;
  const recorded = readAnswers();

  before(async () => {
    node = await startNode({ slotTimeMs: SLOT_MS, deploy: false });
    await node.rpc('surfnet_setRent', [{ lamportsPerByte: VALIDATOR_RENT }]);
    const { rpcUrl, wsUrl, payer } = node;
    await deployProgram(rpcUrl, { programId: PROGRAM_ID, upgradeAuthority: payer.publicKey });
    answers = await askAll(await playScene({ rpcUrl, wsUrl, programId: PROGRAM_ID }));
  });
  after(() => node?.stop());

  it('receives the same requests as the validator', () => {
    expect(Object.keys(answers).sort()).to.deep.equal(Object.keys(recorded).sort());
  });

  for (const [name, expected] of Object.entries(recorded)) {
    const reason = DIFFERENCES[name];
    if (reason) {
      it(`differs in ${name}: ${reason}`, () => {
        expect(answers[name]).not.to.deep.equal(expected);
      });
    } else {
      it(`answers as the validator: ${name}`, () => {
        expect(answers[name]).to.deep.equal(expected);
      });
    }
  }

  it('documents no difference for a request that is never made', () => {
    expect(recorded).to.include.all.keys(...Object.keys(DIFFERENCES));
  });
});
