/**
 * Checks that the recorded answers of Agave's validator, which the embedded node is compared with, equal those of the
 * installed validator. `RENEW_ANSWERS=1` records them again.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { PROGRAM_ARTIFACT } from '../../app/local/network.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { type Answers, askAll } from '../harness/answers/ask.ts';
import { readAnswers, writeAnswers } from '../harness/answers/record.ts';
import { playScene } from '../harness/answers/scene.ts';
import { useFolder } from '../harness/folder.ts';
import { findValidator, NO_VALIDATOR, startValidator, type Validator } from '../harness/node/validator.ts';

describe('the recorded answers of a validator', () => {
  let validator: Validator;
  const folder = useFolder('answers');

  before(async function () {
    if (findValidator() === null) {
      console.log(`      ${NO_VALIDATOR}`);
      this.skip();
    }
    const authority = join(folder, 'authority.json');
    writeFileSync(authority, JSON.stringify([...Keypair.generate().secretKey]));
    validator = await startValidator({
      programs: [{ programId: PROGRAM_ID, soPath: PROGRAM_ARTIFACT, authority }],
    });
  });
  after(() => validator?.remove());

  it('equal its current answers', async () => {
    const { rpcUrl, wsUrl } = validator;
    const answers: Answers = await askAll(await playScene({ rpcUrl, wsUrl, programId: PROGRAM_ID }));
    if (process.env.RENEW_ANSWERS) writeAnswers(answers);
    const recorded = readAnswers();
    expect(Object.keys(answers)).to.have.members(Object.keys(recorded));
    for (const [name, answer] of Object.entries(answers)) {
      expect(JSON.parse(JSON.stringify(answer)), name).to.deep.equal(recorded[name]);
    }
  });
});
