/** Answers that are refunded or paid by their content alone. misbehaviour.test.ts has one of each kind in a whole call. */
import { expect } from 'chai';
import { judgeNow } from '../../../app/relay/outbound/verify.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import { hashResult, signResult } from '../../../app/sdk/receipt/receipt.ts';
import { goodAnswer } from '../../harness/node/marketplace.ts';

const [ID, OTHER_ID] = ['00000000-0000-8000-8000-000000000001', '00000000-0000-8000-8000-000000000000'];
const [key, stranger] = [generateSigningKey(), generateSigningKey()];
const good = goodAnswer(key, ID, 'x');
const json = JSON.stringify(good);
const failure = { execution_id: ID, status: 'failed', result: null, result_hash: null, signature: null };
const without = (name: string) => Object.fromEntries(Object.entries(good).filter(([field]) => field !== name));

function judge(answer: object | string) {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const bytes = answer instanceof Uint8Array ? answer : Buffer.from(text);
  return judgeNow(bytes, { executionId: ID, signingKey: key.subarray(32), requestHash: '00'.repeat(32) }).verdict;
}

/** An answer and the message of its refund. */
const REFUNDED: Record<string, [answer: object | string, message: RegExp]> = {
  'a failure with a result': [{ ...good, status: 'failed', error: 'x' }, /failed answer must have an error, and null/],
  'a failure with characters that control a terminal, or hide or turn text': [
    { ...failure, error: '\u001b[31ma\u2028Next: b \u202ec\u202c\u200b\u034f\u3164\u0000\n' },
    /^\[31ma Next: b c$/,
  ],
  'a failure in ten thousand words': [{ ...failure, error: 'x'.repeat(50_000) }, /^x{499}…$/],
  text: ['hello', /not valid JSON/],
  'an array of it': [`[${json}]`, /has no execution_id/],
  'bytes that are not UTF-8': [Buffer.from(json.replace('"x"', '"\xff"'), 'latin1'), /not valid UTF-8/],
  'a name twice': [json.replace('{', '{"status":"failed",'), /"status" twice/],
  'a number beyond all': [json.replace('7}', '1e999}'), /too large/],
  '65 levels': [json.replace('7}', `${'['.repeat(65)}${']'.repeat(65)}}`), /deeper than 64 levels/],
  "another execution's id": [{ ...good, execution_id: OTHER_ID }, /another execution_id/],
  'no id': [without('execution_id'), /has no execution_id$/],
  'a status of its own': [{ ...good, status: 'done' }, /status is neither completed nor failed$/],
  'no result': [{ ...good, result: null }, /must have a text as result$/],
  'an object as result, without hash': [{ ...without('result_hash'), result: {} }, /a text as result and result_hash$/],
  'a hash in capitals': [
    { ...good, result_hash: String(good.result_hash).toUpperCase() },
    /result_hash must be sha256: and 64/,
  ],
  'a signature in hex': [{ ...good, signature: 'ed25519:00ff' }, /signature must be ed25519: and the base58/],
  'a byte order mark': [`\uFEFF${json}`, /it begins with a byte order mark: use UTF-8 without one$/],
  'the hash of another result': [{ ...good, result: 'y' }, /not the SHA-256/],
  'the signature of another key': [goodAnswer(stranger, ID, 'x'), /signature is not/],
  'no signature': [{ ...good, signature: null }, /must have a text as signature$/],
};

const PAID: Record<string, object> = {
  'an error beside its result': { ...good, error: 'none' },
  'negative tokens': { ...good, tokens_used: -3 },
  'a megabyte of steps': { ...good, steps: ['x'.repeat(1024 * 1024)] },
  'fields of its own': { ...good, constructor: 1, toString: { a: 1 } },
  'an execution_signature of another key': { ...good, execution_signature: signResult(stranger, hashResult('x')) },
};

describe('the judgement of an answer', () => {
  for (const [name, [answer, message]] of Object.entries(REFUNDED)) {
    it(`refunds ${name}`, () => {
      const verdict = judge(answer);
      expect(verdict.kind).to.not.equal('completed');
      expect(verdict).to.have.property('message').that.matches(message);
    });
  }

  for (const [name, answer] of Object.entries(PAID)) {
    it(`pays for a good result with ${name}, and drops that`, () => {
      const { tokens_used: tokens } = answer as { tokens_used: number };
      expect(judge(answer)).to.deep.include({
        kind: 'completed',
        result: Buffer.from('x'),
        tokensUsed: tokens < 0 ? null : 7,
        steps: null,
        executionSignature: null,
      });
    });
  }
});
