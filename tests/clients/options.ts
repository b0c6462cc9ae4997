/** Options of the TypeScript client, and its errors, on a real marketplace. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'chai';
import {
  AgentMarketplace,
  ConflictError,
  hasCode,
  isProven,
  type Options,
  VERSION,
  verifyExecution,
  verifyReceipt,
} from '../../app/sdk/client/caller.ts';
import { generateTypes } from '../../scripts/clientTypes.ts';
import { useServers } from '../harness/edge/listen.ts';
import type { TestMarketplace } from '../harness/node/marketplace.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Declares the tests. `market` comes from `startScene`. */
export function takesOptions(market: () => TestMarketplace): void {
  describe('options and faults', () => {
    const key = () => market().callers[0]!.apiKey;
    const client = (options: Options = {}) =>
      new AgentMarketplace({ baseUrl: market().relay.url, apiKey: key(), ...options });
    const spent = async (call: () => Promise<unknown>): Promise<bigint> => {
      const before = (await market().balances()).callers[0]!;
      await call();
      return before - (await market().balances()).callers[0]!;
    };
    const refusal = (call: Promise<unknown>): Promise<Error> =>
      call.then(
        () => expect.fail('expected a refusal'),
        (error: Error) => error,
      );

    const start = useServers();
    /** Starts a server. Records the requests it receives. */
    async function serve(listener: RequestListener) {
      const requests: IncomingMessage[] = [];
      const url = await start((request, response) => {
        requests.push(request);
        listener(request, response);
      });
      return { url, requests };
    }

    it('verifies what it paid for against a node, and finds a changed result', async () => {
      const paid = await client().agents.run(market().agentId, { task: 'prove it' });
      const { ok, checks, receipt } = await client().executions.verify(paid.execution_id, {
        rpcUrl: market().node.rpcUrl,
      });
      expect(checks.filter(({ state }) => state === 'failed')).to.deep.equal([]);
      expect(ok).to.equal(true);
      expect(receipt).to.include({ task: 'prove it', result: paid.result });
      const forged = await verifyReceipt({ ...receipt, result: 'more' }, { rpcUrl: market().node.rpcUrl });
      expect(isProven(forged)).to.equal(false);
      expect(forged.filter(({ state }) => state === 'failed').map(({ name }) => name)).to.deep.equal(['result_hash']);
    });

    it('proves nothing by the valid receipt of another execution than the one asked for', async () => {
      const { agents } = client();
      const asked = await agents.run(market().agentId, { task: 'asked for' });
      const other = await agents.run(market().agentId, { task: 'another' });
      const lying = ((url: string, init: RequestInit) =>
        fetch(url.replace(asked.execution_id, other.execution_id), init)) as typeof fetch;
      const { rpcUrl } = market().node;
      const { ok, checks } = await client({ fetch: lying }).executions.verify(asked.execution_id, { rpcUrl });
      expect(ok).to.equal(false);
      const failed = checks.filter(({ state }) => state === 'failed');
      expect(failed.map(({ name }) => name)).to.deep.equal(['shape']);
      expect(failed[0]!.compared.at(-1)).to.deep.equal({
        what: 'execution_id',
        got: other.execution_id,
        expected: asked.execution_id,
      });
    });

    it('returns the record of a failed execution from wait, without a receipt and with its refund', async () => {
      const { executions } = client();
      const input = { task: 'x', parameters: { creator: 'fails' } };
      let id = '';
      const cost = await spent(async () => {
        ({ execution_id: id } = await executions.create(market().agentId, input));
        expect(await executions.wait(id)).to.deep.include({ status: 'failed', result: null, refund: 'done' });
      });
      expect(cost).to.equal(0n);
      const error = await refusal(executions.receipt(id));
      expect(error).to.be.instanceOf(ConflictError);
      expect(hasCode(error, 'not_settled') && error.details.status).to.equal('failed');
      const checks = await verifyExecution(id, { rpcUrl: market().node.rpcUrl });
      expect(checks.find(({ name }) => name === 'settlement')).to.include({ state: 'passed' });
    });

    it('lists executions between two times, as items and as pages', async () => {
      const { executions } = client();
      await executions.create(market().agentId, { task: 'listed' });
      const { items, total } = await executions.list({ limit: 1 }).page();
      expect(items).to.have.length(1);
      expect(total).to.be.greaterThan(1);
      let count = 0;
      for await (const page of executions.list({ limit: 2 }).pages()) count += page.items.length;
      expect(count).to.equal(total);
      expect((await executions.list({ to: new Date(0) }).page()).total).to.equal(0);
      expect((await executions.list({ from: new Date(0), agent_id: market().agentId }).page()).total).to.equal(total);
    });

    it('finds agents by all filters', async () => {
      const filter = { q: 'second', tags: [], min_success_rate: 0, min_executions: 0, verified_only: false } as const;
      const { items } = await client()
        .agents.list({ ...filter, sort: 'price_asc' })
        .page();
      expect(items.map(({ name }) => name)).to.deep.equal(['second-agent']);
    });

    it('reads statistics and statements, and deletes content that is no longer needed', async () => {
      const { agents, executions, statements } = client();
      expect((await agents.statistics(market().agentId)).agent_id).to.equal(market().agentId);
      expect((await statements.daily({ role: 'caller' })).wallet).to.equal(
        market().callers[0]!.wallet.publicKey.toBase58(),
      );
      expect((await statements.spend()).rows[0]!.agent_id).to.equal(market().agentId);
      const { execution_id } = await agents.run(market().agentId, { task: 'delete me' });
      const del = () => refusal(executions.deleteContent(execution_id));
      let error = await del();
      // The index may not have reached the end of the call yet.
      while (hasCode(error, 'service_unavailable')) error = await del();
      expect(hasCode(error, 'content_needed') && error.details.reason).to.be.oneOf(['not_ended', 'dispute_window']);
      expect(await refusal(executions.archive(execution_id))).to.include({ code: 'not_found' });
    });

    it('starts no call that it refuses itself', async () => {
      const { agents } = client({ fetch: () => expect.fail('it asked') });
      for (const maxCostUsdc of [-1, 0.1234567, Number.NaN, '1e3', '', '99999999999.000001']) {
        const call = Promise.resolve().then(() => agents.run(market().agentId, { task: 'x' }, { maxCostUsdc }));
        expect(await refusal(call), String(maxCostUsdc)).to.be.instanceOf(RangeError);
      }
      // As in the REST API's body. It would not limit the cost.
      const misplaced = { task: 'x', max_cost_usdc: 0.01 };
      const call = Promise.resolve().then(() => agents.run(market().agentId, misplaced));
      expect(await refusal(call)).to.be.instanceOf(TypeError);
      const middle = `${key().slice(0, 30)}\n${key().slice(30)}`;
      for (const apiKey of [middle, `${key()}é`, `a\u200B${key()}`]) {
        expect(() => client({ apiKey })).to.throw(TypeError, 'The API key has a wrong character at position');
      }
      const addresses = ['', 'm.example/', 'https://m.example/', 'https://m.example#', 'https://m.example:'];
      for (const baseUrl of [
        'https://me:word@m.example',
        'https://me:se@word@m.example',
        'https://m.example?key=word',
        ...addresses.map((address) => address + key()),
        `"${key()}"`,
        `Bearer ${key()}`,
        `https://m.example/\n${key()}`,
      ]) {
        expect(() => client({ baseUrl }))
          .to.throw(TypeError)
          .with.property('message')
          .not.match(/word@|=word|_\w{49}/);
      }
      const broken = Promise.resolve().then(() =>
        agents.run(market().agentId, { task: 'x' }, { idempotencyKey: 'a\nb' }),
      );
      expect((await refusal(broken)).message).to.equal('idempotency-key has a character that HTTP cannot send.');
      for (const baseUrl of ['', 'marketplace.example', 'ftp://marketplace.example', 'http://']) {
        expect(() => client({ baseUrl }), baseUrl).to.throw(TypeError, 'baseUrl');
      }
    });

    it('ends with the reason of its signal during any wait', async () => {
      const silent = await serve(() => {});
      const busy = await serve((_, response) => response.writeHead(503, { 'retry-after': '60' }).end());
      const running = await serve((request, response) => {
        const status = request.method === 'POST' ? 202 : 200;
        const fields =
          'result result_hash creator_amount_usdc platform_amount_usdc tokens_used execution_time_ms ipfs_url';
        const others = `${fields} signature execution_signature steps error refund dispute archive content_deleted_at`;
        const more = `${others} agent_id agent_name cost_usdc initiated_at completed_at on_chain_record`;
        const nulls = Object.fromEntries(more.split(' ').map((name) => [name, null]));
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ ...nulls, execution_id: '1', status: 'running' }));
      });
      for (const { url } of [silent, busy, running]) {
        const signal = AbortSignal.timeout(300);
        const start = performance.now();
        const { agents } = client({ baseUrl: url });
        expect(await refusal(agents.run('a', { task: 'x' }, { signal }))).to.equal(signal.reason);
        expect(performance.now() - start).to.be.below(50_000);
      }
    });

    /** Calls of each method with an abort signal. */
    const METHODS: Record<string, (of: AgentMarketplace, signal: AbortSignal) => Promise<unknown>> = {
      'agents.list': ({ agents }, signal) => agents.list({}, { signal }).page(),
      'agents.retrieve': ({ agents }, signal) => agents.retrieve('a', { signal }),
      'agents.statistics': ({ agents }, signal) => agents.statistics('a', { signal }),
      'agents.run': ({ agents }, signal) => agents.run('a', { task: 'x' }, { signal }),
      'executions.create': ({ executions }, signal) => executions.create('a', { task: 'x' }, { signal }),
      'executions.start': ({ executions }, signal) => executions.start('e', { task: 'x' }, { signal }),
      'executions.retrieve': ({ executions }, signal) => executions.retrieve('e', { signal }),
      'executions.list': ({ executions }, signal) => executions.list({}, { signal }).page(),
      'executions.wait': ({ executions }, signal) => executions.wait('e', { signal }),
      'executions.events': ({ executions }, signal) => executions.events('e', { signal }).next(),
      'executions.receipt': ({ executions }, signal) => executions.receipt('e', { signal }),
      'executions.verify': ({ executions }, signal) => executions.verify('e', { rpcUrl: null, signal }),
      'executions.archive': ({ executions }, signal) => executions.archive('e', { signal }),
      'executions.deleteContent': ({ executions }, signal) => executions.deleteContent('e', { signal }),
      'statements.daily': ({ statements }, signal) => statements.daily({}, { signal }),
      'statements.spend': ({ statements }, signal) => statements.spend({}, { signal }),
      'webhooks.list': ({ webhooks }, signal) => webhooks.list({ signal }),
      'webhooks.create': ({ webhooks }, signal) => webhooks.create({ url: 'https://x.example' }, { signal }),
      'webhooks.retrieve': ({ webhooks }, signal) => webhooks.retrieve('w', { signal }),
      'webhooks.update': ({ webhooks }, signal) => webhooks.update('w', { enabled: true }, { signal }),
      'webhooks.delete': ({ webhooks }, signal) => webhooks.delete('w', { signal }),
      'webhooks.rotateSecret': ({ webhooks }, signal) => webhooks.rotateSecret('w', { signal }),
      'webhooks.test': ({ webhooks }, signal) => webhooks.test('w', { signal }),
      'webhooks.deliveries': ({ webhooks }, signal) => webhooks.deliveries('w', {}, { signal }).page(),
      'webhooks.redeliver': ({ webhooks }, signal) => webhooks.redeliver('d', { signal }),
    };

    it('accepts a signal in every method, and ends with its reason', async () => {
      let leave = (): void => {};
      const silent = await serve(() => leave());
      const of = client({ baseUrl: silent.url });
      const groups = Object.entries(of).filter(([, group]) => typeof group === 'object');
      const names = groups.flatMap(([name, group]) =>
        Object.getOwnPropertyNames(Object.getPrototypeOf(group)).map((method) => `${name}.${method}`),
      );
      expect(Object.keys(METHODS)).to.have.members(names.filter((name) => !name.endsWith('.constructor')));
      for (const [name, ask] of Object.entries(METHODS)) {
        const leaving = new AbortController();
        const reason = new Error(name);
        leave = () => leaving.abort(reason);
        expect(await refusal(ask(of, leaving.signal)), name).to.equal(reason);
      }
    });

    it('ends verify with the reason of its signal, even while it waits for the Solana node', async () => {
      const { executions } = client();
      const { execution_id } = await client().agents.run(market().agentId, { task: 'verified in vain' });
      const leaving = new AbortController();
      const node = await serve(() => leaving.abort(new Error('enough')));
      const verifying = executions.verify(execution_id, { rpcUrl: node.url, signal: leaving.signal });
      expect(await refusal(verifying)).to.equal(leaving.signal.reason);
      expect(node.requests.length).to.equal(1);
    });

    it('sends its User-Agent, and logs each request without key, task and filters', async () => {
      const lines: string[] = [];
      const relay = await serve((_, response) => {
        const isFirst = relay.requests.length === 1;
        response.writeHead(isFirst ? 503 : 200, { 'content-type': 'application/json', 'retry-after': '1' });
        response.end(isFirst ? '' : JSON.stringify({ agents: [], total: 0, limit: 1, offset: 0 }));
      });
      const logger = { debug: (line: string) => void lines.push(line) };
      await client({ baseUrl: relay.url, logger }).agents.list({ q: 'secret plans' }).page();
      expect(relay.requests[0]!.headers['user-agent']).to.equal(`agent-marketplace-typescript/${VERSION}`);
      expect(lines.map((line) => line.replace(/\d+ ms/, 'N ms'))).to.deep.equal([
        'GET /v1/agents: 503 unexpected_answer in N ms',
        'GET /v1/agents: retry in N ms',
        'GET /v1/agents: 200 in N ms',
      ]);
    });

    it('takes a key and an address as files and clipboards give them', async () => {
      const AROUND: [before: string, after: string][] = [
        ['', '\n'],
        ['\uFEFF', '\u200B '],
        ['"', '"\r\n'],
        [" '", "\n'"],
        ['Bearer ', '\u00A0'],
      ];
      for (const [before, after] of AROUND) {
        const pasted = client({
          apiKey: before + key() + after,
          baseUrl: before.replace(/^Bearer /, '') + market().relay.url + after,
        });
        expect((await pasted.executions.list().page()).total).to.be.a('number');
      }
    });

    it('shows no key in the error of a lower layer', async () => {
      const fetch = async () => {
        throw new TypeError(`invalid header value: Bearer ${key()}`);
      };
      const error = await refusal(client({ fetch, maxRetries: 0 }).agents.retrieve('a'));
      expect(error.message).to.match(/invalid header value: Bearer crtx_\w+_…$/);
      expect(inspect(error)).to.include(error.message).and.not.include(key());
    });

    it('has the types of the OpenAPI document, and the version of its package', async () => {
      expect(readFileSync(join(ROOT, 'app/sdk/client/generated.ts'), 'utf8')).to.equal(await generateTypes());
      const manifest = JSON.parse(readFileSync(join(ROOT, 'app/client/package.json'), 'utf8')) as { version: string };
      expect(VERSION).to.equal(manifest.version);
    });
  });
}
