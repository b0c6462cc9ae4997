/**
 * The agent of agent.json in plain JavaScript: it sells the most frequent words of a text.
 *
 *   node examples/creator.mjs SIGNING_KEY_FILE PORT [MARKETPLACE_URL]
 *
 * With MARKETPLACE_URL it refuses every call that this marketplace did not sign, as a creator should. It needs only Node 20
 * or newer, without any package, and follows "The protocol" of docs/creators.md.
 */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const MAX_BODY_BYTES = 8 * 1024 * 1024;
const MOST_ANSWERS = 10_000;
const CLOCK_SKEW_SECONDS = 60;
const COVERED = [
  '@method',
  '@authority',
  '@path',
  'content-type',
  'content-digest',
  'marketplace-signing-key',
  'marketplace-purpose',
];
const LIST = COVERED.map((name) => `"${name}"`).join(' ');
const SIGNATURE_INPUT = new RegExp(
  `^sig1=(\\(${LIST}\\);created=(\\d+);expires=(\\d+);nonce="[\\w-]+";keyid="([\\w-]+)";alg="ed25519";tag="agent-marketplace-call")$`,
);
const SIGNATURE = /^sig1=:([A-Za-z0-9+/]{86}==):$/;

/** A failure with a reason for the caller, who gets the price back. */
class Failure extends Error {}

/** The work that callers pay for: a text, or a Failure. It may be async, and must not block other calls. */
function work(_task, { text, top = 10 }) {
  const counts = new Map();
  const plain = text.normalize('NFC').toLowerCase();
  for (const word of plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  if (counts.size === 0) throw new Failure('the text has no words');
  const words = [...counts].map(([word, count]) => ({ word, count })).sort((a, b) => b.count - a.count);
  return JSON.stringify({ words: words.slice(0, top) });
}

function base58(bytes) {
  let number = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (; number > 0n; number /= 58n)
    text = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'[Number(number % 58n)] + text;
  return '1'.repeat(bytes.findIndex((byte) => byte !== 0)) + text;
}

const failed = (execution_id, error) => ({
  execution_id,
  status: 'failed',
  error,
  result: null,
  result_hash: null,
  signature: null,
});

/** The signed answer, or the failure. */
async function makeAnswer({ execution_id, task, parameters = {} }) {
  try {
    const result = (await work(task, parameters)).toWellFormed(); // Half a character cannot be sent.
    const result_hash = `sha256:${createHash('sha256').update(result).digest('hex')}`;
    const signature = `ed25519:${base58(sign(null, Buffer.from(result_hash), signingKey))}`;
    return { execution_id, status: 'completed', result, result_hash, signature };
  } catch (error) {
    if (error instanceof Failure) return failed(execution_id, error.message);
    console.error(`execution ${execution_id} failed:`, error);
    return failed(execution_id, 'the agent failed with an internal error');
  }
}

const answers = new Map();

/** Works once for each execution: a retry waits for the same answer. Fails shortly before the deadline. */
function answer(call) {
  const { execution_id, timeout_seconds } = call;
  if (!answers.has(execution_id)) {
    if (answers.size === MOST_ANSWERS) answers.delete(answers.keys().next().value); // The oldest.
    answers.set(execution_id, makeAnswer(call));
  }
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(failed(execution_id, 'not finished in time')), 900 * timeout_seconds);
  });
  return Promise.race([answers.get(execution_id), late]).finally(() => clearTimeout(timer));
}

/** The keys that the marketplace publishes. An unknown key causes a new read, at most once a minute. */
class MarketplaceKeys {
  #keys = new Map();
  #readAt = -Infinity;

  constructor(marketplaceUrl) {
    this.url = `${marketplaceUrl.replace(/\/+$/, '')}/.well-known/http-message-signatures-directory`;
  }

  async find(keyId) {
    const age = performance.now() - this.#readAt;
    if (age > 600_000 || (age > 60_000 && !this.#keys.has(keyId))) {
      const response = await fetch(this.url, { signal: AbortSignal.timeout(10_000) });
      if (!response.ok) throw new Error(`${this.url} answered with status ${response.status}`);
      const { keys } = await response.json();
      this.#keys = new Map(keys.map((key) => [key.kid, createPublicKey({ format: 'jwk', key })]));
      this.#readAt = performance.now();
    }
    return this.#keys.get(keyId);
  }
}

/** True if the marketplace signed this call. Throws if its keys cannot be read now. */
async function isSigned({ method, url, headers }, body) {
  const stated = SIGNATURE_INPUT.exec(headers['signature-input'] ?? '');
  const signature = SIGNATURE.exec(headers.signature ?? '');
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  if (!stated || !signature || headers['content-digest'] !== digest) return false;
  const [, parameters, created, expires, keyId] = stated;
  const now = Date.now() / 1_000;
  if (now < Number(created) - CLOCK_SKEW_SECONDS || now > Number(expires) + CLOCK_SKEW_SECONDS) return false;
  const key = await marketplaceKeys.find(keyId);
  if (!key) return false;
  const own = { '@method': method, '@authority': headers.host?.toLowerCase(), '@path': url.split('?')[0] };
  const lines = COVERED.map((name) => `"${name}": ${own[name] ?? headers[name]?.trim() ?? ''}`);
  const signed = [...lines, `"@signature-params": ${parameters}`].join('\n');
  return verify(null, Buffer.from(signed), key, Buffer.from(signature[1], 'base64'));
}

/** The status and the body of the answer to a request. */
async function reply(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return [413, {}];
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (request.method !== 'POST' || request.url.split('?')[0] !== '/execute') return [404, {}];
  try {
    if (marketplaceKeys && !(await isSigned(request, body))) return [401, {}];
  } catch (error) {
    console.error(`The marketplace's keys cannot be read: ${error.cause?.message ?? error.message}`);
    return [503, {}]; // The marketplace tries again.
  }
  let call;
  try {
    call = JSON.parse(body);
  } catch {
    return [400, {}];
  }
  if (typeof call?.execution_id !== 'string' || !(call.timeout_seconds > 0)) return [400, {}];
  const wanted = request.headers['marketplace-signing-key'] ?? publicKey;
  if (wanted !== publicKey) return [200, failed(call.execution_id, `this server does not have the key ${wanted}`)];
  return [200, await answer(call)];
}

const [keyFile, port, marketplace] = process.argv.slice(2);
if (!keyFile || !port) throw new Error('usage: creator.mjs SIGNING_KEY_FILE PORT [MARKETPLACE_URL]');
const pair = Buffer.from(JSON.parse(new TextDecoder().decode(readFileSync(keyFile)))); // 64 bytes: the seed, then the public key.
const [d, x] = [pair.subarray(0, 32), pair.subarray(32)].map((half) => half.toString('base64url'));
const signingKey = createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', d, x } });
const publicKey = base58(pair.subarray(32));
const marketplaceKeys = marketplace && new MarketplaceKeys(marketplace);

const server = createServer(async (request, response) => {
  const [status, body] = await reply(request).catch(() => [400, {}]); // A request that broke off.
  const last = request.complete ? {} : { connection: 'close' };
  response.writeHead(status, { 'content-type': 'application/json', ...last }).end(JSON.stringify(body));
});
server.listen(Number(port), '127.0.0.1', () =>
  console.log(`Answering on http://127.0.0.1:${server.address().port}/execute`),
);
