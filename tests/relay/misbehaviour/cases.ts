/**
 * Misbehaviours of a creator's server, each with the expected status, code and message, and whether it is paid.
 * What undici itself refuses has few cases here, redirects are in calls/ssrf, and forged signatures in program/signature.
 */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { hashResult, signResult } from '../../../app/sdk/receipt/receipt.ts';
import { type Behaviour, goodAnswer } from '../../harness/node/marketplace.ts';

/** `end`: paid with this result, or refunded with this answer. `calls`: calls of the creator, if certain. */
export type Case = [
  name: string,
  behave: Behaviour,
  end: { result: string } | { status: 408 | 500; message: RegExp },
  calls?: number,
];

const OTHER_ID = '00000000-0000-8000-8000-000000000000';
const MEBIBYTE = 1024 * 1024;

const failed = (message: RegExp) => ({ status: 500, message }) as const;
const timedOut = (message: RegExp) => ({ status: 408, message }) as const;
const lateWith = (problem: string) =>
  timedOut(new RegExp(`did not respond within 1 seconds; last problem: ${problem}`));

/** Writes raw bytes to the socket, without Node's HTTP. */
function raw(response: ServerResponse, text: string, end = true): void {
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
    (code: number): Behaviour =>
    (body, response) =>
      void response.writeHead(code).end(JSON.stringify(good(body)));
  const text =
    (make: (json: string, body: Body) => string | Buffer): Behaviour =>
    (body, response) =>
      void response.end(make(JSON.stringify(good(body)), body));
  const failure = { status: 'failed', error: 'out of luck', result: null, result_hash: null, signature: null };
  let turns = 0;

  return {
    'says it failed': [
      ['honestly', changed((_, b) => ({ execution_id: b.execution_id, ...failure })), failed(/^out of luck\./)],
      [
        'and gives a result',
        changed((a) => ({ ...a, status: 'failed', error: 'x' })),
        failed(/failed answer must have an error, and null/),
      ],
      [
        'with control characters, line separators, and characters that hide or turn text',
        changed((_, b) => ({
          execution_id: b.execution_id,
          ...failure,
          error: '\u001b[31ma\u2028Next: b \u202ec\u202c\u200b\u034f\u3164\u0000\n',
        })),
        failed(/^\[31ma Next: b c\. Escrow/),
      ],
      [
        'in ten thousand words',
        changed((_, b) => ({ execution_id: b.execution_id, ...failure, error: 'x'.repeat(50_000) })),
        failed(/^x{499}…\. Escrow/),
      ],
    ],
    'answers with a status': [
      ['500', status(500), failed(/status 500/), 1],
      ['201 with a good body', status(201), failed(/status 201/), 1],
      [
        '502 with an endless body',
        (_b, r) => {
          r.writeHead(502);
          pour(r, 'x'.repeat(65_536));
        },
        lateWith('the server is unavailable'),
      ],
      [
        '503 and then well',
        (body, response, reply) => {
          turns += 1;
          if (turns % 2 === 1) response.writeHead(503).end();
          else reply(good(body, 'the second time'));
        },
        { result: 'the second time' },
        2,
      ],
    ],
    'answers something else': [
      ['nothing', (_b, r) => void r.end(), failed(/it is empty/)],
      ['text', text(() => 'hello'), failed(/not valid JSON/)],
      ['an array of it', text((json) => `[${json}]`), failed(/has no execution_id/)],
      [
        'bytes that are not UTF-8',
        text((json) => Buffer.from(json.replace('"x"', '"\xff"'), 'latin1')),
        failed(/not valid UTF-8/),
      ],
      ['a name twice', text((json) => json.replace('{', '{"status":"failed",')), failed(/"status" twice/)],
      ['a number beyond all', text((json) => json.replace('7}', '1e999}')), failed(/too large/)],
    ],
    'answers wrongly': [
      ["another execution's id", changed((a) => ({ ...a, execution_id: OTHER_ID })), failed(/another execution_id/)],
      ['no id', changed(({ execution_id: _, ...a }) => a), failed(/has no execution_id/)],
      [
        'a status of its own',
        changed((a) => ({ ...a, status: 'done' })),
        failed(/status is neither completed nor failed/),
      ],
      ['no result', changed((a) => ({ ...a, result: null })), failed(/has no result/)],
      ['the hash of another result', changed((a) => ({ ...a, result: 'y' })), failed(/not the SHA-256/)],
      [
        'the signature of another key',
        (b, _r, reply) => reply(goodAnswer(stranger, b.execution_id, 'x')),
        failed(/signature is not/),
      ],
      ['no signature', changed((a) => ({ ...a, signature: null })), failed(/has no result, result_hash or signature/)],
    ],
    'answers too much': [
      [
        'more than its price pays for',
        (b, _r, reply) => reply(good(b, 'x'.repeat(1_638_401))),
        failed(/result has 1638401 bytes, more than max_result_bytes for its price, 1638400/),
        1,
      ],
      ['6 MiB', (b, _r, reply) => reply(good(b, 'x'.repeat(6 * MEBIBYTE))), failed(/larger than 5242880 bytes/)],
      ['without end', (_b, r) => pour(r, 'x'.repeat(65_536)), failed(/larger than/)],
      [
        'gzip, said',
        (b, r) => void r.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(good(b)))),
        failed(/compressed/),
      ],
      [
        '65 levels',
        text((json) => json.replace('7}', `${'['.repeat(65)}${']'.repeat(65)}}`)),
        failed(/deeper than 64 levels/),
      ],
      ['two million levels', text(() => '['.repeat(2_000_000)), failed(/deeper than 64 levels/)],
      [
        'a million names',
        text(() => `{${Array.from({ length: 400_000 }, (_, i) => `"n${i}":0`).join()}}`),
        failed(/more than 100000 values/),
      ],
      [
        'headers of 20 KiB',
        (b, r) => void r.writeHead(200, { 'x-large': 'x'.repeat(20_000) }).end(JSON.stringify(good(b))),
        lateWith('UND_ERR_HEADERS_OVERFLOW'),
      ],
    ],
    'breaks HTTP': [
      ['cuts the connection', (_b, r) => void r.destroy(), lateWith('UND_ERR_SOCKET')],
      [
        'ends before the length it named',
        (_b, r) => raw(r, `${head('Content-Length: 1000')}{"a":1}`),
        lateWith('UND_ERR_SOCKET'),
      ],
      ['speaks another protocol', (_b, r) => raw(r, 'SSH-2.0-OpenSSH_9.9\r\n'), lateWith('HTTPParserError')],
    ],
    'takes its time': [
      [
        'drips its body',
        (_b, r) => {
          raw(r, head('Transfer-Encoding: chunked'), false);
          drip(r, '1\r\n \r\n');
        },
        timedOut(/within 1 seconds\. /),
        1,
      ],
    ],
    'is odd, and is paid': [
      ['an error beside its result', changed((a) => ({ ...a, error: 'none' })), { result: 'x' }],
      ['negative tokens', changed((a) => ({ ...a, tokens_used: -3 })), { result: 'x' }],
      ['a megabyte of steps', changed((a) => ({ ...a, steps: ['x'.repeat(MEBIBYTE)] })), { result: 'x' }],
      ['fields of its own', changed((a) => ({ ...a, constructor: 1, toString: { a: 1 } })), { result: 'x' }],
      [
        'an execution_signature of another key',
        changed((a) => ({ ...a, execution_signature: signResult(stranger, hashResult('x')) })),
        { result: 'x' },
      ],
      ['an empty result', (b, _r, reply) => reply(good(b, '')), { result: '' }],
      [
        'all the bytes that its price pays for',
        (b, _r, reply) => reply(good(b, 'é'.repeat(819_200))),
        { result: 'é'.repeat(819_200) },
      ],
    ],
  };
}
