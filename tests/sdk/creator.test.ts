/** The creator's server over real HTTP: the specification's shapes, deadlines, its keys and key files. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import bs58 from 'bs58';
import { expect } from 'chai';
import express from 'express';
import nacl from 'tweetnacl';
import {
  createExecutionHandler,
  ExecutionFailure,
  generateSigningKey,
  loadSigningKey,
  saveSigningKey,
  signingKeyAddress,
} from '../../app/sdk/creator/creator.ts';
import { judgeNow } from '../../app/sdk/creator/judge.ts';
import { hashResult, parseSignature, requestHash } from '../../app/sdk/receipt/receipt.ts';
import { useFolder } from '../harness/folder.ts';
import {
  execution,
  failure,
  post,
  publicKey,
  type Reply,
  read,
  serve,
  serving,
  signingKey,
  stopServers,
} from './creatorServer.ts';

describe('sdk/creator', () => {
  after(stopServers);

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

    it('is judged as paid when a step is cut within an emoji, and failed for a reason that is cut', async () => {
      const cut = '🌍'.slice(0, 1);
      const base = await serve({
        execute: ({ task }) => {
          if (task === 'paid') return { result: 'ok', steps: [cut, { a: [cut] }] };
          throw new ExecutionFailure(task === 'failed' ? cut : `${'a'.repeat(498)}🌍🌍`);
        },
      });
      const judged = ['paid', 'failed', 'long'].map(async (task) => {
        const request = execution({ task });
        const { text } = await post(base, request);
        const executionId = String(request.execution_id);
        const expected = { executionId, signingKey: publicKey, requestHash: '' };
        return judgeNow(Buffer.from(text), expected).verdict;
      });
      const [paid, failed, long] = await Promise.all(judged);
      expect(paid).to.include({ kind: 'completed', steps: '["\ufffd",{"a":["\ufffd"]}]' });
      expect(failed).to.deep.equal({ kind: 'failed', message: '\ufffd' });
      expect(long).to.deep.equal({ kind: 'failed', message: `${'a'.repeat(498)}\ufffd…` });
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
    const directory = useFolder('signing-key');

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
