/** The creator's server over real HTTP: the specification's shapes, repeats, deadlines, refusals and key files. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bs58 from 'bs58';
import { expect } from 'chai';
import express from 'express';
import nacl from 'tweetnacl';
import {
  type CreatorOptions,
  createCreatorServer,
  createExecutionHandler,
  ExecutionFailure,
  generateSigningKey,
  loadSigningKey,
  saveSigningKey,
  signingKeyAddress,
} from '../../app/sdk/creator/creator.ts';
import { hashResult, parseSignature, requestHash } from '../../app/sdk/receipt/receipt.ts';
import { listen } from '../harness/edge/listen.ts';

const signingKey = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(3)).secretKey;
const publicKey = signingKey.subarray(32);
const servers: Server[] = [];

function serving(server: Server): Promise<string> {
  servers.push(server);
  return listen(server);
}

function serve(options: Partial<CreatorOptions> = {}): Promise<string> {
  return serving(createCreatorServer({ signingKey, execute: ({ task }) => ({ result: task }), ...options }));
}

let serial = 0;
/** A well-formed request with a new execution_id. */
function execution(fields: object = {}): Record<string, unknown> {
  serial += 1;
  return {
    execution_id: `00000000-0000-8000-8000-${serial.toString(16).padStart(12, '0')}`,
    task: 'hello',
    parameters: {},
    user_pubkey: '11111111111111111111111111111111',
    timeout_seconds: 60,
    ...fields,
  };
}

interface Reply {
  status: number;
  text: string;
  json: Record<string, unknown> & { error?: unknown };
  headers: Headers;
}

async function post(base: string, body: unknown, init: RequestInit = {}): Promise<Reply> {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const headers = { 'content-type': 'application/json' };
  return read(await fetch(`${base}/execute`, { method: 'POST', headers, body: text, ...init }));
}

async function read(response: Response): Promise<Reply> {
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text), headers: response.headers };
}

/** A promise, and the function that resolves it. */
function gate(): [Promise<void>, () => void] {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [opened, open];
}

const failure = (executionId: unknown, error: string): object => ({
  execution_id: executionId,
  status: 'failed',
  result: null,
  result_hash: null,
  signature: null,
  error,
});

