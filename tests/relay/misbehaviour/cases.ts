/** All misbehaviours of a creator's server, each with the expected status, code and message, and whether it is paid. */
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import bs58 from 'bs58';
import { hashResult, parseSignature, signResult } from '../../../app/sdk/receipt/receipt.ts';
import { type Behaviour, goodAnswer } from '../../harness/node/marketplace.ts';

export interface Case {
  name: string;
  behave: Behaviour;
  /** Paid with this result, or refunded with this answer. */
  end: { result: string } | { status: 408 | 500; message: RegExp };
  /** The number of calls of the creator, if certain. */
  calls?: number;
}

const OTHER_ID = '00000000-0000-8000-8000-000000000000';
const MEBIBYTE = 1024 * 1024;
/** L, the order of the curve's group, little-endian. A verifier without a range check accepts S and S + L alike. */
const GROUP_ORDER = (1n << 252n) + 27742317777372353535851937790883648493n;

const failed = (message: RegExp) => ({ status: 500, message }) as const;
const timedOut = (message: RegExp) => ({ status: 408, message }) as const;
const lateWith = (problem: string) =>
  timedOut(new RegExp(`did not respond within 1 seconds; last problem: ${problem}`));

/** Writes raw bytes to the socket, without Node's HTTP. */
function raw(response: ServerResponse, text: string | Buffer, end = true): void {
  if (end) response.socket!.end(text);
  else response.socket!.write(text);
}
const head = (...lines: string[]) =>
  ['HTTP/1.1 200 OK', 'Content-Type: application/json', ...lines, '', ''].join('\r\n');

