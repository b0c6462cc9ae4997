/** Compares verifyWebhook of the TypeScript client with the library of the Standard Webhooks specification. */
import { expect } from 'chai';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, type WebhookHeaders, WebhookVerificationError } from '../../app/sdk/client/caller.ts';

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const EVENT = { type: 'execution.completed', timestamp: '2026-01-31T12:00:00.000Z', data: { execution_id: 'ü 1' } };
const BODY = JSON.stringify(EVENT);

/** The headers that a sender with these secrets writes. */
function headersOf({ body = BODY, secrets = [SECRET], at = new Date(), id = 'evt_1' } = {}): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  };
}
const refusal = (headers: WebhookHeaders, body: string | Uint8Array = BODY, secret = SECRET): string => {
  try {
    verifyWebhook(body, headers, secret);
  } catch (error) {
    expect(error).to.be.instanceOf(WebhookVerificationError);
    return (error as Error).message;
  }
  return expect.fail('it was accepted');
};

describe('clients/webhooks', () => {
  it('returns the event of a webhook signed by the library, from text or bytes and any kind of headers', () => {
    const headers = headersOf();
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    for (const sent of [headers, upper, new Headers(headers)]) {
      for (const body of [BODY, Buffer.from(BODY), new TextEncoder().encode(BODY)]) {
        expect(verifyWebhook(body, sent, SECRET)).to.deep.equal({ id: 'evt_1', ...EVENT });
      }
    }
  });

  it('accepts the old and the new secret while both sign, and a secret without its prefix', () => {
    const headers = headersOf({ secrets: [OTHER, SECRET] });
    for (const secret of [SECRET, OTHER, SECRET.slice(6)]) {
      expect(verifyWebhook(BODY, headers, secret).type).to.equal(EVENT.type);
    }
  });

  it('refuses another body, secret, id, time or version of the signature', () => {
    const headers = headersOf();
    const wrong = 'No signature matches this body and secret.';
    expect(refusal(headers, `${BODY} `)).to.equal(wrong);
    expect(refusal(headers, BODY, OTHER)).to.equal(wrong);
    expect(refusal({ ...headers, 'webhook-id': 'evt_2' })).to.equal(wrong);
    const later = String(Number(headers['webhook-timestamp']) + 1);
    expect(refusal({ ...headers, 'webhook-timestamp': later })).to.equal(wrong);
    for (const signature of [headers['webhook-signature']!.replace('v1,', 'v1a,'), 'v1,', 'v1,?', 'v1', ' ']) {
      expect(refusal({ ...headers, 'webhook-signature': signature })).to.equal(wrong);
    }
  });

  it('refuses missing headers, invalid times, and webhooks older or newer than five minutes', () => {
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      expect(refusal({ ...headersOf(), [name]: undefined })).to.equal(
        'A required header is missing: webhook-id, webhook-timestamp or webhook-signature.',
      );
    }
    expect(refusal({ ...headersOf(), 'webhook-timestamp': '1e9' })).to.equal(
      'webhook-timestamp is not a time in seconds.',
    );
    for (const seconds of [-302, 330]) {
      expect(refusal(headersOf({ at: new Date(Date.now() + seconds * 1_000) }))).to.match(/five minutes/);
    }
    for (const seconds of [-270, 290]) {
      const headers = headersOf({ at: new Date(Date.now() + seconds * 1_000) });
      expect(verifyWebhook(BODY, headers, SECRET).type).to.equal(EVENT.type);
    }
  });

  it('refuses an invalid secret with a TypeError, because the program is wrong and not the webhook', () => {
    for (const secret of ['', 'whsec_', 'whsec_?']) {
      expect(() => verifyWebhook(BODY, headersOf(), secret)).to.throw(TypeError, 'whsec_');
    }
  });

  it('decides like the library about any signature, body and secret', () => {
    const verdict = (verify: () => unknown) => {
      try {
        verify();
        return true;
      } catch {
        return false;
      }
    };
    const text = fc.string({ unit: fc.constantFrom('v1,', 'v2,', ' ', ',', 'A', '=', 'é'), maxLength: 6 });
    fc.assert(
      fc.property(fc.json(), fc.boolean(), text, text, fc.boolean(), (body, isOther, before, after, isChanged) => {
        const headers = headersOf({ body, secrets: [isOther ? OTHER : SECRET] });
        const signature = `${before}${headers['webhook-signature']}${after}`;
        const sent = { ...headers, 'webhook-signature': signature };
        const received = isChanged ? `${body}\n` : body;
        const theirs = verdict(() => new Webhook(SECRET).verify(received, sent));
        expect(verdict(() => verifyWebhook(received, sent, SECRET))).to.equal(theirs);
      }),
      { numRuns: 300 },
    );
  });
});