describe('sdk/creator', () => {
  after(() => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  });

  describe('with the headers of a call', () => {
    const older = generateSigningKey();
    const marked = (marks: Record<string, string>) => ({
      headers: { 'content-type': 'application/json', ...marks },
    });
    const isBy = (reply: Reply, key: Uint8Array) =>
      nacl.sign.detached.verify(
        Buffer.from(String(reply.json.result_hash)),
        parseSignature(String(reply.json.signature))!,
        key.subarray(32),
      );

    it('signs with the key that the call names, or with the newest', async () => {
      const base = await serve({ signingKey: [signingKey, older] });
      for (const [key, marks] of [
        [signingKey, {}],
        [signingKey, { 'marketplace-signing-key': signingKeyAddress(signingKey) }],
        [older, { 'marketplace-signing-key': signingKeyAddress(older) }],
      ] as const) {
        const reply = await post(base, execution(), marked(marks));
        expect(reply.json.status).to.equal('completed');
        expect(isBy(reply, key)).to.equal(true);
      }
      const health = await fetch(`${base}/health`);
      expect(await health.json()).to.deep.equal({ status: 'ok', signing_key: signingKeyAddress(signingKey) });
    });

    it('returns a failure that names an unknown key, does no work and stores nothing', async () => {
      let worked = 0;
      const base = await serve({
        execute: ({ task }) => {
          worked += 1;
          return { result: task };
        },
      });
      const request = execution();
      const name = signingKeyAddress(older);
      const reply = await post(base, request, marked({ 'marketplace-signing-key': name }));
      const reason = `this server does not have the signing key ${name}`;
      expect(reply.json).to.deep.equal(failure(request.execution_id, reason));
      expect(worked).to.equal(0);
      expect((await post(base, request)).json.status).to.equal('completed');
    });

    it('passes the purpose of a call to the function', async () => {
      const base = await serve({ execute: ({ purpose }) => ({ result: purpose }) });
      const results = await Promise.all(
        [{}, { 'marketplace-purpose': 'execution' }, { 'marketplace-purpose': 'test' }].map(
          async (marks) => (await post(base, execution(), marked(marks as Record<string, string>))).json.result,
        ),
      );
      expect(results).to.deep.equal(['execution', 'execution', 'test']);
    });

    it('rejects: a server without any key', () => {
      expect(() => createExecutionHandler({ signingKey: [], execute: () => ({ result: '' }) })).to.throw(TypeError);
    });
  });

  describe('a completed execution', () => {
    it('returns exactly the specified fields, signed over the UTF-8 bytes of result_hash', async () => {
      const base = await serve({ execute: ({ task }) => ({ result: `Grüße, ${task} 🌍` }) });
      const request = execution({ task: 'Welt' });
      const { status, json, headers } = await post(base, request);
      expect(status).to.equal(200);
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
      const resultHash = hashResult('Grüße, Welt 🌍');
      const signature = `ed25519:${bs58.encode(nacl.sign.detached(Buffer.from(resultHash), signingKey))}`;
      expect(json).to.deep.equal({
        execution_id: request.execution_id,
        status: 'completed',
        result: 'Grüße, Welt 🌍',
        result_hash: resultHash,
        signature,
      });
    });

    it('passes the request to the function, and returns tokens_used and steps', async () => {
      let seen: unknown;
      const base = await serve({
        execute: (request) => {
          seen = request;
          return { result: '', tokensUsed: 12, steps: ['thought'] };
        },
      });
      const request = execution({ parameters: { a: [1] }, timeout_seconds: 7, future_field: true });
      const { json } = await post(base, request);
      expect(json).to.include({ status: 'completed', result: '', tokens_used: 12 });
      expect(json.steps).to.deep.equal(['thought']);
      expect(seen).to.deep.equal({
        executionId: request.execution_id,
        task: 'hello',
        parameters: { a: [1] },
        userPubkey: '11111111111111111111111111111111',
        timeoutSeconds: 7,
        purpose: 'execution',
        signingKey: null,
      });
    });

    it('binds the result to the execution when it knows the program', async () => {
      const base = await serve({ programId: 'Prog11111111111111111111111111111' });
      const request = execution({ parameters: { b: 1, a: 2 } });
      const { json } = await post(base, request);
      const inHex = Buffer.from(requestHash('hello', { a: 2, b: 1 })).toString('hex');
      const message = `agent-marketplace:v1:Prog11111111111111111111111111111:${request.execution_id}:${inHex}:${json.result_hash}`;
      const bytes = parseSignature(String(json.execution_signature))!;
      expect(nacl.sign.detached.verify(Buffer.from(message), bytes, publicKey)).to.equal(true);
    });

    it('hashes the text in its JSON when a result has half a surrogate pair', async () => {
      const base = await serve({ execute: () => ({ result: 'a\ud800b🌍' }) });
      const { json } = await post(base, execution());
      expect(json.result).to.equal('a\ufffdb🌍');
      expect(json.result_hash).to.equal(hashResult('a\ufffdb🌍'));
    });
  });

  describe('a failed execution', () => {
    it('returns the failure shape with the reason of an ExecutionFailure', async () => {
      const base = await serve({
        execute: () => {
          throw new ExecutionFailure('no such city');
        },
      });
      const request = execution();
      const { status, json } = await post(base, request);
      expect(status).to.equal(200);
      expect(json).to.deep.equal(failure(request.execution_id, 'no such city'));
    });

    it('hides the text of any other error', async () => {
      const reported: [string, string][] = [];
      const base = await serve({
        execute: async () => {
          throw new Error('password is hunter2');
        },
        onError: (error, executionId) => reported.push([(error as Error).message, executionId]),
      });
      const request = execution();
      const { json } = await post(base, request);
      expect(json).to.deep.equal(failure(request.execution_id, 'the agent failed with an internal error'));
      expect(reported).to.deep.equal([['password is hunter2', request.execution_id]]);
    });

    it('fails when the function returns no text, or steps that are not JSON', async () => {
      const reported: unknown[] = [];
      for (const output of [undefined, {}, { result: 5 }, { result: 'x', steps: [1n] }]) {
        const base = await serve({ execute: () => output as never, onError: (error) => reported.push(error) });
        const { json } = await post(base, execution());
        expect(json).to.include({ status: 'failed', error: 'the agent failed with an internal error' });
      }
      expect(reported).to.have.length(4);
    });

    it('fails shortly before the deadline, and signals the function to stop', async () => {
      let reason: unknown;
      const base = await serve({
        execute: (_, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              reason = signal.reason;
              setTimeout(() => resolve({ result: 'too late' }), 30_000).unref();
            });
          }),
      });
      const request = execution({ timeout_seconds: 1 });
      const started = performance.now();
      const { json } = await post(base, request);
      const elapsed = performance.now() - started;
      expect(json).to.deep.equal(failure(request.execution_id, 'not finished within the timeout of 1 s'));
      // Waiting for the function itself would take half a minute.
      expect(elapsed).to.be.within(850, 15_000);
      expect(reason).to.be.instanceOf(ExecutionFailure);
    });

    it('waits past the deadline when it is configured to', async () => {
      const base = await serve({
        failBeforeDeadline: false,
        execute: () => new Promise((resolve) => setTimeout(() => resolve({ result: 'late' }), 1100)),
      });
      const { json } = await post(base, execution({ timeout_seconds: 1 }));
      expect(json).to.include({ status: 'completed', result: 'late' });
    });

    it('returns a failure for an answer over the limit, but not for one at the limit', async () => {
      const request = execution({ task: 'x'.repeat(100) });
      const { text } = await post(await serve(), request);
      const atLimit = await serve({ maxAnswerBytes: text.length });
      expect((await post(atLimit, request)).text).to.equal(text);
      const overLimit = await serve({ maxAnswerBytes: text.length - 1 });
      const { json } = await post(overLimit, request);
      const reason = `the answer is ${text.length} bytes, more than the ${text.length - 1} allowed`;
      expect(json).to.deep.equal(failure(request.execution_id, reason));
    });
  });

  describe('a repeated execution_id', () => {
    it('returns the same bytes without a second run, whatever time remains', async () => {
      let runs = 0;
      const base = await serve({ execute: () => ({ result: `run ${++runs}` }) });
      const request = execution();
      const first = await post(base, request);
      const second = await post(base, { ...request, timeout_seconds: 5 });
      expect(second.text).to.equal(first.text);
      expect(runs).to.equal(1);
      expect((await post(base, execution())).json.result).to.equal('run 2');
    });

    it('repeats a failure too', async () => {
      let runs = 0;
      const base = await serve({
        execute: () => {
          throw new ExecutionFailure(`run ${++runs}`);
        },
      });
      const request = execution();
      const first = await post(base, request);
      expect((await post(base, request)).text).to.equal(first.text);
      expect(runs).to.equal(1);
    });

    it('waits for the running call', async () => {
      let runs = 0;
      const [finished, finish] = gate();
      const base = await serve({
        execute: async () => {
          runs += 1;
          await finished;
          return { result: 'once' };
        },
      });
      const request = execution();
      const replies = Promise.all(Array.from({ length: 8 }, () => post(base, request)));
      // This round trip is sent after the eight. Most of them wait by now; the others will find the stored answer.
      await fetch(`${base}/health`);
      finish();
      expect(new Set((await replies).map(({ text }) => text)).size).to.equal(1);
      expect(runs).to.equal(1);
    });

    it('continues when the caller hangs up, and answers the repeated request', async () => {
      let runs = 0;
      const [begun, begin] = gate();
      const [finished, finish] = gate();
      const base = await serve({
        execute: async () => {
          runs += 1;
          begin();
          await finished;
          return { result: 'kept' };
        },
      });
      const request = execution();
      const leaving = new AbortController();
      const lost = post(base, request, { signal: leaving.signal }).catch((reason: Error) => reason);
      await begun;
      leaving.abort();
      expect(((await lost) as Error).name).to.equal('AbortError');
      // After this round trip the server has noticed the hang-up.
      await fetch(`${base}/health`);
      finish();
      expect((await post(base, request)).json.result).to.equal('kept');
      expect(runs).to.equal(1);
    });

    it('rejects: the id with another task or other parameters', async () => {
      const base = await serve();
      const request = execution();
      await post(base, request);
      for (const other of [{ task: 'other' }, { parameters: { a: 1 } }]) {
        const { status, json } = await post(base, { ...request, ...other });
        expect(status).to.equal(409);
        expect(json.error).to.include({ code: 'execution_id_reused' });
      }
    });

    it('forgets the least recently used answers when they grow too many', async () => {
      let runs = 0;
      const base = await serve({ execute: () => ({ result: `${++runs} ${'x'.repeat(1000)}` }), rememberBytes: 4600 });
      const [a, b, c] = [execution(), execution(), execution()];
      for (const request of [a, b, a, c]) await post(base, request);
      expect(runs).to.equal(3);
      await post(base, a);
      expect(runs, 'a was used after b and is kept').to.equal(3);
      await post(base, b);
      expect(runs, 'b was dropped').to.equal(4);
    });

    it('forgets answers after their time', async () => {
      let runs = 0;
      const base = await serve({ execute: () => ({ result: `${++runs}` }), rememberMs: 0 });
      const request = execution();
      await post(base, request);
      await post(base, request);
      expect(runs).to.equal(2);
    });
  });

  describe('refusals', () => {
    const id = '00000000-0000-8000-8000-ffffffffffff';
    const BAD_BODIES: [string, string | Uint8Array, string][] = [
      ['nothing', '', 'valid JSON'],
      ['no JSON', '{"execution_id":', 'valid JSON'],
      ['invalid UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'valid JSON'],
      ['an array', '[]', 'JSON object'],
      ['null', 'null', 'JSON object'],
      ['text', '"x"', 'JSON object'],
      ...(
        [
          ['execution_id', undefined],
          ['execution_id', 7],
          ['execution_id', 'not-a-uuid'],
          ['execution_id', id.toUpperCase()],
          ['task', undefined],
          ['task', ''],
          ['task', ['x']],
          ['parameters', null],
          ['parameters', []],
          ['parameters', 'x'],
          ['user_pubkey', undefined],
          ['user_pubkey', 1],
          ['timeout_seconds', undefined],
          ['timeout_seconds', '60'],
          ['timeout_seconds', 0],
          ['timeout_seconds', -1],
          ['timeout_seconds', 1.5],
          ['timeout_seconds', 86_401],
          ['timeout_seconds', true],
        ] as [string, unknown][]
      ).map(([field, value]): [string, string, string] => [
        `${field} ${JSON.stringify(value)}`,
        JSON.stringify({ ...execution(), [field]: value }),
        field,
      ]),
      ['a lone surrogate', JSON.stringify(execution()).replace('hello', '\\ud800'), 'canonical'],
      [
        'deep nesting',
        JSON.stringify(execution({ parameters: { deep: '@' } })).replace('"@"', deep(200_000)),
        'canonical',
      ],
    ];
    function deep(levels: number): string {
      return '['.repeat(levels) + ']'.repeat(levels);
    }
    for (const [what, body, rule] of BAD_BODIES) {
      it(`rejects: a body with ${what}, with 400 and an error that names ${rule}`, async () => {
        const base = await serve();
        const { status, json } = await post(base, body);
        expect(status).to.equal(400);
        expect(Object.keys(json)).to.deep.equal(['error']);
        const error = json.error as { code: string; message: string };
        expect(error.code).to.equal('invalid_request');
        expect(error.message).to.contain(rule);
      });
    }

    it('rejects: a body over the limit, stated or not, with 413', async () => {
      const base = await serve({ maxBodyBytes: 1000 });
      const padded = (bytes: number): string => {
        const empty = JSON.stringify(execution({ task: '' })).length;
        return JSON.stringify(execution({ task: 'x'.repeat(bytes - empty) }));
      };
      expect((await post(base, padded(1000))).status).to.equal(200);
      const { status, json } = await post(base, padded(1001));
      expect(status).to.equal(413);
      expect(json.error).to.deep.equal({ code: 'payload_too_large', message: 'the body must be at most 1000 bytes' });
      const chunked = httpRequest(`${base}/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      });
      for (let index = 0; index < 50; index += 1) chunked.write('x'.repeat(100_000));
      chunked.end();
      const [answer] = await once(chunked, 'response');
      expect(answer.statusCode).to.equal(413);
      answer.resume();
    });

    it('rejects: other media types with 415', async () => {
      const base = await serve();
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
        const headers = { 'content-type': type };
        const { status, json } = await post(base, execution(), { headers });
        expect(status).to.equal(415);
        expect(json.error).to.include({ code: 'unsupported_media_type' });
      }
      const headers = { 'content-type': 'Application/JSON; charset=utf-8' };
      expect((await post(base, execution(), { headers })).status).to.equal(200);
    });

    it('rejects: other methods with 405 and other paths with 404', async () => {
      const base = await serve();
      for (const [method, path, status, code, allow] of [
        ['GET', '/execute', 405, 'method_not_allowed', 'POST'],
        ['PUT', '/execute', 405, 'method_not_allowed', 'POST'],
        ['POST', '/health', 405, 'method_not_allowed', 'GET, HEAD'],
        ['GET', '/', 404, 'not_found', null],
        ['POST', '/execute/', 404, 'not_found', null],
        ['POST', '/Execute', 404, 'not_found', null],
      ] as const) {
        const reply = await read(await fetch(base + path, { method }));
        expect(reply.status, `${method} ${path}`).to.equal(status);
        expect(reply.json.error).to.include({ code });
        expect(reply.headers.get('allow')).to.equal(allow);
      }
    });

    it('survives a connection that breaks in the middle of the body', async () => {
      const base = await serve();
      const broken = httpRequest(`${base}/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': 1000 },
      });
      broken.on('error', () => {});
      broken.write('{"execution_id"');
      await new Promise((resolve) => broken.once('socket', (socket) => socket.once('connect', resolve)));
      broken.destroy();
      expect((await post(base, execution())).status).to.equal(200);
    });
  });

  it('answers GET /health with its key, and HEAD without a body', async () => {
    const base = await serve();
    const { status, json } = await read(await fetch(`${base}/health`));
    expect(status).to.equal(200);
    expect(json).to.deep.equal({ status: 'ok', signing_key: bs58.encode(publicKey) });
    const head = await fetch(`${base}/health`, { method: 'HEAD' });
    expect([head.status, await head.text()]).to.deep.equal([200, '']);
  });

  it('works as an Express handler, before and behind express.json()', async () => {
    const handler = createExecutionHandler({ signingKey, execute: ({ task }) => ({ result: task }) });
    for (const app of [express(), express().use(express.json())]) {
      app.post('/execute', handler);
      const base = await serving(createServer(app));
      expect((await post(base, execution({ task: 'via express' }))).json.result).to.equal('via express');
    }
  });

  describe('key files', () => {
    const directory = mkdtempSync(join(tmpdir(), 'signing-key-'));
    after(() => rmSync(directory, { recursive: true }));

    it('rejects: files that are no key, and names them', () => {
      const path = join(directory, 'bad.json');
      const cases: [string, string][] = [
        ['', 'is not a key file'],
        ['{}', 'is not a key file'],
        [JSON.stringify([...signingKey].slice(1)), 'is not a key file'],
        [JSON.stringify([...signingKey].with(5, 256)), 'is not a key file'],
        [JSON.stringify([...signingKey].with(5, 1.5)), 'is not a key file'],
        [JSON.stringify([...signingKey].with(40, signingKey[40]! ^ 1)), 'is damaged'],
      ];
      for (const [content, message] of cases) {
        writeFileSync(path, content);
        expect(() => loadSigningKey(path)).to.throw(`${path} ${message}`);
      }
      expect(() => loadSigningKey(join(directory, 'absent.json'))).to.throw('ENOENT');
      expect(() => saveSigningKey(join(directory, 'new.json'), signingKey.subarray(1))).to.throw('64 bytes');
    });
  });
});
