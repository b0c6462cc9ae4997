/**
 * Verifies webhooks by the Standard Webhooks specification and returns their events. The specification's own library
 * would add a second SHA-256 to every bundle. Tests compare the results with it.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { bareKey } from '../wire/secrets.ts';

/** The webhook is not from the marketplace, or is too old. Answer 400, and do nothing. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
}

/** The content of a webhook. `id` stays the same each time it is sent. */
export interface WebhookEvent {
  id: string;
  /** Such as `execution.completed`. Ignore types that you do not know: a newer marketplace may send more. */
  type: string;
  /** Time of the event, ISO 8601 in UTC. */
  timestamp: string;
  data: Record<string, unknown>;
}

/** A request's headers in the forms of `fetch`, Node and frameworks. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/** From the specification. A message with an older or newer time may be a replay. */
const TOLERANCE_SECONDS = 300;

/**
 * Returns the event of a request, if its signature is valid and it was sent within the last five minutes. `body` is the
 * raw body, before JSON parsing: any other byte breaks the signature. `secret` is the endpoint's, `whsec_...`. Throws
 * WebhookVerificationError, or TypeError if the secret is malformed.
 */
export function verifyWebhook(body: string | Uint8Array, headers: WebhookHeaders, secret: string): WebhookEvent {
  const key = keyOf(secret);
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const sent = new Map(entries.map(([name, value]) => [name.toLowerCase(), String(value ?? '')]));
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => sent.get(`webhook-${name}`));
  if (!id || !time || !signatures)
    throw new WebhookVerificationError(
      'A required header is missing: webhook-id, webhook-timestamp or webhook-signature.',
    );
  if (!/^[0-9]{1,12}$/.test(time)) throw new WebhookVerificationError('webhook-timestamp is not a time in seconds.');
  if (Math.abs(Date.now() / 1_000 - Number(time)) > TOLERANCE_SECONDS) {
    throw new WebhookVerificationError(
      'webhook-timestamp is more than five minutes from now: the message is old, or a clock is wrong.',
    );
  }
  const bytes = typeof body === 'string' ? utf8ToBytes(body) : body;
  const mac = hmac(sha256, key, concatBytes(utf8ToBytes(`${id}.${time}.`), bytes));
  const expected = btoa(String.fromCharCode(...mac));
  // After a rotation, messages are also signed with the old secret.
  const isRight = signatures.split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',');
    return version === 'v1' && isEqual(utf8ToBytes(text), utf8ToBytes(expected));
  });
  if (!isRight) throw new WebhookVerificationError('No signature matches this body and secret.');
  return { id, ...JSON.parse(new TextDecoder().decode(bytes)) };
}

function keyOf(secret: string): Uint8Array {
  try {
    const key = Uint8Array.from(atob(bareKey(secret).replace(/^whsec_/, '')), (letter) => letter.charCodeAt(0));
    if (key.length > 0) return key;
  } catch {
    // Not base64.
  }
  throw new TypeError('The secret must be whsec_ followed by base64.');
}

/** Compares in constant time. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.reduce((difference, byte, index) => difference | (byte ^ b[index]!), 0) === 0;
}
