/** The conformance test of a creator's server: it passes the kit, and names the fault of every other server. */
import { createServer, type RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { demoAgent, demoAgents } from '../../app/local/creators/definitions.ts';
import { createTestKeys, testCreator } from '../../app/sdk/creator/conformance.ts';
import type { ConformanceTools } from '../../app/sdk/creator/conformanceCalls.ts';
import { createCreatorServer, generateSigningKey, signingKeyAddress } from '../../app/sdk/creator/creator.ts';
import { hashResult, signResult } from '../../app/sdk/receipt/receipt.ts';
import { CONFORMANCE_CHECKS, CONFORMANCE_NAMES } from '../../app/sdk/wire/conformance.ts';
import { listen, useServers } from '../harness/edge/listen.ts';
import { undisturbed } from '../harness/edge/undisturbed.ts';
import { type Creators, forkCreators } from './process.ts';

const signingKey = generateSigningKey();
const { sign, directory } = createTestKeys();
const NAMES = CONFORMANCE_NAMES.filter((name) => name !== 'metadata');

interface Options extends Partial<ConformanceTools> {
  task?: string;
  parameters?: object;
  key?: string;
  maxResultBytes?: number;
  full?: boolean;
}

/** Tests a URL as `creator test` does. */
async function conformance(url: string, options: Options = {}) {
  const { task = 'hello', parameters = {}, key = signingKeyAddress(signingKey), full = true, ...more } = options;
  const { maxResultBytes, ...tools } = more;
  const target = { url, signingKey: key, task, parameters: JSON.stringify(parameters), timeoutSeconds: 30 };
  const limit = maxResultBytes === undefined ? {} : { maxResultBytes };
  const found = await testCreator({ sign, ...tools }, { ...target, userPubkey: '1'.repeat(32), ...limit }, { full });
  return { ...found, failed: found.findings.filter(({ ok }) => !ok).map(({ name }) => name) };
}

/** Tests a new server. `expected` are the timed checks that it fails by its own fault. */
function tested(create: () => RequestListener, { expected, ...options }: Options & { expected?: string[] } = {}) {
  return undisturbed(async () => {
    const server = createServer(create());
    try {
      return await conformance(`${await listen(server)}/execute`, options);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }, expected);
}

/** A hand-written server: it answers everything, and remembers nothing. */
function naive(work: (request: Record<string, unknown>) => unknown, type = 'application/json'): RequestListener {
  return async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const result = await work(body);
    const result_hash = hashResult(String(result));
    const signature = signResult(signingKey, result_hash);
    const good = { execution_id: body.execution_id, status: 'completed', result, result_hash, signature };
    if (type) response.setHeader('content-type', type);
    response.end(JSON.stringify(typeof result === 'object' ? { ...good, ...result } : good));
  };
}

const kit = (execute: (request: { task: string }) => { result: string } | Promise<{ result: string }>) =>
  createCreatorServer({ signingKey, execute, verify: { keys: directory.keys } }).listeners(
    'request',
  )[0] as RequestListener;

const NAIVE = ['failure', 'media_type', 'unsigned', 'forged'];

describe('conformance test of a creator', () => {
  it('passes a server of the kit, and reports for each check what was sent, received and expected', async () => {
    let runs = 0;
    const { ok, failed, findings, result } = await tested(() => {
      runs = 0;
      return kit(({ task }) => {
        runs += 1;
        return { result: `did ${task}` };
      });
    });
    expect(failed, JSON.stringify(findings, null, 1)).to.deep.equal([]);
    expect(ok).to.equal(true);
    expect(Buffer.from(result!.result).toString()).to.equal('did hello');
    expect(findings.map(({ name }) => name)).to.deep.equal(NAMES);
    // The first request and the one with the short timeout ran. The repeat and the invalid requests did not.
    expect(runs).to.equal(2);
    for (const { name, sent, received, expected, required } of findings) {
      const known = CONFORMANCE_CHECKS.find((check) => check.name === name);
      expect({ expected, required }).to.deep.equal({ expected: known!.expected, required: known!.required });
      expect(sent).to.match(/^POST http:[\s\S]*"task":"hello"/);
      expect(received).to.match(/^HTTP \d+\ncontent-type: application\/json/);
    }
    const sentBy = (name: string) => findings.find((one) => one.name === name)!;
    expect(sentBy('reachable').sent).to.contain('signature: ...\n');
    expect(sentBy('unsigned').sent).not.to.contain('signature');
    expect(sentBy('unsigned').received).to.contain('"code":"unauthorized"');
    expect(sentBy('media_type').received).to.match(/^HTTP 415/);
    expect(sentBy('failure').received).to.contain('"status":"failed"');
  });

  it('runs only the checks that payment depends on, unless asked for all', async () => {
    const { findings } = await tested(() => kit(() => ({ result: 'r' })), { full: false });
    const required = CONFORMANCE_CHECKS.filter((check) => check.required).map(({ name }) => name);
    expect(findings.map(({ name }) => name)).to.deep.equal(required.slice(1));
  });

  it('finds a server that accepts anything from anybody, although it would be paid', async () => {
    const { ok, failed } = await tested(() => naive(({ task }) => task, ''));
    expect(failed).to.deep.equal(['content_type', ...NAIVE]);
    expect(ok).to.equal(true);
  });

  it('finds a server that repeats work for a repeated request, by its answer or its time', async () => {
    const expected = ['repeated_id'];
    let count = 0;
    const other = await tested(() => naive(() => `answer ${++count}`), { expected });
    expect(other.failed).to.deep.equal(['repeated_id', ...NAIVE]);
    const slowTwice = () => {
      let asked = 0;
      const startMs = performance.now();
      return naive(async ({ task }) => {
        asked += 1;
        if (asked === 1) await delay(1_100);
        // As long as the first answer took, also if a pause made it longer.
        if (asked === 2) await delay(performance.now() - startMs);
        return task;
      });
    };
    const again = await tested(slowTwice, { expected });
    expect(again.failed).to.deep.equal(['repeated_id', ...NAIVE]);
    expect(again.findings.find(({ name }) => name === 'repeated_id')!.detail).to.contain('done again');
  });

  it('finds a server that is not ready at first, and waits for it', async () => {
    const unready = (): RequestListener => {
      let asked = 0;
      const good = kit(() => ({ result: 'r' }));
      return (request, response) => {
        asked += 1;
        if (asked > 2) return good(request, response);
        response.writeHead(503).end();
      };
    };
    const { failed, findings } = await tested(unready, { expected: ['slow_start'] });
    expect(failed).to.deep.equal(['slow_start']);
    expect(findings.find(({ name }) => name === 'slow_start')!.detail).to.contain(
      'after 2 answers with 502, 503 or 504',
    );
  });

  it('finds a malformed failure', async () => {
    const listener: RequestListener = (request, response) =>
      request.headers['marketplace-signing-key'] === signingKeyAddress(signingKey)
        ? kitOnce(request, response)
        : naive(() => ({ status: 'failed', error: 'no such key' }))(request, response);
    const kitOnce = kit(() => ({ result: 'r' }));
    const { failed, findings } = await tested(() => listener);
    expect(failed.slice(0, 1)).to.deep.equal(['failure']);
    expect(findings.find(({ name }) => name === 'failure')!.detail).to.contain('null as result');
  });

  it('finds a result that is too long for its price, and a compressed answer', async () => {
    const long = await tested(() => kit(() => ({ result: 'r'.repeat(11) })), { maxResultBytes: 10 });
    expect(long.failed).to.deep.equal(['signature']);
    expect(long.findings.at(-1)!.detail).to.contain('11 bytes');
    const compressed: RequestListener = (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{}'));
    };
    const { failed } = await tested(() => compressed);
    expect(failed).to.deep.equal(['size']);
  });

  describe('of the sandbox agents', () => {
    const serve = useServers();
    let creators: Creators;
    let agents: Awaited<ReturnType<Creators['start']>>;
    before(async () => {
      creators = forkCreators();
      agents = await creators.start(demoAgents.map(({ name }) => ({ name, listed: true })));
      const keys = await serve((_, response) => void response.end(JSON.stringify(directory)));
      await creators.ask({ type: 'trust', directoryUrl: `${keys}/` });
    });
    after(() => creators.stop());

    const FAULTS: Record<string, string[]> = {
      'sandbox-slow': ['deadline'],
      'sandbox-fails': ['status'],
      'sandbox-error': ['reachable'],
      'sandbox-bad-signature': ['signature'],
      'sandbox-wrong-hash': ['result_hash'],
      'sandbox-wrong-id': ['execution_id'],
      'sandbox-malformed': ['json'],
      'sandbox-huge': ['size'],
      'sandbox-offline': ['reachable'],
    };
    for (const { name } of demoAgents) {
      it(`finds in ${name} the fault: ${FAULTS[name] ?? 'none'}`, async () => {
        const { url, signingKey: key } = agents.get(name)!;
        const { task, parameters } = demoAgent(name).example;
        const asked = name === 'sandbox-slow' ? { seconds: 1.5 } : parameters;
        const expected = FAULTS[name] ?? [];
        const test = () => conformance(url, { key, task, parameters: asked });
        const { failed, findings } = await undisturbed(test, expected);
        expect(failed, JSON.stringify(findings, null, 1)).to.deep.equal(expected);
        if (name !== 'sandbox-offline') return;
        const words = 'The server cannot be reached: no server listens at this address and port (ECONNREFUSED)';
        expect(findings[0]!.detail).to.equal(words);
      });
    }
  });
});
