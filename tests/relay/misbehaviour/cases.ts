/**
 * Misbehaviours of a creator's server, each with the expected status, code and message, and whether it is paid.
 * Answers that only their content decides about are in judging.test.ts. What undici itself refuses has few cases here,
 * redirects are in calls/ssrf, and forged signatures in program/signature.
 */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type Behaviour, failedAnswer, goodAnswer } from '../../harness/node/marketplace.ts';

/** `end`: paid with this result, or refunded with this answer. `calls`: calls of the creator, if certain. */
export type Case = [
  name: string,
  behave: Behaviour,
  end: { result: string } | { status: 408 | 500; message: RegExp },
  calls?: number,
];

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
  const status =
    (code: number): Behaviour =>
    (body, response) =>
      void response.writeHead(code).end(JSON.stringify(good(body)));
  let turns = 0;

  return {
    'says it failed': [
      ['honestly', (b, _r, reply) => reply(failedAnswer(b.execution_id, 'out of luck')), failed(/^out of luck\./)],
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
        lateWith('the server answered with status 502'),
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
    'answers what does not count': [
      ['nothing', (_b, r) => void r.end(), failed(/it is empty/)],
      [
        'the signature of another key',
        (b, _r, reply) => reply(goodAnswer(stranger, b.execution_id, 'x')),
        failed(/signature is not/),
      ],
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
      ['two million levels', (_b, r) => void r.end('['.repeat(2_000_000)), failed(/deeper than 64 levels/)],
      [
        'a million names',
        (_b, r) => void r.end(`{${Array.from({ length: 400_000 }, (_, i) => `"n${i}":0`).join()}}`),
        failed(/more than 100000 values/),
      ],
      [
        'headers of 20 KiB',
        (b, r) => void r.writeHead(200, { 'x-large': 'x'.repeat(20_000) }).end(JSON.stringify(good(b))),
        lateWith('the headers of the answer are larger than 16 KiB'),
      ],
    ],
    'breaks HTTP': [
      [
        'cuts the connection',
        (_b, r) => void r.destroy(),
        lateWith('the server closed the connection before its answer was complete'),
      ],
      [
        'ends before the length it named',
        (_b, r) => raw(r, `${head('Content-Length: 1000')}{"a":1}`),
        lateWith('the server closed the connection before its answer was complete'),
      ],
      ['speaks another protocol', (_b, r) => raw(r, 'SSH-2.0-OpenSSH_9.9\r\n'), lateWith('the answer is not HTTP/1.1')],
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
      ['an error beside its result', (b, _r, reply) => reply({ ...good(b), error: 'none' }), { result: 'x' }],
      ['an empty result', (b, _r, reply) => reply(good(b, '')), { result: '' }],
      [
        'all the bytes that its price pays for',
        (b, _r, reply) => reply(good(b, 'é'.repeat(819_200))),
        { result: 'é'.repeat(819_200) },
      ],
    ],
  };
}
