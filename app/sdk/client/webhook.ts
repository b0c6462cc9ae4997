/**
 * Webhooks by the Standard Webhooks specification: whether one comes from the marketplace, and its event. The
 * specification's own library would bring a second SHA-256 into every bundle; tests compare with it.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

/** The webhook is not the marketplace's, or too old. Answer 400, and do nothing. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
}

/** What a webhook says. `id` is the same whenever it is sent again. */
export interface WebhookEvent {
  id: string;
  /** Such as `execution.completed`. A newer marketplace may send types that you do not know: ignore them. */
  type: string;
  /** When it happened, ISO 8601 in UTC. */
  timestamp: string;
  data: Record<string, unknown>;
}

/** A request's headers as `fetch`, Node and frameworks have them. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/** By the specification: older or newer ones may be copies of real ones. */
const TOLERANCE_SECONDS = 300;

/**
 * The event of a request, if its signature is right and it was sent within the last five minutes. `body` is the body as
 * it came, before JSON is parsed: other spaces are another signature. `secret` is that of the endpoint, `whsec_...`.
 * Throws WebhookVerificationError, or TypeError if the secret is none.
 */
export function verifyWebhook(body: string | Uint8Array, headers: WebhookHeaders, secret: string): WebhookEvent {
  const key = keyOf(secret);
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const sent = new Map(entries.map(([name, value]) => [name.toLowerCase(), String(value ?? '')]));
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => sent.get(`webhook-${name}`));
  if (!id || !time || !signatures) throw new WebhookVerificationError('A webhook-* header is missing.');
  if (!/^[0-9]{1,12}$/.test(time)) throw new WebhookVerificationError('webhook-timestamp is not a time.');
  if (Math.abs(Date.now() / 1_000 - Number(time)) > TOLERANCE_SECONDS) {
    throw new WebhookVerificationError('It was sent more than five minutes ago, or by a clock that is wrong.');
  }
  const bytes = typeof body === 'string' ? utf8ToBytes(body) : body;
  const expected = hmac(sha256, key, concatBytes(utf8ToBytes(`${id}.${time}.`), bytes));
  // A secret that was rotated still signs beside the new one.
  const given = signatures.split(' ').map((text) => (text.startsWith('v1,') ? fromBase64(text.slice(3)) : null));
  if (!given.some((signature) => signature && isEqual(signature, expected))) {
    throw new WebhookVerificationError('No signature is right for this body and secret.');
  }
  return { id, ...JSON.parse(new TextDecoder().decode(bytes)) };
}

function keyOf(secret: string): Uint8Array {
  const key = fromBase64(secret.replace(/^whsec_/, ''));
  if (!key || key.length === 0) throw new TypeError('The secret of a webhook is whsec_ and base64.');
  return key;
}

/** Null if it is not base64. */
function fromBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

/** Takes the same time wherever they differ. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.reduce((difference, byte, index) => difference | (byte ^ b[index]!), 0) === 0;
}
