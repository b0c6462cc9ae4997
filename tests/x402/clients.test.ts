/**
 * Independent x402 clients buy calls: the Python package over HTTP and MCP, and the official MCP client with a payment in
 * `_meta`. Each buys, gets a refund, and repeats after a lost answer. The tests of relay/x402 do so with `@x402/fetch`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as send } from 'node:http';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Keypair } from '@solana/web3.js';
import { x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { expect } from 'chai';
import { x402Snippet } from '../../app/dashboard/views/agent/snippets.ts';
import { findTokenAccount } from '../../app/sdk/program/program.ts';
import { toUsdc } from '../../app/sdk/wire/usdc.ts';
import { useServers } from '../harness/edge/listen.ts';
import { installPython, run, type Tools } from '../harness/edge/tools.ts';
import { failedAnswer, PRICE, startMarketplace, type TestMarketplace } from '../harness/node/marketplace.ts';
import { stdioHost } from '../mcp/hosts.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SERVICE_FEE = 5_000n;
const TOTAL = PRICE + SERVICE_FEE;

describe('independent clients of x402', function () {
  this.timeout(300_000);
  let market: TestMarketplace;
  let python: Tools;
  const serve = useServers();
  let lossyUrl: string;
  /** Number of answers to payments that the connection still drops, or that come as 202 instead. */
  let losses = 0;
  let delays = 0;
  /** The payments that passed through the connection. */
  const payments = new Set<unknown>();
  const buyer = Keypair.generate();
  const host = Keypair.generate();

  before(async () => {
    [market, python] = await Promise.all([
      // A quote lasts for about a hundred slots.
      startMarketplace({ feePayer: Keypair.generate(), slotTimeMs: 200 }),
      installPython('x402-python', join(import.meta.dirname, 'requirements.txt')),
    ]);
    if (python.obstacle !== null) throw new Error(python.obstacle);
    for (const wallet of [buyer, host]) await market.mintTo(wallet.publicKey, 10_000_000n);
    writeFileSync(keyFile(), JSON.stringify([...buyer.secretKey]), { mode: 0o600 });
    lossyUrl = await serve((incoming, outgoing) => {
      const { method, headers, url } = incoming;
      if (headers['payment-signature'] !== undefined) payments.add(headers['payment-signature']);
      const forwarded = send(new URL(url!, market.relay.url), { method, headers }, (answer) => {
        if (headers['payment-signature'] !== undefined && losses > 0) {
          losses -= 1;
          answer.resume().once('end', () => outgoing.destroy());
          return;
        }
        if (headers['payment-signature'] !== undefined && delays > 0) {
          delays -= 1;
          answer.resume().once('end', () => {
            outgoing.writeHead(202, { 'content-type': 'application/json', 'retry-after': '0' });
            outgoing.end(JSON.stringify({ status: 'running' }));
          });
          return;
        }
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(forwarded);
    });
  });
  after(async () => {
    await market?.stop();
  });
  afterEach(() => market.setBehaviour(null));

  const keyFile = () => join(market.dataDir, 'python.json');
  const usdcOf = ({ publicKey }: Keypair) => market.amountOf(findTokenAccount(publicKey, market.usdcMint));
  const fails = () => market.setBehaviour(({ execution_id }, _, reply) => reply(failedAnswer(execution_id)));
  const python3 = async (calls: object[]) => {
    const program = join(python.folder, 'bin', 'python');
    const args = [join(import.meta.dirname, 'buyer.py'), keyFile(), market.node.rpcUrl];
    const { code, output, stdout } = await run(program, args, { input: JSON.stringify(calls) });
    if (code !== 0) throw new Error(output);
    return JSON.parse(stdout);
  };

  it('the Python package repeats after a lost answer with the same Idempotency-Key, pays once, and gets the receipt', async () => {
    const url = `${lossyUrl}/v1/x402/agents/${market.agentId}/execute`;
    const buy = () => python3([{ url, body: { task: 'lost' }, headers: { 'idempotency-key': 'lost' } }]);
    const before = await usdcOf(buyer);
    losses = 1;
    const lost = await buy().then(
      () => 'answered',
      () => 'lost',
    );
    expect([lost, losses]).to.deep.equal(['lost', 0]);
    const [{ status, body, receipt }] = await buy();
    expect([status, body.result], JSON.stringify(body)).to.deep.equal([200, 'done: lost']);
    expect(receipt).to.include({ success: true, payer: buyer.publicKey.toBase58(), amount: String(TOTAL) });
    expect(market.calls.get(body.execution_id)).to.equal(1);
    expect(before - (await usdcOf(buyer))).to.equal(TOTAL);
  });

  for (const [name, program] of [
    ['examples/x402Caller.ts', () => [process.execPath, '--import', 'tsx']],
    ['examples/x402_caller.py', () => [join(python.folder, 'bin', 'python')]],
  ] as const) {
    describe(name, () => {
      const example = (...args: string[]) => {
        const [command, ...before] = program();
        const env = {
          ...process.env,
          MARKETPLACE_URL: lossyUrl,
          SOLANA_RPC_URL: market.node.rpcUrl,
          USDC_MINT: market.usdcMint.toBase58(),
          SOLANA_KEYPAIR: keyFile(),
        };
        return run(command!, [...before, join(ROOT, name), market.agentId, ...args], { env });
      };

      it('buys a call, and after a 202 gets its result without a second payment', async () => {
        const before = await usdcOf(buyer);
        const called = market.calls.size;
        delays = 2;
        const { code, stdout, output } = await example('continues', '{"n":1}');
        expect([code, stdout, delays], output).to.deep.equal([0, 'done: continues\n', 0]);
        expect(before - (await usdcOf(buyer))).to.equal(TOTAL);
        expect(market.calls.size).to.equal(called + 1);
      });

      it('prints why a call failed, and costs the service fee alone', async () => {
        fails();
        const before = await usdcOf(buyer);
        const { code, output } = await example('fails');
        expect(code).to.equal(1);
        expect(output).to.include('execution_failed: ');
        expect(before - (await usdcOf(buyer))).to.equal(SERVICE_FEE);
      });
    });
  }

  it("the program of the page's Code tab buys a call, and after a 202 sends the same payment again", async () => {
    // Within the project, so that imports find the packages.
    mkdirSync(join(ROOT, 'target'), { recursive: true });
    const folder = mkdtempSync(join(ROOT, 'target', 'x402-page-'));
    try {
      const file = join(folder, 'call.mts');
      const { text } = x402Snippet({
        ...{ baseUrl: lossyUrl, agentId: market.agentId, task: 'by the page', parameters: {} },
        ...{ rpcUrl: market.node.rpcUrl, usdcMint: market.usdcMint.toBase58(), total: TOTAL },
      });
      writeFileSync(file, text);
      const before = await usdcOf(buyer);
      const env = { ...process.env, SOLANA_KEYPAIR: keyFile() };
      delays = 2;
      payments.clear();
      const { code, output, stdout } = await run(process.execPath, ['--import', 'tsx', file], { env });
      expect([code, stdout, delays], output).to.deep.equal([0, 'done: by the page\n', 0]);
      expect(output).to.match(/\nCall [0-9a-f-]{36} cost [\d.]+ USDC and the service fee\n/);
      expect(payments.size).to.equal(1);
      expect(before - (await usdcOf(buyer))).to.equal(TOTAL);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  describe('over MCP', () => {
    const job = (task: string) => ({ agent_id: market.agentId, task, max_cost_usdc: 1 });

    /** The official client. A test can intercept each answer before the client gets it. */
    async function connect(query = '', receive = async (answer: Response, _sent: string) => answer): Promise<Client> {
      const client = new Client({ name: 'test', version: '1' });
      const through = async (url: string | URL, init?: RequestInit) =>
        receive(await fetch(url, init), String(init?.body));
      const url = new URL(`/mcp${query}`, market.relay.url);
      await client.connect(new StreamableHTTPClientTransport(url, { fetch: through }));
      return client;
    }
    /** The payment that a tool's answer asks for, as an argument of the next call. */
    // biome-ignore lint/suspicious/noExplicitAny: x402's own type is the one of another version
    async function payFor(required: any) {
      const signer = await createKeyPairSignerFromBytes(host.secretKey);
      const payer = new x402Client()
        .register('solana:*', new ExactSvmScheme(signer, { rpcUrl: market.node.rpcUrl }))
        .setSpendControls(false);
      return { _meta: { 'x402/payment': await payer.createPaymentPayload(required) } };
    }

    it('the official client finds an agent without a key, is quoted, pays, and pays once if it repeats', async () => {
      const client = await connect();
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).to.deep.equal(['search_agents', 'describe_agent', 'run_agent']);
      const found = await client.callTool({ name: 'search_agents', arguments: {} });
      expect(JSON.stringify(found.structuredContent)).to.include(market.agentId);

      const run = { name: 'run_agent', arguments: job('by mcp') };
      const before = await usdcOf(host);
      const asked = await client.callTool(run);
      expect(asked.isError).to.equal(true);
      // biome-ignore lint/suspicious/noExplicitAny: x402's own type is the one of another version
      const required = asked.structuredContent as any;
      expect([required.x402Version, required.accepts[0].amount]).to.deep.equal([2, String(TOTAL)]);
      expect(await usdcOf(host)).to.equal(before);
      const payment = await payFor(required);
      for (const time of ['first', 'again']) {
        const ran = await client.callTool({ ...run, ...payment });
        expect(ran.structuredContent, time).to.include({ status: 'completed', result: 'done: by mcp' });
        expect(ran._meta?.['x402/payment-response'], time).to.include({ success: true, amount: String(TOTAL) });
      }
      expect(before - (await usdcOf(host))).to.equal(TOTAL);
      await client.close();
    });

    it('the official client gets a refund if the agent fails, and a lost answer by the same payment', async () => {
      let isLost = false;
      const client = await connect('', async (answer, sent) => {
        if (!isLost || !sent.includes('x402/payment')) return answer;
        isLost = false;
        await answer.text();
        throw new TypeError('the connection broke');
      });
      const before = await usdcOf(host);
      /** The call with the payment that it asks for. */
      const paid = async (task: string) => {
        const run = { name: 'run_agent', arguments: job(task) };
        return { ...run, ...(await payFor((await client.callTool(run)).structuredContent)) };
      };
      fails();
      const failed = await client.callTool(await paid('fails by mcp'));
      expect(failed.isError).to.equal(true);
      expect(failed._meta?.['x402/payment-response']).to.include({ success: false, amount: String(TOTAL) });
      expect(before - (await usdcOf(host))).to.equal(SERVICE_FEE);

      market.setBehaviour(null);
      const call = await paid('lost by mcp');
      isLost = true;
      const lost = client.callTool(call).then(
        () => 'answered',
        () => 'lost',
      );
      expect([await lost, isLost]).to.deep.equal(['lost', false]);
      expect((await client.callTool(call)).structuredContent).to.include({ result: 'done: lost by mcp' });
      expect(before - (await usdcOf(host))).to.equal(TOTAL + SERVICE_FEE);
      await client.close();
    });

    it('the official client has a tool for each agent in the address, and quotes that name the wallet in it', async () => {
      const client = await connect(`?agents=${market.agentId}&payer=${host.publicKey}`);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).to.deep.equal(['run_test_agent']);
      const { agent_id: _, ...args } = job('named');
      const run = { name: 'run_test_agent', arguments: args };
      // biome-ignore lint/suspicious/noExplicitAny: x402's own type is the one of another version
      const required = (await client.callTool(run)).structuredContent as any;
      expect(required.accepts[0].extra.payer).to.equal(host.publicKey.toBase58());
      const payment = await payFor(required);
      // Without the payer in the address, the payment belongs to another quote.
      const elsewhere = await connect(`?agents=${market.agentId}`);
      expect((await elsewhere.callTool({ ...run, ...payment })).isError).to.equal(true);
      const ran = await client.callTool({ ...run, ...payment });
      expect(ran.structuredContent).to.include({ status: 'completed', result: 'done: named' });
      await client.close();
      await elsewhere.close();
    });

    it('our server over stdio pays with a wallet, within its budget, and a refund costs the service fee alone', async () => {
      const file = join(market.dataDir, 'host.json');
      writeFileSync(file, JSON.stringify([...host.secretKey]), { mode: 0o600 });
      const token = ['--network', 'devnet', '--usdc-mint', market.usdcMint.toBase58(), '--rpc-url', market.node.rpcUrl];
      const args = ['--keypair', file, '--budget', '0.52', ...token];
      const server = await stdioHost({ baseUrl: `${market.relay.url}/`, apiKey: null }, args, { answers: 'approve' });
      const before = await usdcOf(host);
      const spent = async () => before - (await usdcOf(host));
      const budget = () => server.call('get_budget');
      try {
        const ran = await server.call('run_agent', { ...job('by wallet'), idempotency_key: 'one' });
        expect(ran).to.include({ status: 'completed', result: 'done: by wallet' });
        expect(await server.call('run_agent', { ...job('by wallet'), idempotency_key: 'one' })).to.deep.equal(ran);
        expect(await spent()).to.equal(TOTAL);
        const other = { ...job('another'), idempotency_key: 'one' };
        expect(await server.refused('run_agent', other)).to.include('idempotency_key_reused');
        expect(await budget()).to.deep.equal({
          payable_usdc: 0.265,
          wallet: host.publicKey.toBase58(),
          balance_usdc: toUsdc(await usdcOf(host)),
          session_budget_usdc: 0.52,
          session_remaining_usdc: 0.265,
          session_spent_usdc: 0.255,
          approval_above_usdc: 1,
        });
        fails();
        expect(await server.refused('run_agent', job('fail'))).to.include('execution_failed');
        expect(await spent()).to.equal(TOTAL + SERVICE_FEE);
        expect(await budget()).to.include({ session_remaining_usdc: 0.26, session_spent_usdc: 0.26 });
        market.setBehaviour(null);
        expect(await server.refused('run_agent', { ...job('too dear'), max_cost_usdc: 0.25 })).to.include('0.255');
        expect(await server.call('run_agent', job('two'))).to.include({ status: 'completed' });
        expect(await server.refused('run_agent', job('three'))).to.include('budget of this session has 0.005');
        expect(await budget()).to.include({ payable_usdc: 0.005, session_spent_usdc: 0.515 });
        expect(await spent()).to.equal(2n * TOTAL + SERVICE_FEE);
        await market.node.fundSol(host.publicKey, 1e9);
        const claim = { execution_id: ran.execution_id, evidence: 'It is not what I asked for.' };
        expect((await server.call('open_dispute', claim)).bond_lamports).to.be.above(0);
        expect(await market.outcomeOf(ran.execution_id)).to.equal('open');
      } finally {
        await server.close();
      }
    });

    it("the Python package's MCP client buys, pays once if it repeats with its key, and gets the price back if the agent fails", async () => {
      const before = await usdcOf(buyer);
      const mcp = `${market.relay.url}/mcp`;
      const call = { mcp, tool: 'run_agent', arguments: { ...job('python'), idempotency_key: 'python' } };
      const [bought, again] = await python3([call, call]);
      expect(bought.error, JSON.stringify(bought)).to.equal(false);
      expect(bought.content[0]).to.include('done: python');
      expect(bought.receipt).to.include({ success: true, amount: String(TOTAL) });
      expect(again).to.deep.equal(bought);
      fails();
      const [failed] = await python3([{ mcp, tool: 'run_agent', arguments: job('python') }]);
      expect([failed.error, failed.receipt.success]).to.deep.equal([true, false]);
      expect(before - (await usdcOf(buyer))).to.equal(TOTAL + SERVICE_FEE);
    });
  });
});
