import type { RequestListener } from 'node:http';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { createClient } from '../../../app/sdk/client/client.ts';
import { KEY_DIRECTORY_PATH } from '../../../app/sdk/creator/callSignature.ts';
import { createExecutionHandler, generateSigningKey, signingKeyAddress } from '../../../app/sdk/creator/creator.ts';
import { CONFORMANCE_CHECKS, CONFORMANCE_NAMES } from '../../../app/sdk/wire/conformance.ts';
import { type AgentMetadata, encodeMetadata } from '../../../app/sdk/wire/metadata.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { serve } from '../../harness/edge/listen.ts';
import { EPOCH, metadataOf, newAddress } from '../../harness/edge/rows.ts';
import { undisturbed } from '../../harness/edge/undisturbed.ts';
import { refusal, refusedAs, sessionsOf } from './sessions.ts';

describe('listings.test', () => {
  const world = useWorld();
  const { signIn } = sessionsOf(() => world);

  const signingKey = generateSigningKey();
  const signing_key = signingKeyAddress(signingKey);

  /**
   * Runs a creator's server for one test. The session uploads a document that names it; `use` gets the document's hash.
   */
  async function withCreator<T>(
    handler: RequestListener,
    token: string | undefined,
    use: (metadataHash: string, endpoint: string) => Promise<T>,
  ): Promise<T> {
    const server = await serve(handler);
    const endpoint = `${server.url}/execute`;
    try {
      return await use(await describes(token, { endpoint }), endpoint);
    } finally {
      server.close();
    }
  }
  /** Uploads a description, with a session or without. Returns its hash. */
  async function describes(apiKey: string | undefined, changes: Partial<AgentMetadata>): Promise<string> {
    const client = createClient({ baseUrl: world.url, apiKey });
    return (await client.request('postMetadata', { body: encodeMetadata(metadataOf(changes)) })).metadata_hash;
  }

  async function run(handler: RequestListener, input: object = {}) {
    const session = await signIn(Keypair.generate());
    return withCreator(handler, session.token, (metadata_hash) =>
      session.call('listings.test', { metadata_hash, signing_key, ...input }),
    );
  }

  it('passes a good server that gets the task in the format of a paid one, and reports each check', async () => {
    let received: Record<string, unknown> = {};
    const execute = (request: { task: string }) => {
      received = { ...request };
      return { result: `did ${request.task}` };
    };
    const handler = createExecutionHandler({ signingKey, execute });
    const { ok, checks, answer } = await run(handler, { task: 'it', parameters: { any: 1 } });
    expect(ok).to.equal(true);
    expect(received).to.deep.include({ task: 'it', parameters: { any: 1 } });
    expect(received.timeoutSeconds).to.be.oneOf([29, 30]);
    expect(received.executionId).to.match(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(answer!)).to.include({ status: 'completed', result: 'did it' });
    const required = CONFORMANCE_CHECKS.filter((check) => check.required);
    expect(checks.map((check) => check.name)).to.deep.equal(required.map(({ name }) => name));
    for (const check of checks) expect(check.ok, check.detail).to.equal(true);
  });

  it('runs every check of the conformance test if asked', async () => {
    const verify = { directoryUrl: `${world.url}${KEY_DIRECTORY_PATH}` };
    const handler = createExecutionHandler({ signingKey, verify, execute: ({ task }) => ({ result: task }) });
    const { ok, checks } = await undisturbed(async () => {
      const ran = await run(handler, { full: true });
      return { ...ran, failed: ran.checks.filter((check) => !check.ok).map(({ name }) => name) };
    });
    expect(checks.map(({ name }) => name)).to.deep.equal(CONFORMANCE_NAMES);
    for (const { ok: passed, detail, sent, received, name } of checks) {
      expect(passed, `${name}: ${detail}`).to.equal(true);
      if (name !== 'metadata') expect([sent, received].join(' ')).to.match(/^POST http[\s\S]* HTTP \d/);
    }
    expect(ok).to.equal(true);
  });

  it('names the first fault, and shows the answer unchanged', async () => {
    const { ok, checks, answer } = await run((_, response) => void response.writeHead(500).end('no model'));
    expect([ok, answer]).to.deep.equal([false, 'no model']);
    const last = checks.at(-1)!;
    expect([last.name, last.ok]).to.deep.equal(['reachable', false]);
    expect(last.detail).to.include('500');
    expect(checks.slice(0, -1).every((earlier) => earlier.ok)).to.equal(true);
  });

  const good = () => createExecutionHandler({ signingKey, execute: () => ({ result: 'r' }) });
  /** Counts the requests that reach the creator. */
  function counting(handler: RequestListener): { calls: () => number; handler: RequestListener } {
    let calls = 0;
    return {
      calls: () => calls,
      handler: (request, response) => {
        calls += 1;
        handler(request, response);
      },
    };
  }

  it('does not call an endpoint for a stranger, whether it is listed or not, and for any poster of its description', async () => {
    const owner = await signIn(Keypair.generate());
    const stranger = await signIn(Keypair.generate());
    const { calls, handler } = counting(good());
    await withCreator(handler, owner.token, async (metadata_hash, endpoint) => {
      const refuses = async () => {
        const { checks } = await stranger.call('listings.test', { metadata_hash, signing_key });
        expect(checks.map(({ name, ok }) => [name, ok])).to.deep.equal([['metadata', false]]);
      };
      await refuses();
      await describes(undefined, { endpoint });
      await refuses();
      await world.addListing({ metadata_hash, creator: newAddress() }, null);
      await describes(stranger.token, { endpoint });
      await refuses();
      expect(calls()).to.equal(0);
    });
  });

  it("shows a passed test as the example, only if asked, and only that of the listing's creator", async () => {
    const wallet = Keypair.generate();
    const [owner, stranger] = [await signIn(wallet), await signIn(Keypair.generate())];
    const result = `${'é'.repeat(4_000)}!`;
    const handler = createExecutionHandler({ signingKey, execute: () => ({ result }) });
    await withCreator(handler, owner.token, async (metadata_hash, endpoint) => {
      const creator = wallet.publicKey.toBase58();
      await describes(stranger.token, { endpoint });
      const test = { metadata_hash, signing_key, task: 'a\u0000', parameters: { n: 1 } };
      await owner.call('listings.test', test);
      await stranger.call('listings.test', { ...test, task: 'Buy mine', publish: true });
      const listing = await world.addListing({ metadata_hash, creator }, null);
      const exampleOf = async () => (await stranger.call('agents.example', { agent_id: listing })).example;
      expect(await exampleOf()).to.equal(null);
      await owner.call('listings.test', { ...test, publish: true });
      const shown = { task: test.task, parameters: { n: 1 }, result: 'é'.repeat(4_000), is_cut: true };
      expect(await exampleOf()).to.deep.equal({ ...shown, tested_at: new Date(EPOCH * 1_000).toISOString() });
      // Only its own wallet withdraws an example. A new test shows another.
      expect(await stranger.call('listings.withdrawExample', { metadata_hash })).to.deep.equal({ withdrawn: true });
      expect(await exampleOf()).to.include({ task: test.task });
      expect(await owner.call('listings.withdrawExample', { metadata_hash })).to.deep.equal({ withdrawn: true });
      expect(await exampleOf()).to.equal(null);
      expect(await owner.call('listings.withdrawExample', { metadata_hash })).to.deep.equal({ withdrawn: false });
      await owner.call('listings.test', { ...test, publish: true });
      await stranger.call('listings.test', { ...test, task: 'Buy mine', publish: true });
      // The stranger's description is no longer pending, so the next publication drops its example.
      await world.ledger.deleteFrom('pending_metadata').execute();
      await owner.call('listings.test', { ...test, publish: true });
      expect(await world.ledger.selectFrom('agent_examples').select('wallet').execute()).to.deep.equal([
        { wallet: creator },
      ]);
    });
  });

  it("tests a listing for its creator, and waits for the listing's own timeout", async () => {
    const wallet = Keypair.generate();
    const session = await signIn(wallet);
    const waits: unknown[] = [];
    const handler = createExecutionHandler({
      signingKey,
      execute: ({ timeoutSeconds }) => {
        waits.push(timeoutSeconds);
        return { result: 'r' };
      },
    });
    await withCreator(handler, undefined, async (metadata_hash) => {
      await world.addListing({ metadata_hash, creator: wallet.publicKey.toBase58(), timeout_seconds: 1_200n }, null);
      const ask = (timeout: { timeout_seconds?: number }) =>
        session.call('listings.test', { metadata_hash, signing_key, ...timeout });
      expect((await ask({})).ok).to.equal(true);
      expect((await ask({ timeout_seconds: 3_600 })).ok).to.equal(true);
      expect(waits).to.satisfy(([one, two]: number[]) => one! >= 1_199 && one! <= 1_200 && two! >= 3_599);
      const refused = await refusal(ask({ timeout_seconds: 3_601 }));
      expect(refused).to.include({ status: 400, code: 'invalid_request' });
      expect(refused.message).to.include('must be at most 3600');
    });
  });

  it('tests one endpoint at most ten times in ten minutes, over all wallets', async () => {
    const { calls, handler } = counting(good());
    const first = await signIn(Keypair.generate());
    await withCreator(handler, first.token, async (metadata_hash, endpoint) => {
      for (let n = 0; n < 10; n += 1) await first.call('listings.test', { metadata_hash, signing_key });
      const second = await signIn(Keypair.generate());
      // Another path is the same server.
      const other = { endpoint: endpoint.replace('/execute', '//execute'), name: 'other' };
      const posted = await describes(second.token, other);
      for (const [session, hash] of [
        [first, metadata_hash],
        [second, posted],
      ] as const) {
        const input = { metadata_hash: hash, signing_key };
        const answer = await world.post('/trpc/listings.test', input, { key: session.token });
        expect(answer.outcome).to.equal('429 rate_limited');
        expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 600);
      }
      expect(calls()).to.equal(10);
    });
  });

  it('tests at most thirty times in ten minutes for one wallet', async () => {
    const session = await signIn(Keypair.generate());
    for (let n = 0; n < 4; n += 1) {
      await withCreator(good(), session.token, async (metadata_hash) => {
        const ask = () => session.call('listings.test', { metadata_hash, signing_key });
        if (n === 3) expect(await refusedAs(ask())).to.equal('429 rate_limited');
        else for (let m = 0; m < 10; m += 1) await ask();
      });
    }
  });

  it('tests many endpoints on one server for a creator with live listings, thirty for each listing', async () => {
    const creator = Keypair.generate();
    const session = await signIn(creator);
    const { calls, handler } = counting(good());
    await withCreator(handler, session.token, async (_, endpoint) => {
      const test = async (n: number) => {
        const changes = { endpoint: endpoint.replace('/execute', `/${n}/execute`), name: `agent ${n}` };
        return session.call('listings.test', { metadata_hash: await describes(session.token, changes), signing_key });
      };
      const own = { creator: creator.publicKey.toBase58() };
      for (const status of ['active', 'active', 'delisted'] as const) await world.addListing({ ...own, status });
      for (let n = 0; n < 60; n += 1) expect((await test(n % 20)).ok).to.equal(true);
      expect(await refusedAs(test(0))).to.equal('429 rate_limited');
      expect(calls()).to.equal(60);
    });
  });

  it('reports a missing document, and parameters that do not fit', async () => {
    const session = await signIn(Keypair.generate());
    const unknown = await session.call('listings.test', { metadata_hash: 'ab'.repeat(32), signing_key });
    expect(unknown.checks.map(({ name, ok }) => [name, ok])).to.deep.equal([['metadata', false]]);
    const input_schema = { type: 'object', properties: {}, required: ['csv'] };
    const metadata_hash = await describes(session.token, { input_schema });
    const unfit = await session.call('listings.test', { metadata_hash, signing_key });
    expect(unfit.checks[0]).to.include({ name: 'metadata', ok: false, detail: 'parameters.csv is missing' });
  });
});
