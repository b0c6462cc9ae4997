/**
 * The MCP server on a real marketplace, with the official client: over stdio and at /mcp of the relay, in both
 * revisions of the protocol. Money moves for real, and each refusal moves none.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { failure } from '../../app/mcp/answers.ts';
import { createMarket, createSession, type Market, type ServerOptions, type Session } from '../../app/mcp/server.ts';
import { createDispute, createPayment } from '../../app/mcp/wallet.ts';
import { createCreatorServer, generateSigningKey } from '../../app/sdk/creator/creator.ts';
import { createKey, restrictKey } from '../../app/sdk/wallet/apiKeys.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import { toUsdc } from '../../app/sdk/wire/usdc.ts';
import { listen } from '../harness/edge/listen.ts';
import { failedAnswer, goodAnswer, PRICE, request, useMarketplace } from '../harness/node/marketplace.ts';
import { type Host, type HostOptions, hostHere, httpHost, stdioHost } from './hosts.ts';

const PRICE_USDC = toUsdc(PRICE);
/** A model reads all descriptions before each of its answers. */
const MOST_BYTES = 15_000;

describe('the MCP server', () => {
  const market = useMarketplace();
  const open: Host[] = [];
  afterEach(async () => {
    market.setBehaviour(null);
    for (const host of open.splice(0)) await host.close();
  });

  const buyer = (apiKey = market.callers[0]!.apiKey) => ({ baseUrl: market.relay.url, apiKey });
  async function stdio(args: string[] = [], options: HostOptions = {}): Promise<Host> {
    const host = await stdioHost(buyer(), args, options);
    open.push(host);
    return host;
  }
  async function http(query = '', options: HostOptions = {}, apiKey?: string): Promise<Host> {
    const host = await httpHost(buyer(apiKey), query, options);
    open.push(host);
    return host;
  }
  /** A host in this process that cannot ask a person. */
  async function here(of: Market, session: Session, payment: ServerOptions['payment'] = 'key'): Promise<Host> {
    const host = await hostHere({ market: of, session, raiseApproval: '', agents: [], payment });
    open.push(host);
    return host;
  }
  /** The same without a budget, over a marketplace with these changes. */
  const over = (changes: Partial<Parameters<typeof createMarket>[0]>): Promise<Host> =>
    here(createMarket({ ...buyer(), rpcUrl: null, ...changes }), createSession({ budget: null, approveAbove: PRICE }));
  /** Runs something that must not move money. */
  async function free<Value>(run: () => Promise<Value>): Promise<Value> {
    const before = await market.balances();
    const result = await run();
    expect(await market.balances()).to.deep.equal(before);
    return result;
  }
  const statesOf = ({ checks }: { checks: { state: string }[] }) => checks.map(({ state }) => state);
  const paid = async () => (await market.balances()).callers[0]!;
  const job = (more: object = {}) => ({
    agent_id: market.agentId,
    task: 'count to three',
    max_cost_usdc: PRICE_USDC,
    ...more,
  });

  it('finds, quotes, buys, reads and verifies over stdio, and reports the remaining budget', async () => {
    const host = await stdio(['--budget', '1']);
    const { agents, total } = await host.call('search_agents', { query: 'test' });
    expect([total, agents[0].agent_id, agents[0].price_usdc]).to.deep.equal([1, market.agentId, PRICE_USDC]);
    const about = await host.call('describe_agent', { agent_id: market.agentId });
    expect(about).to.deep.include({ name: 'test-agent', input_schema: { type: 'object', properties: {} } });
    const quote = await host.call('quote', { agent_id: market.agentId });
    expect(quote).to.deep.include({ price_usdc: PRICE_USDC, can_pay: true, needs_approval: false, reasons: [] });

    const before = await paid();
    const ran = await host.call('run_agent', job());
    expect(before - (await paid())).to.equal(PRICE);
    expect(ran).to.deep.include({ status: 'completed', result: 'done: count to three', cost_usdc: PRICE_USDC });
    const { execution_id } = ran;
    expect(await host.call('get_execution', { execution_id })).to.deep.equal(ran);
    expect(await host.call('wait_for_execution', { execution_id, seconds: 0 })).to.deep.equal(ran);
    const listed = await host.call('list_executions', { status: 'completed', limit: 1 });
    expect(listed.executions[0]).to.include({ execution_id, cost_usdc: PRICE_USDC });
    const verified = await host.call('verify_execution', { execution_id });
    expect([verified.valid, verified.node]).to.deep.equal([true, market.node.rpcUrl]);
    expect(statesOf(verified)).to.include('passed');
    const budget = await host.call('get_budget');
    expect(budget).to.include({ session_spent_usdc: PRICE_USDC, session_remaining_usdc: 1 - PRICE_USDC });
    expect(budget).to.include({ allowance_covers_total: true });
    expect(budget).to.include({ payable_usdc: 1 - PRICE_USDC, approval_above_usdc: 1 });
    // The operator of this network sponsors all calls.
    expect(budget).to.include({ gas_of_next_call: 'paid_by_marketplace' });
  });

  for (const era of ['legacy', 'modern'] as const) {
    it(`buys through the relay's /mcp by the ${era} protocol`, async () => {
      const host = await http('', { era });
      const before = await paid();
      const ran = await host.call('run_agent', job());
      expect(ran).to.include({ status: 'completed', result: 'done: count to three' });
      expect(before - (await paid())).to.equal(PRICE);
      expect((await host.call('verify_execution', { execution_id: ran.execution_id })).valid).to.equal(true);
      expect(await host.call('get_budget')).to.include({ session_remaining_usdc: null });
    });

    it(`describes all tools of the ${era} protocol in at most ${MOST_BYTES} bytes, with hints and output schemas`, async () => {
      const { tools } = await (await http('', { era })).client.listTools();
      expect(Buffer.byteLength(JSON.stringify(tools))).to.be.at.most(MOST_BYTES);
      const [finds, pays, reads] = [
        'search_agents describe_agent quote',
        'run_agent',
        'get_execution wait_for_execution list_executions verify_execution get_budget',
      ];
      expect(tools.map(({ name }) => name)).to.deep.equal(`${finds} ${pays} ${reads}`.split(' '));
      for (const { name, annotations, outputSchema, inputSchema } of tools) {
        const isPaid = name === pays;
        expect(annotations, name).to.deep.equal({
          readOnlyHint: !isPaid,
          destructiveHint: isPaid,
          idempotentHint: !isPaid,
          openWorldHint: true,
        });
        expect(outputSchema?.type, name).to.equal('object');
        if (isPaid) expect(inputSchema.required).to.include.members(['agent_id', 'task', 'max_cost_usdc']);
      }
    });
  }

  it('reports an execution as valid only if a node shows the payment, and not because no check failed', async () => {
    const host = await over({ rpcUrl: 'http://127.0.0.1:9' });
    const { execution_id } = await host.call('run_agent', job());
    const { valid, ...verified } = await host.call('verify_execution', { execution_id });
    expect([valid, [...new Set(statesOf(verified))]]).to.deep.equal([false, ['passed', 'not_checked']]);
  });

  it('reports an execution as not valid if the marketplace sends the receipt of another one', async () => {
    const run = async () => (await (await http()).call('run_agent', job())).execution_id;
    const [asked, other] = [await run(), await run()];
    const lying: typeof fetch = (input, init) => fetch(String(input).replace(asked, other), init);
    const host = await over({ rpcUrl: market.node.rpcUrl, fetch: lying });
    const { valid, checks } = await host.call('verify_execution', { execution_id: asked });
    expect(valid).to.equal(false);
    expect(checks.filter(({ state }: { state: string }) => state === 'failed')).to.deep.equal([
      { name: 'shape', state: 'failed', reason: `execution_id is ${other}, expected ${asked}.` },
    ]);
  });

  it('pays once for a repeated idempotency key, and refuses the key for another call', async () => {
    const host = await http();
    const before = await paid();
    const first = await host.call('run_agent', job({ idempotency_key: 'once' }));
    expect(await host.call('run_agent', job({ idempotency_key: 'once' }))).to.deep.equal(first);
    expect(await host.refused('run_agent', job({ idempotency_key: 'once', task: 'other' }))).to.match(
      /idempotency_key_reused[\s\S]*Next: Use a new idempotency_key/,
    );
    expect(before - (await paid())).to.equal(PRICE);
  });

  it('refuses a price above max_cost_usdc, bad parameters and unknown agents, and suggests what to do', async () => {
    const host = await http();
    await free(async () => {
      expect(await host.refused('run_agent', job({ max_cost_usdc: 0.2 }))).to.match(
        /costs 0.25 USDC, more than max_cost_usdc, 0.2 USDC. Nothing was charged.\nNext: Repeat with a higher/,
      );
      expect(await host.refused('run_agent', job({ timeout_seconds: 999 }))).to.match(
        /invalid_request[\s\S]*Next: Correct timeout_seconds: must be from 1 to 60/,
      );
      const unknown = market.callers[0]!.wallet.publicKey.toBase58();
      expect(await host.refused('describe_agent', { agent_id: unknown })).to.match(
        /agent_not_found[\s\S]*search_agents/,
      );
      expect(await host.refused('run_agent', job({ agent_id: unknown }))).to.match(/agent_not_found/);
      expect(await host.refused('run_agent', { ...job(), max_cost_usdc: undefined })).to.match(/max_cost_usdc/);
      const execution_id = '00000000-0000-4000-8000-000000000000';
      for (const tool of ['get_execution', 'wait_for_execution', 'verify_execution'])
        expect(await host.refused(tool, { execution_id }), tool).to.match(/execution_not_found[\s\S]*list_executions/);
    });
  });

  it('reports a refund, gives its price back to the budget of the session, and stops at that budget', async () => {
    const session = createSession({ budget: 490_000n, approveAbove: PRICE });
    const host = await here(createMarket({ ...buyer(), rpcUrl: null }), session);
    market.setBehaviour((body, _response, reply) => reply(failedAnswer(body.execution_id, 'out of luck')));
    const text = await free(() => host.refused('run_agent', job()));
    expect(text).to.match(
      /failed: .*out of luck.*execution_failed.*refunded to the wallet in full: the call cost 0 USDC/,
    );
    const { executions } = await host.call('list_executions', { status: 'failed' });
    expect(text).to.include(executions[0].execution_id);
    expect(await host.refused('verify_execution', { execution_id: executions[0].execution_id })).to.match(
      /not_settled[\s\S]*refunded/,
    );
    market.setBehaviour(null);
    expect(await host.call('get_budget')).to.include({ session_spent_usdc: 0 });
    const first = await host.call('run_agent', job({ idempotency_key: 'first' }));
    expect(first).to.include({ status: 'completed' });
    await free(async () => {
      expect(await host.refused('run_agent', job())).to.match(
        /budget of this session has 0.24 of 0.49 USDC left. Nothing was charged.\nNext: .*--budget/,
      );
      expect((await host.call('quote', { agent_id: market.agentId })).reasons[0]).to.include('0.24 USDC left');
      // A repeat costs nothing more.
      expect(await host.call('run_agent', job({ idempotency_key: 'first' }))).to.deep.equal(first);
    });
  });

  it('asks a person above the threshold, and refuses where the host cannot ask', async () => {
    const QUERY = '?approve_above_usdc=0.2';
    await free(async () => {
      for (const era of ['legacy', 'modern'] as const) {
        const without = await http(QUERY, { era });
        expect((await without.call('quote', { agent_id: market.agentId })).needs_approval).to.equal(true);
        expect(await without.refused('run_agent', job())).to.match(
          /Calls above 0.2 USDC need the user's approval.*Nothing was charged.\nNext: Ask the user to .*approve_above/,
        );
      }
      for (const answers of ['decline', 'unticked'] as const)
        expect(await (await http(QUERY, { answers })).refused('run_agent', job())).to.match(/The user declined/);
      const poor = await stdio(['--budget', '0.2', '--approve-above', '0.1'], { answers: 'approve' });
      expect(await poor.refused('run_agent', job())).to.include('has 0.2 of 0.2 USDC left');
      expect(poor.questions).to.deep.equal([]);
    });
    const old = await stdio(['--approve-above', '0.2'], { era: 'legacy', answers: 'approve' });
    for (const host of [old, await http(QUERY, { answers: 'approve' })]) {
      const before = await paid();
      expect(await host.call('run_agent', job())).to.include({ status: 'completed' });
      expect(before - (await paid())).to.equal(PRICE);
      expect(host.questions).to.deep.equal([
        `Pay 0.25 USDC to the agent that its creator calls "test-agent" (${market.agentId})?`,
      ]);
    }
  });

  it('offers chosen agents as separate tools, even if their names collide, and no others', async () => {
    const names = ['Second, agent!', 'second agent'];
    const ids: string[] = [];
    for (const name of names) {
      const signingKey = generateSigningKey();
      const creator = createCreatorServer({ signingKey, execute: () => ({ result: name }) });
      const endpoint = `${await listen(creator)}/execute`;
      creator.unref();
      ids.push(await market.list({ name, endpoint, signingKey }));
    }
    const tools = ['run_second_agent', `run_second_agent_${ids[1]!.slice(0, 8)}`];
    for (const host of [await stdio(['--agents', ids.join(', ')]), await http(`?agents=${ids}`)]) {
      const offered = (await host.client.listTools()).tools;
      const listed = offered.filter(({ name }) => name.startsWith('run_'));
      expect(offered.map(({ name }) => name)).to.not.include('search_agents');
      const titles = names.map((name) => `Run the agent that its creator calls "${name}"`);
      expect(listed.map(({ name, title }) => [name, title])).to.deep.equal(tools.map((name, at) => [name, titles[at]]));
      for (const [at, tool] of tools.entries()) {
        const { inputSchema } = listed[at]!;
        expect(inputSchema.properties).to.deep.include({ parameters: { type: 'object', properties: {} } });
        expect(inputSchema.required).to.deep.equal(['task', 'max_cost_usdc']);
        const { agent_id: _, ...args } = job({ parameters: {} });
        expect(await host.call(tool, args)).to.include({ agent_id: ids[at], result: names[at] });
      }
    }
    const { status, body } = await mcp(`?agents=${market.callers[0]!.wallet.publicKey}`);
    expect([status, body.error.details.issues[0].path]).to.deep.equal([400, 'agents']);
  });

  it('opens a dispute only if a wallet is configured and a person approves', async () => {
    const { wallet } = market.callers[0]!;
    const keypair = join(market.dataDir, 'buyer.json');
    writeFileSync(keypair, JSON.stringify([...wallet.secretKey]), { mode: 0o600 });
    const { execution_id } = await (await http()).call('run_agent', job());
    const claim = { execution_id, evidence: 'I asked to count to three, and it did not.' };
    const dispute = createDispute({ baseUrl: market.relay.url, rpcUrl: market.node.rpcUrl, keypair });
    const without = await over({ dispute });
    expect(await without.refused('open_dispute', claim)).to.include('cannot ask');
    expect((await market.record(execution_id))!.status).to.equal('completed');
    const host = await stdio(['--keypair', keypair, '--rpc-url', market.node.rpcUrl], { answers: 'approve' });
    const { tools } = await host.client.listTools();
    expect(Buffer.byteLength(JSON.stringify(tools))).to.be.at.most(MOST_BYTES);
    expect(tools.map(({ name }) => name)).to.include.members(['run_agent', 'open_dispute']);
    const opened = await host.call('open_dispute', claim);
    expect(opened.bond_lamports).to.be.above(0);
    expect(await market.outcomeOf(execution_id)).to.equal('open');
    expect(await host.refused('open_dispute', claim)).to.match(/disputed[\s\S]*Next: Call get_execution/);
  });

  describe('with a wallet instead of a key', () => {
    const wallet = Keypair.generate();
    const session = () => createSession({ budget: 2_000_000n, approveAbove: 1_000_000n });
    async function walletHost(by = wallet, rpcUrl = market.node.rpcUrl): Promise<Host> {
      const keypair = join(market.dataDir, `${by.publicKey}.json`);
      writeFileSync(keypair, JSON.stringify([...by.secretKey]), { mode: 0o600 });
      const asset = market.usdcMint.toBase58();
      const payment = await createPayment({ keypair, network: 'devnet', asset, rpcUrl });
      const dispute = createDispute({ baseUrl: market.relay.url, rpcUrl, keypair });
      return here(createMarket({ baseUrl: market.relay.url, apiKey: null, rpcUrl: null, dispute }), session(), payment);
    }

    it('describes its tools in equally few bytes, with hints and output schemas', async () => {
      const { tools } = await (await walletHost()).client.listTools();
      expect(tools.map(({ name }) => name)).to.deep.equal([
        'search_agents',
        'describe_agent',
        'run_agent',
        'get_budget',
        'open_dispute',
      ]);
      expect(Buffer.byteLength(JSON.stringify(tools))).to.be.at.most(MOST_BYTES);
      const budget = tools.at(-2)!;
      expect([budget.annotations!.readOnlyHint, budget.outputSchema?.type]).to.deep.equal([true, 'object']);
    });

    it('reports the most that one call can cost: the remaining budget or the USDC of the wallet', async () => {
      const own = { session_budget_usdc: 2, session_remaining_usdc: 2, session_spent_usdc: 0, approval_above_usdc: 1 };
      const budget = async (host: Promise<Host>) => (await host).call('get_budget');
      const address = wallet.publicKey.toBase58();
      // The wallet has no token account yet.
      const empty = { ...own, payable_usdc: 0, wallet: address, balance_usdc: 0 };
      expect(await budget(walletHost())).to.deep.equal(empty);
      await market.mintTo(wallet.publicKey, 1_500_000n);
      expect(await budget(walletHost())).to.deep.equal({ ...empty, payable_usdc: 1.5, balance_usdc: 1.5 });
      await market.mintTo(wallet.publicKey, 1_250_000n);
      expect(await budget(walletHost())).to.deep.equal({ ...empty, payable_usdc: 2, balance_usdc: 2.75 });
    });

    it('shows an unknown balance as unknown if the Solana node does not answer', async () => {
      const host = await walletHost(wallet, 'http://127.0.0.1:9');
      expect(await host.call('get_budget')).to.include({ payable_usdc: 2, balance_usdc: null });
    });
  });

  /** One JSON-RPC request to /mcp. */
  const mcp = (query = '', headers: Record<string, string> = {}, apiKey?: string, body: unknown = LIST) =>
    request(market.relay.url, `/mcp${query}`, {
      apiKey: apiKey ?? market.callers[0]!.apiKey,
      body,
      headers: { accept: 'application/json, text/event-stream', ...headers },
    });
  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  it('accepts POST requests with a key, and rejects foreign origins, batches, messages that are too large and other methods', async () => {
    const bare = await request(market.relay.url, '/mcp', { body: LIST });
    expect([bare.status, bare.body.error.code]).to.deep.equal([401, 'unauthorized']);
    expect(bare.headers.get('www-authenticate')).to.match(/^Bearer\b/);
    const read = await request(market.relay.url, '/mcp', { apiKey: market.callers[0]!.apiKey });
    expect([read.status, read.headers.get('allow')]).to.deep.equal([405, 'POST']);
    expect((await mcp('', { origin: 'https://elsewhere.example' })).status).to.equal(403);
    const batch = await mcp('', {}, undefined, [LIST, LIST]);
    expect([batch.status, batch.body.error.code]).to.deep.equal([400, 'invalid_request']);
    // All of a message is read in the main thread.
    const [wide, long] = [{ x: Array(5_001).fill(0) }, { x: 'x'.repeat(128 * 1024) }];
    const values = await mcp('', {}, undefined, { ...LIST, params: wide });
    expect([values.status, values.body.error.code]).to.deep.equal([400, 'invalid_request']);
    const bytes = await mcp('', {}, undefined, { ...LIST, params: long });
    expect([bytes.status, bytes.body.error.details]).to.deep.equal([413, { max_bytes: 131_072 }]);
    // `payer` is only for calls without a key.
    const payer = `?payer=${market.callers[0]!.wallet.publicKey}`;
    for (const query of ['?approve_above_usdc=much', '?agents=x', '?budget=1', payer])
      expect((await mcp(query)).body.error.code, query).to.equal('invalid_request');
    const message = 'The query parameter "agents" must be agent ids, separated by commas; got "x"';
    expect((await mcp('?agents=x')).body.error.message).to.equal(message);
  });

  it('answers hosts that accept one form, or anything', async () => {
    const FORMS: [accept: string, type: string][] = [
      ['application/json', 'application/json'],
      ['Application/JSON; charset=utf-8', 'application/json'],
      ['*/*', 'application/json'],
      ['application/*', 'application/json'],
      ['text/html, */*;q=0.1', 'application/json'],
      ['text/event-stream', 'text/event-stream'],
      ['text/event-stream;q=0.5', 'text/event-stream'],
      ['text/*', 'text/event-stream'],
      ['text/event-stream, application/json', 'text/event-stream'],
    ];
    const ask = async (headers: Record<string, string>, body: object = LIST, path = '/mcp') => {
      const authorization = `Bearer ${market.callers[0]!.apiKey}`;
      const sent = { 'content-type': 'application/json', authorization, ...headers };
      const answer = await fetch(market.relay.url + path, {
        method: 'POST',
        headers: sent,
        body: JSON.stringify(body),
      });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    };
    for (const [accept, type] of FORMS) {
      const { status, headers, text } = await ask({ accept });
      expect([status, headers.get('content-type')], accept).to.deep.equal([200, type]);
      const message = JSON.parse(type === 'application/json' ? text : /^data: (.*)$/m.exec(text)![1]!);
      expect([message.id, message.result.tools[0].name], accept).to.deep.equal([1, 'search_agents']);
    }
    expect((await ask({ accept: 'text/html' })).status).to.equal(406);
    for (const type of ['application/json;charset=UTF8', 'Application/Json; charset="utf-8"; version=1']) {
      expect((await ask({ 'content-type': type }, LIST, '/mcp/')).status, type).to.equal(200);
    }
    const modern = await ask(
      { accept: 'text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
      {
        ...LIST,
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'h', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
    );
    expect([modern.status, modern.headers.get('content-type')]).to.deep.equal([200, 'text/event-stream']);
    expect(JSON.parse(/^data: (.*)$/m.exec(modern.text)![1]!).result.tools[0].name).to.equal('search_agents');
  });

  it('takes null for what is absent, and numbers, lists and objects as text', async () => {
    const host = await http('', { era: 'legacy' });
    const nulls = { parameters: null, timeout_seconds: null, idempotency_key: null };
    expect(await host.call('run_agent', job(nulls))).to.include({ status: 'completed', cost_usdc: PRICE_USDC });
    const texts = { max_cost_usdc: String(PRICE_USDC), parameters: '{"a": 1}', timeout_seconds: '30' };
    expect(await host.call('run_agent', job(texts))).to.include({ status: 'completed', cost_usdc: PRICE_USDC });
    const search = { query: null, tags: '[]', sort: null, limit: '5', offset: null };
    const { total } = await host.call('search_agents', {});
    expect(total).to.be.above(0);
    expect((await host.call('search_agents', search)).total).to.equal(total);
    expect((await host.call('search_agents', { tags: 'none, such' })).total).to.equal(0);
    for (const given of [null, '', '{}', '"{}"', []]) {
      const waited = await host.client.callTool({ name: 'get_budget', arguments: given as never });
      expect(waited.isError ?? false, JSON.stringify(given)).to.equal(false);
    }
    const NOTHING = { query: '', tags: '', sort: '', limit: '', offset: 'null' };
    expect((await host.call('search_agents', NOTHING)).total).to.equal(total);
    for (const tags of ["['none', 'such']", '["none"]', '"[\\"none\\"]"']) {
      expect((await host.call('search_agents', { tags })).total, tags).to.equal(0);
    }
    const idle = { parameters: '', timeout_seconds: '', idempotency_key: '' };
    const { agent_id, ...work } = job({ parameters: [], agent_id: ` ${market.agentId}\n` });
    for (const given of [job(idle), { ...work, agent_id }, job({ parameters: '"{\\"a\\": 1}"' })]) {
      expect(await host.call('run_agent', given)).to.include({ status: 'completed', cost_usdc: PRICE_USDC });
    }
    await free(async () => {
      await host.refused('run_agent', job({ max_cost_usdc: null }));
      await host.refused('run_agent', job({ max_cost_usdc: 'cheap' }));
      await host.refused('run_agent', job({ parameters: 'none' }));
    });
    const whole = async (body: object) => mcp('', { accept: '*/*' }, undefined, body);
    const HOSTS: Record<string, unknown>[] = [
      {},
      { clientInfo: { name: 'h' } },
      { capabilities: { sampling: null, roots: { listChanged: null } }, clientInfo: { name: 'h', title: null } },
      { protocolVersion: '2099-01-01', capabilities: null, clientInfo: null, _meta: null },
    ];
    for (const params of HOSTS) {
      const { status, body } = await whole({ ...LIST, method: 'initialize', params });
      expect([status, body.result?.serverInfo.name], JSON.stringify(params)).to.deep.equal([200, 'agent-marketplace']);
    }
    const notice = { jsonrpc: '2.0', method: 'notifications/initialized' };
    for (const more of [{ id: null }, { params: null }, { params: [] }, { session: 'x' }]) {
      expect((await whole({ ...notice, ...more })).status, JSON.stringify(more)).to.equal(202);
    }
    for (const more of [{ params: [] }, { params: { cursor: null } }, { session: 'x' }]) {
      expect((await whole({ ...LIST, ...more })).body.result.tools, JSON.stringify(more)).to.have.length.above(0);
    }
    const raw = async (body: object) => (await mcp('', { accept: '*/*' }, undefined, { ...LIST, ...body })).body.result;
    expect((await raw({ params: null })).tools).to.have.length.above(0);
    expect((await raw({ params: { cursor: null, _meta: null } })).tools).to.have.length.above(0);
    const searching = (query: string) => ({ name: 'search_agents', arguments: JSON.stringify({ query }) });
    const found = async (query: string) =>
      (await raw({ method: 'tools/call', params: searching(query) })).structuredContent.total;
    expect([(await found('test')) > 0, await found('none-such')]).to.deep.equal([true, 0]);
  });

  it('does not pay a call that would lose a parameter', async () => {
    const host = await over({});
    const parameters = JSON.parse('{"list": [{"__proto__": 1}]}');
    await free(async () => {
      expect(await host.refused('run_agent', job({ parameters }))).to.include('__proto__');
      for (const text of ['{"text": "a", "__proto__": 1}', '{"text": "a", "text": "b"}', '{"text": 9007199254740993}'])
        expect(await host.refused('run_agent', job({ parameters: text }))).to.include(
          'expected record, received string',
        );
    });
  });

  it('refuses arguments that a tool does not have or cannot take, pays nothing, and says what to do next', async () => {
    const execution_id = '00000000-0000-4000-8000-000000000000';
    const wrong: [string, Record<string, unknown>, RegExp][] = [
      ['run_agent', job({ params: { text: 'a' } }), /Unrecognized key: "params"/],
      ['run_agent', job({ max_cost_usdc: 'cheap' }), /max_cost_usdc: Invalid input: expected number/],
      ['run_agent', { ...job(), task: undefined }, /task: Invalid input/],
      ['run_agent', job({ agent_id: 'echo' }), /agent_id: must be an agent_id from search_agents/],
      ['search_agents', { q: 'test' }, /Unrecognized key: "q"/],
      ['describe_agent', { agent_id: market.agentId, full: true }, /Unrecognized key: "full"/],
      ['quote', { agent_id: market.agentId, task: 'a' }, /Unrecognized key: "task"/],
      ['get_execution', { execution_id, wait: true }, /Unrecognized key: "wait"/],
      ['wait_for_execution', { execution_id, seconds: 99 }, /seconds: Too big/],
      ['list_executions', { state: 'failed' }, /Unrecognized key: "state"/],
      ['verify_execution', { execution_id: 'last' }, /execution_id: must be an execution_id/],
    ];
    const [all, one] = [await http(), await http(`?agents=${market.agentId}`)];
    const next = /^[^\n]*\nNext: Correct this, then call again\. The arguments are [\w, ]+\.$/;
    await free(async () => {
      for (const [tool, args, fault] of wrong)
        expect(await all.refused(tool, args), tool)
          .to.match(fault)
          .and.match(next);
      const { agent_id: _, ...input } = job({ text: 'a' });
      expect(await one.refused('run_test_agent', input))
        .to.match(/Unrecognized key: "text"/)
        .and.match(next);
    });
    for (const { name, inputSchema } of (await all.client.listTools()).tools)
      if (name !== 'get_budget') expect(inputSchema.additionalProperties, name).to.equal(false);
  });

  it('lists agents that work first, unless the model asks for another order', async () => {
    const asked: string[] = [];
    const watched: typeof fetch = (input, init) => {
      asked.push(String(input));
      return fetch(input, init);
    };
    const host = await over({ fetch: watched });
    await host.call('search_agents');
    await host.call('search_agents', { sort: 'price_asc' });
    expect(asked.map((url) => new URL(url).searchParams.get('sort'))).to.deep.equal(['best', 'price_asc']);
  });

  it('says who pays the gas of the next call, and quotes a call as not payable if nobody does', async () => {
    const gas = {
      gas_balance_address: market.agentId,
      lamports: 0,
      next_call_lamports: 1,
      max_gas_lamports: 20_000,
      pays_next_call: false,
      is_sponsored: false,
    };
    const poor: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      return String(input).endsWith('/v1/key')
        ? Response.json({ ...((await response.json()) as object), gas })
        : response;
    };
    const host = await over({ fetch: poor });
    const budget = await host.call('get_budget');
    expect(budget).to.include({ gas_of_next_call: 'too_low', gas_balance_address: market.agentId });
    expect(await host.call('quote', { agent_id: market.agentId })).to.deep.include({
      can_pay: false,
      reasons: [`The gas balance is too low. The user has to send SOL to ${market.agentId}.`],
    });
    Object.assign(gas, { next_call_lamports: 20_001 });
    expect(await host.call('get_budget')).to.include({ gas_of_next_call: 'above_key_limit' });
    expect((await host.call('quote', { agent_id: market.agentId })).reasons).to.deep.equal([
      'The network fees are above the gas limit of the API key. The user has to raise it.',
    ]);
    Object.assign(gas, { pays_next_call: true });
    expect(await host.call('get_budget')).to.include({ gas_of_next_call: 'paid_by_gas_balance' });
    expect(await host.call('quote', { agent_id: market.agentId })).to.deep.include({ can_pay: true, reasons: [] });
  });

  it('shows neither a key nor the URL of a node with its key', async () => {
    const host = await over({ rpcUrl: `${market.node.rpcUrl}/?api-key=secret-of-a-node` });
    const { execution_id } = await host.call('run_agent', job());
    expect(await host.call('verify_execution', { execution_id })).to.include({ valid: true, node: market.node.rpcUrl });
    const { apiKey } = buyer();
    for (const key of [`${apiKey}\n`, `\uFEFF${apiKey}\u200B `]) {
      const trimmed = createMarket({ ...buyer(), apiKey: key, rpcUrl: null });
      expect((await trimmed.request('getKey')).scopes).to.include('execute');
    }
    const broken = () =>
      createMarket({ ...buyer(), apiKey: `${apiKey.slice(0, 20)}\n${apiKey.slice(20)}`, rpcUrl: null });
    expect(broken).to.throw(TypeError, `The API key has a wrong character at position 21 of ${apiKey.length + 1}.`);
    const quoting = failure(`Bearer ${apiKey} at https://me:word@host/?key=1 [${Array(64).fill(7)}]`, 'x').content[0]!
      .text;
    expect(quoting).to.equal(`Bearer ${apiKey.slice(0, 18)}_… at https://host/?… […]\nNext: x`);
  });

  describe('with a host that has tasks', () => {
    const VERSION = '2026-07-28';
    const [TASKS, META] = ['io.modelcontextprotocol/tasks', 'io.modelcontextprotocol'];
    /** A JSON-RPC request of a host with this extension. `name`: the tool or task; hosts in Python name no task. */
    async function rpc(method: string, name: string | null, params: object, apiKey?: string) {
      const headers = {
        'mcp-protocol-version': VERSION,
        'mcp-method': method,
        ...(name !== null && { 'mcp-name': name }),
      };
      const _meta = {
        [`${META}/protocolVersion`]: VERSION,
        [`${META}/clientInfo`]: { name: 'test-host', version: '1' },
        [`${META}/clientCapabilities`]: { extensions: { [TASKS]: {} } },
      };
      const { body } = await mcp('', headers, apiKey, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } });
      return body;
    }
    const run = (more: object = {}) => rpc('tools/call', 'run_agent', { name: 'run_agent', arguments: job(more) });
    const task = async (method: string, taskId: string, apiKey?: string) =>
      rpc(
        `tasks/${method}`,
        method === 'get' ? null : taskId,
        { taskId, ...(method === 'update' && { inputResponses: {} }) },
        apiKey,
      );

    for (const isPaid of [true, false]) {
      it(`answers a long call with a task, whose result is ${isPaid ? 'that of the tool' : 'the refund'}`, async () => {
        let finish = () => {};
        const mayFinish = new Promise<void>((resolve) => (finish = resolve));
        market.setBehaviour(async ({ execution_id, task }, _, reply) => {
          await mayFinish;
          reply(isPaid ? goodAnswer(market.signingKey, execution_id, `done: ${task}`) : failedAnswer(execution_id));
        });
        const before = await paid();
        const { result: made } = await run();
        const { taskId } = made;
        expect(made).to.include({ resultType: 'task', status: 'working', ttlMs: null });
        expect(made.structuredContent).to.include({ execution_id: taskId, status: 'running' });
        const { result: working } = await task('get', taskId);
        expect(working).to.include({ resultType: 'complete', taskId, status: 'working' });
        expect(working).not.to.have.property('result');
        // A paid call cannot be stopped: it goes on.
        for (const method of ['cancel', 'update']) expect(await task(method, taskId)).to.have.property('result');
        const stranger = market.callers[1]!.apiKey;
        for (const method of ['get', 'cancel', 'update'])
          expect((await task(method, taskId, stranger)).error.message, method).to.include('execution_not_found');
        finish();
        let { result: ended } = await task('get', taskId);
        while (ended.status === 'working') ({ result: ended } = await task('get', taskId));
        expect(ended.status).to.equal('completed');
        const [{ text }] = ended.result.content;
        if (isPaid) {
          expect(ended.result.structuredContent).to.include({ execution_id: taskId, result: 'done: count to three' });
          expect(JSON.parse(text)).to.deep.equal(ended.result.structuredContent);
        } else {
          expect(ended.result.isError).to.equal(true);
          expect(text).to.match(/refunded/);
        }
        while ((await paid()) !== before - (isPaid ? PRICE : 0n)) await new Promise((done) => setTimeout(done, 100));
      });
    }

    it('answers a short call at once', async () => {
      let { result } = await run();
      // On a busy machine, a short call can take as long as one that becomes a task.
      while (result.resultType === 'task') ({ result } = await run());
      expect(result).to.include({ resultType: 'complete' });
      expect(result.structuredContent).to.include({ status: 'completed' });
    });
  });

  it("keeps a key's restrictions: its agents, its scopes and its addresses", async () => {
    const wallet = keypairSigner(market.callers[0]!.wallet);
    const made = await createKey(market.marketplace, { wallet, name: 'model', limits: market.limits });
    const restrict = (restrictions: Parameters<typeof restrictKey>[1]['restrictions']) =>
      restrictKey(market.marketplace, { wallet, keyId: made.key_id, restrictions });
    const host = await http('', {}, made.api_key);
    await free(async () => {
      await restrict({ allowed_agents: [wallet.publicKey.toBase58()] });
      expect(await host.refused('run_agent', job())).to.match(/agent_not_allowed[\s\S]*get_budget/);
      expect((await host.call('quote', { agent_id: market.agentId })).can_pay).to.equal(false);
      expect((await host.call('get_budget')).allowed_agents).to.deep.equal([wallet.publicKey.toBase58()]);
      await restrict({ allowed_agents: null, scopes: ['read'] });
      expect(await host.refused('run_agent', job())).to.match(/insufficient_scope[\s\S]*Next: Stop/);
      await restrict({ scopes: ['execute', 'read'], allowed_ips: ['203.0.113.0/24'] });
      expect((await mcp('', {}, made.api_key)).body.error.code).to.equal('address_not_allowed');
      // The tools call from the caller's address, so a key that is restricted to it works.
      await restrict({ allowed_ips: ['127.0.0.1'] });
    });
    expect(await host.call('run_agent', job())).to.include({ status: 'completed' });
  });
});