/** Writes as long as the client reads. */
function pour(response: ServerResponse, chunk: string | Buffer): void {
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

/** Writes one piece every few milliseconds until the connection ends. */
function drip(response: ServerResponse, piece: string): void {
  const timer = setInterval(() => response.socket?.write(piece), 50);
  response.socket!.on('close', () => clearInterval(timer));
}

function malleable(signature: string): string {
  const bytes = Uint8Array.from(parseSignature(signature)!);
  let s = GROUP_ORDER;
  for (let i = 0; i < 32; i += 1) s += BigInt(bytes[32 + i]!) << BigInt(8 * i);
  for (let i = 0; i < 32; i += 1) bytes[32 + i] = Number((s >> BigInt(8 * i)) & 0xffn);
  return `ed25519:${bs58.encode(bytes)}`;
}

/** `key` is the listing's signing key, `stranger` another key. */
export function misbehaviours(key: Uint8Array, stranger: Uint8Array): Record<string, Case[]> {
  type Body = Parameters<Behaviour>[0];
  const good = (body: Body, result = 'x') => goodAnswer(key, body.execution_id, result);
  /** The good answer with changes. */
  const changed =
    (change: (answer: Record<string, unknown>, body: Body) => object): Behaviour =>
    (body, _response, reply) =>
      reply(change(good(body), body));
  const status =
    (code: number, headers: Record<string, string> = {}): Behaviour =>
    (body, response) =>
      void response.writeHead(code, headers).end(JSON.stringify(good(body)));
  const text =
    (make: (json: string, body: Body) => string | Buffer): Behaviour =>
    (body, response) =>
      void response.end(make(JSON.stringify(good(body)), body));
  const failure = { status: 'failed', error: 'out of luck', result: null, result_hash: null, signature: null };
  let turns = 0;

  return {
    'says it failed': [
      {
        name: 'honestly',
        behave: changed((_, b) => ({ execution_id: b.execution_id, ...failure })),
        end: failed(/^out of luck\./),
      },
      {
        name: 'and gives a result',
        behave: changed((a) => ({ ...a, status: 'failed', error: 'x' })),
        end: failed(/failed answer must have an error, and null/),
      },
      {
        name: 'with control characters',
        behave: changed((_, b) => ({ execution_id: b.execution_id, ...failure, error: '\u001b[31mred\u0000\n' })),
        end: failed(/^\[31mred\. Escrow/),
      },
      {
        name: 'with line separators, and characters that hide or turn text',
        behave: changed((_, b) => ({
          execution_id: b.execution_id,
          ...failure,
          error: 'a\u2028Next: b \u202ec\u202c\u200b\u034f\u3164',
        })),
        end: failed(/^a Next: b c\. Escrow/),
      },
      {
        name: 'in ten thousand words',
        behave: changed((_, b) => ({ execution_id: b.execution_id, ...failure, error: 'x'.repeat(50_000) })),
        end: failed(/^x{499}…\. Escrow/),
      },
    ],
    'answers with a status': [
      { name: '500', behave: status(500), end: failed(/status 500/), calls: 1 },
      { name: '429', behave: status(429), end: failed(/status 429/), calls: 1 },
      { name: '201 with a good body', behave: status(201), end: failed(/status 201/), calls: 1 },
      {
        name: '302 to another server',
        behave: status(302, { location: 'http://127.0.0.1:1/execute' }),
        end: failed(/status 302/),
        calls: 1,
      },
      { name: '307 to itself', behave: status(307, { location: '/execute' }), end: failed(/status 307/), calls: 1 },
      {
        name: '101',
        behave: (_b, r) => raw(r, 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
        end: lateWith('UND_ERR_SOCKET'),
      },
      { name: '503 permanently', behave: status(503), end: lateWith('the server is unavailable') },
      {
        name: '502 with an endless body',
        behave: (_b, r) => {
          r.writeHead(502);
          pour(r, 'x'.repeat(65_536));
        },
        end: lateWith('the server is unavailable'),
      },
      {
        name: '503 and then well',
        behave: (body, response, reply) => {
          turns += 1;
          if (turns % 2 === 1) response.writeHead(503).end();
          else reply(good(body, 'the second time'));
        },
        end: { result: 'the second time' },
        calls: 2,
      },
    ],
    'answers something else': [
      { name: 'nothing', behave: (_b, r) => void r.end(), end: failed(/it is empty/) },
      { name: 'text', behave: text(() => 'hello'), end: failed(/not valid JSON/) },
      { name: 'null', behave: text(() => 'null'), end: failed(/has no execution_id/) },
      { name: 'an array of it', behave: text((json) => `[${json}]`), end: failed(/has no execution_id/) },
      {
        name: 'bytes that are not UTF-8',
        behave: text((json) => Buffer.from(json.replace('"x"', '"\xff"'), 'latin1')),
        end: failed(/not valid UTF-8/),
      },
      {
        name: 'a name twice',
        behave: text((json) => json.replace('{', '{"status":"failed",')),
        end: failed(/"status" twice/),
      },
      { name: 'a number beyond all', behave: text((json) => json.replace('7}', '1e999}')), end: failed(/too large/) },
    ],
    'answers wrongly': [
      {
        name: "another execution's id",
        behave: changed((a) => ({ ...a, execution_id: OTHER_ID })),
        end: failed(/another execution_id/),
      },
      {
        name: 'the id in upper case',
        behave: changed((a) => ({ ...a, execution_id: String(a.execution_id).toUpperCase() })),
        end: failed(/another execution_id/),
      },
      { name: 'no id', behave: changed(({ execution_id: _, ...a }) => a), end: failed(/has no execution_id/) },
      {
        name: 'a status of its own',
        behave: changed((a) => ({ ...a, status: 'done' })),
        end: failed(/status is neither completed nor failed/),
      },
      { name: 'no result', behave: changed((a) => ({ ...a, result: null })), end: failed(/has no result/) },
      {
        name: 'the hash of another result',
        behave: changed((a) => ({ ...a, result: 'y' })),
        end: failed(/not the SHA-256/),
      },
      {
        name: 'the hash of another encoding',
        behave: changed((a) => {
          const resultHash = hashResult(Buffer.from('é', 'latin1').toString('latin1') === 'é' ? 'Ã©' : '');
          return { ...a, result: 'é', result_hash: resultHash, signature: signResult(key, resultHash) };
        }),
        end: failed(/not the SHA-256/),
      },
      {
        name: 'the signature of another key',
        behave: (b, _r, reply) => reply(goodAnswer(stranger, b.execution_id, 'x')),
        end: failed(/signature is not/),
      },
      {
        name: 'the signature of another hash',
        behave: changed((a) => ({ ...a, signature: signResult(key, hashResult('z')) })),
        end: failed(/signature is not/),
      },
      {
        name: 'a signature that was made malleable',
        behave: changed((a) => ({ ...a, signature: malleable(String(a.signature)) })),
        end: failed(/signature is not/),
      },
      {
        name: 'a signature with a point of small order',
        behave: changed((a) => ({
          ...a,
          signature: `ed25519:${bs58.encode(Uint8Array.from({ length: 64 }, (_, i) => (i === 0 ? 1 : 0)))}`,
        })),
        end: failed(/signature is not/),
      },
      {
        name: 'no signature',
        behave: changed((a) => ({ ...a, signature: null })),
        end: failed(/has no result, result_hash or signature/),
      },
    ],
    'answers too much': [
      {
        name: 'more than its price pays for',
        behave: (b, _r, reply) => reply(good(b, 'x'.repeat(1_638_401))),
        end: failed(/result has 1638401 bytes, more than max_result_bytes for its price, 1638400/),
        calls: 1,
      },
      {
        name: '6 MiB',
        behave: (b, _r, reply) => reply(good(b, 'x'.repeat(6 * MEBIBYTE))),
        end: failed(/larger than 5242880 bytes/),
      },
      { name: 'without end', behave: (_b, r) => pour(r, 'x'.repeat(65_536)), end: failed(/larger than/) },
      {
        name: 'ten gigabytes, by its own word',
        behave: (_b, r) => {
          r.writeHead(200, { 'content-length': 10_000_000_000 });
          pour(r, ' '.repeat(65_536));
        },
        end: failed(/larger than/),
      },
      {
        name: 'gzip, said',
        behave: (b, r) => void r.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(good(b)))),
        end: failed(/compressed/),
      },
      {
        name: 'a gzip bomb, not said',
        behave: (_b, r) => void r.end(gzipSync(Buffer.alloc(100 * MEBIBYTE))),
        end: failed(/not valid UTF-8/),
      },
      {
        name: 'a brotli bomb',
        behave: (_b, r) =>
          void r.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync(Buffer.alloc(16 * MEBIBYTE))),
        end: failed(/compressed/),
      },
      {
        name: '65 levels',
        behave: text((json) => json.replace('7}', `${'['.repeat(65)}${']'.repeat(65)}}`)),
        end: failed(/deeper than 64 levels/),
      },
      { name: 'two million levels', behave: text(() => '['.repeat(2_000_000)), end: failed(/deeper than 64 levels/) },
      {
        name: 'a million names',
        behave: text(() => `{${Array.from({ length: 400_000 }, (_, i) => `"n${i}":0`).join()}}`),
        end: failed(/more than 100000 values/),
      },
      {
        name: 'headers of 20 KiB',
        behave: (b, r) => void r.writeHead(200, { 'x-large': 'x'.repeat(20_000) }).end(JSON.stringify(good(b))),
        end: lateWith('UND_ERR_HEADERS_OVERFLOW'),
      },
    ],
    'breaks HTTP': [
      { name: 'cuts the connection', behave: (_b, r) => void r.destroy(), end: lateWith('UND_ERR_SOCKET') },
      {
        name: 'resets it within the body',
        behave: (_b, r) => {
          r.write('{"execution_id":');
          setTimeout(() => r.socket?.resetAndDestroy(), 20);
        },
        end: lateWith('ECONNRESET'),
      },
      {
        name: 'ends before the length it named',
        behave: (_b, r) => raw(r, `${head('Content-Length: 1000')}{"a":1}`),
        end: lateWith('UND_ERR_SOCKET'),
      },
      {
        name: 'sends chunks of no length',
        behave: (_b, r) => raw(r, `${head('Transfer-Encoding: chunked')}zz\r\nxx\r\n`),
        end: lateWith('HTTPParserError'),
      },
      {
        name: 'sends a chunk of 16 exabytes',
        behave: (_b, r) => raw(r, `${head('Transfer-Encoding: chunked')}ffffffffffffffff\r\nxx`),
        end: timedOut(/did not respond/),
      },
      {
        name: 'names two lengths',
        behave: (b, r) => {
          const json = JSON.stringify(good(b));
          raw(r, `${head('Content-Length: 5', `Content-Length: ${json.length}`)}${json}`);
        },
        end: lateWith('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'),
      },
      {
        name: 'names a length and chunks',
        behave: (_b, r) => raw(r, `${head('Content-Length: 5', 'Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`),
        end: timedOut(/did not respond/),
      },
      {
        name: 'speaks another protocol',
        behave: (_b, r) => raw(r, 'SSH-2.0-OpenSSH_9.9\r\n'),
        end: lateWith('HTTPParserError'),
      },
      {
        name: 'puts a line break into a header',
        behave: (_b, r) => raw(r, 'HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n'),
        end: timedOut(/did not respond/),
      },
    ],
    'takes its time': [
      { name: 'hangs', behave: () => undefined, end: timedOut(/did not respond within 1 seconds\. /), calls: 1 },
      {
        name: 'drips its headers',
        behave: (_b, r) => {
          raw(r, 'HTTP/1.1 200 OK\r\n', false);
          drip(r, 'X-A: b\r\n');
        },
        end: timedOut(/within 1 seconds\. /),
        calls: 1,
      },
      {
        name: 'drips its body',
        behave: (_b, r) => {
          raw(r, head('Transfer-Encoding: chunked'), false);
          drip(r, '1\r\n \r\n');
        },
        end: timedOut(/within 1 seconds\. /),
        calls: 1,
      },
      {
        name: 'is always about to answer',
        behave: (_b, r) => drip(r, 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'),
        end: timedOut(/within 1 seconds\. /),
        calls: 1,
      },
      {
        name: 'sends white space before its answer for ever',
        behave: (_b, r) => {
          r.writeHead(200);
          drip(r, ' ');
        },
        end: timedOut(/did not respond/),
      },
    ],
    'is odd, and is paid': [
      { name: 'an error beside its result', behave: changed((a) => ({ ...a, error: 'none' })), end: { result: 'x' } },
      { name: 'negative tokens', behave: changed((a) => ({ ...a, tokens_used: -3 })), end: { result: 'x' } },
      { name: 'steps that are a text', behave: changed((a) => ({ ...a, steps: 'none' })), end: { result: 'x' } },
      {
        name: 'a megabyte of steps',
        behave: changed((a) => ({ ...a, steps: ['x'.repeat(MEBIBYTE)] })),
        end: { result: 'x' },
      },
      {
        name: 'fields of its own',
        behave: changed((a) => ({ ...a, constructor: 1, toString: { a: 1 } })),
        end: { result: 'x' },
      },
      {
        name: 'an execution_signature of another key',
        behave: changed((a) => ({ ...a, execution_signature: signResult(stranger, hashResult('x')) })),
        end: { result: 'x' },
      },
      { name: 'an empty result', behave: (b, _r, reply) => reply(good(b, '')), end: { result: '' } },
      {
        name: 'all the bytes that its price pays for',
        behave: (b, _r, reply) => reply(good(b, 'é'.repeat(819_200))),
        end: { result: 'é'.repeat(819_200) },
      },
    ],
  };
}
