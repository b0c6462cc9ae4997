/**
 * Key restrictions and rotation, webhooks, and starting an execution that the wallet opened itself, by commands on a
 * real service. Then the gas balance: wallet and gas balance to the lamport after each command, the limits of a key, and
 * the refusals. Also the rent of a dispute, which a command returns, and executions that a wallet opens.
 */
import type { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { decodeAccount, findDispute, findExecution, findGrant, findSpender } from '../../app/sdk/program/program.ts';
import { keyIdOf } from '../../app/sdk/receipt/apiKey.ts';
import { parseUuid } from '../../app/sdk/receipt/receipt.ts';
import { useServers } from '../harness/edge/listen.ts';
import { until } from '../harness/edge/until.ts';
import { request, useMarketplace } from '../harness/node/marketplace.ts';
import { opensExecutions } from './execution.ts';
import { useTerminal } from './run.ts';
import { signsElsewhere } from './signer.ts';

/** Fee of one signature, in lamports. */
const FEE = 5_000n;
/** An ended dispute is kept 30 days. */
const KEPT_SECONDS = 2_592_000;

describe('cli against the service', function () {
  this.timeout(600_000);
  const market = useMarketplace();
  const terminal = useTerminal(() => market.node.rpcUrl);
  const serve = useServers();

  const done = (...words: string[]) =>
    terminal.done(market.callers[0]!.wallet, ...words, '--base-url', market.relay.url);
  const refused = (...words: string[]) =>
    terminal.refused(market.callers[0]!.wallet, ...words, '--base-url', market.relay.url);
  const grantOf = async (apiKey: string) => {
    const address = findGrant(market.callers[0]!.wallet.publicKey, keyIdOf(apiKey));
    const account = await market.node.connection.getAccountInfo(address);
    return { address, limits: decodeAccount('KeyGrant', account!.data) };
  };
  const read = async (apiKey: string) => {
    const { status, body } = await request(market.relay.url, '/v1/executions', { apiKey });
    return body.error ? `${status} ${body.error.code}` : `${status}`;
  };

  it('keys create sets scopes, expiry and addresses; keys list shows them; keys restrict changes them', async () => {
    const end = new Date(Date.now() + 3_600_000).toISOString();
    const addresses = ['--allow-ip', '127.0.0.1,2001:db8::/32'];
    const restrictions = ['--scope', 'read', '--expires', end, ...addresses, '--agents', market.agentId];
    const made = await done('keys', 'create', '--name', 'reader', ...restrictions);
    expect(await read(made.api_key)).to.equal('200');
    const shown = (await done('keys', 'list')).find((key: { key_id: string }) => key.key_id === made.key_id);
    expect(shown).to.deep.include({
      scopes: ['read'],
      expires_at: end,
      allowed_ips: ['127.0.0.1', '2001:db8::/32'],
      allowed_agents: [market.agentId],
    });

    await done('keys', 'restrict', made.key_id, '--allow-ip', '203.0.113.0/24');
    expect(await read(made.api_key)).to.equal('403 address_not_allowed');
    const free = ['--any-ip', '--any-agent', '--no-expiry', '--scope', 'read,execute'];
    const freed = await done('keys', 'restrict', made.key_id, ...free);
    expect(freed).to.deep.include({ scopes: ['execute', 'read'], allowed_ips: null, allowed_agents: null });
    expect(Date.parse(freed.expires_at)).to.be.above(Date.parse(end));
    expect(await read(made.api_key)).to.equal('200');
    expect(await refused('keys', 'restrict', made.key_id)).to.include('Name what to change');
  });

  it('keys create refuses restrictions that the service would refuse, before the wallet signs', async () => {
    const signatures = () => market.node.connection.getSignaturesForAddress(market.callers[0]!.wallet.publicKey);
    const before = await signatures();
    const refusal = await refused('keys', 'create', '--name', 'nowhere', '--allow-ip', '127.0.0.1,300.1.1.1');
    expect(refusal).to.include(
      'No key was created: the field "allowed_ips.1" must be an IP address or a block such as 203.0.113.0/24.',
    );
    expect(await signatures()).to.deep.equal(before);
  });

  it('keys rotate creates a successor, and the old key ends with its grace period', async () => {
    const old = await done('keys', 'create', '--name', 'old');
    const rotated = await done('keys', 'rotate', old.key_id, '--grace', '0s');
    expect(rotated).to.include({ name: 'old', replaces: old.key_id });
    expect(await read(old.api_key)).to.equal('401 unauthorized');
    expect(await read(rotated.api_key)).to.equal('200');
    expect(await refused('keys', 'rotate', '0'.repeat(32))).to.include('has no key');
  });

  it('keys revoke ends a key in the service and on the chain', async () => {
    const key = await done('keys', 'create', '--name', 'short', '--per-execution', '0.5');
    expect((await grantOf(key.api_key)).limits).to.include({ perExecutionMax: 500_000n, revoked: false });
    expect(await done('keys', 'revoke', key.key_id)).to.include({ revoked: true });
    expect(await read(key.api_key)).to.equal('401 unauthorized');
    expect((await grantOf(key.api_key)).limits.revoked).to.equal(true);
  });

  it('webhooks create, test, deliveries, redeliver, update, rotate and delete do what the page does', async () => {
    const url = `${await serve((_request, response) => response.writeHead(202).end('thanks'))}/hook`;
    const { endpoint_id, secret, ...made } = await done('webhooks', 'create', url, '--events', 'dispute.opened');
    expect(secret).to.match(/^whsec_/);
    expect(made).to.deep.include({ url, event_types: ['dispute.opened'], status: 'active' });
    expect((await done('webhooks', 'list')).map((one: { endpoint_id: string }) => one.endpoint_id)).to.deep.equal([
      endpoint_id,
    ]);
    expect(await done('webhooks', 'test', endpoint_id)).to.deep.equal({ endpoint_id });
    const sent = () => done('webhooks', 'deliveries', endpoint_id);
    await until('the test is delivered', async () => (await sent())[0]?.status === 'delivered');
    const [delivery] = await sent();
    expect(delivery).to.include({ event_type: 'webhook.test', http_status: 202, body: 'thanks', attempts: 1 });
    const again = await done('webhooks', 'redeliver', delivery.delivery_id);
    expect(again).to.include({ event_id: delivery.event_id, status: 'pending' });
    await until('it is delivered again', async () => (await sent())[0]?.status === 'delivered');
    expect(await done('webhooks', 'update', endpoint_id, '--off', '--events', 'all')).to.deep.include({
      status: 'disabled',
      event_types: [],
    });
    expect(await done('webhooks', 'update', endpoint_id, '--on')).to.include({ status: 'active' });
    expect(await refused('webhooks', 'update', endpoint_id)).to.include('Name what to change');
    expect((await done('webhooks', 'rotate', endpoint_id)).secret)
      .to.match(/^whsec_/)
      .and.not.to.equal(secret);
    expect(await done('webhooks', 'delete', endpoint_id)).to.deep.equal({ endpoint_id });
    expect(await refused('webhooks', 'test', endpoint_id)).to.include('webhook_not_found');
  });

  it('execution start runs an execution opened by execution open, with the wallet alone', async () => {
    const asked = ['--task', 'by hand', '--parameters', '{"a":1}'];
    const opened = await done('execution', 'open', market.agentId, ...asked);
    expect(await refused('execution', 'start', opened.execution_id, '--task', 'another')).to.include('invalid_request');
    const answer = await done('execution', 'start', opened.execution_id, ...asked);
    expect(answer).to.include({ execution_id: opened.execution_id, status: 'completed', result: 'done: by hand' });
    expect((await terminal.look('execution', 'show', opened.execution_id)).status).to.equal('completed');
  });

  signsElsewhere(market);

  describe('gas', function () {
    // Each step depends on the one before it.
    this.bail(true);
    let [admin, caller, stranger]: Keypair[] = [];
    let gasBalance: PublicKey;

    const lamportsOf = async (address: PublicKey) => BigInt(await market.node.connection.getBalance(address));
    const held = async () => ({
      caller: await lamportsOf(caller!.publicKey),
      stranger: await lamportsOf(stranger!.publicKey),
      gasBalance: await lamportsOf(gasBalance),
    });
    const create = (...words: string[]) =>
      terminal.done(caller!, 'keys', 'create', '--name', 'gas', '--base-url', market.relay.url, ...words);

    before(() => {
      [admin, caller, stranger] = [market.node.payer, market.callers[0]!.wallet, market.callers[1]!.wallet];
      gasBalance = findSpender(caller.publicKey);
    });

    it('add fills a gas balance from any signer, and show prints it', async () => {
      const names = { wallet: caller!.publicKey.toBase58(), gas_balance_address: gasBalance.toBase58() };
      const before = await held();
      const added = await terminal.done(caller!, 'gas', 'add', '0.01');
      expect(added).to.include({ ...names, added_sol: '0.01', gas_lamports: String(before.gasBalance + 10_000_000n) });
      expect(await held()).to.deep.equal({
        ...before,
        caller: before.caller - 10_000_000n - FEE,
        gasBalance: before.gasBalance + 10_000_000n,
      });

      const given = await terminal.done(stranger!, 'gas', 'add', '0.000000001', '--of', caller!.publicKey.toBase58());
      expect(given).to.include({ ...names, added_sol: '0.000000001' });
      const full = await held();
      expect(full).to.deep.equal({
        caller: before.caller - 10_000_000n - FEE,
        stranger: before.stranger - 1n - FEE,
        gasBalance: before.gasBalance + 10_000_001n,
      });

      const shown = { ...names, gas_lamports: String(full.gasBalance) };
      expect(await terminal.done(caller!, 'gas', 'show')).to.include(shown);
      expect(await terminal.done(stranger!, 'gas', 'show', '--of', caller!.publicKey.toBase58())).to.include(shown);
      expect(await terminal.done(stranger!, 'gas', 'show')).to.include({ gas_lamports: '0', gas_sol: '0' });
      expect(await held()).to.deep.equal(full);
    });

    it('keys create --gas fills the gas balance in the transaction that creates the key; --max-gas limits it', async () => {
      const before = await held();
      const capped = await create('--gas', '0.002', '--max-gas', '15000');
      const { address, limits } = await grantOf(capped.api_key);
      expect(limits).to.include({ maxGasLamports: 15_000 });
      expect(await held()).to.deep.equal({
        ...before,
        caller: before.caller - 2_000_000n - (await lamportsOf(address)) - FEE,
        gasBalance: before.gasBalance + 2_000_000n,
      });
      const plain = await create();
      expect((await grantOf(plain.api_key)).limits).to.include({ maxGasLamports: 20_000 });
    });

    it('take returns a part or all of the gas balance to the wallet', async () => {
      const before = await held();
      const some = await terminal.done(caller!, 'gas', 'take', '0.004');
      expect(some).to.include({ taken_sol: '0.004', gas_lamports: String(before.gasBalance - 4_000_000n) });
      expect(await held()).to.deep.equal({
        ...before,
        caller: before.caller + 4_000_000n - FEE,
        gasBalance: before.gasBalance - 4_000_000n,
      });
      expect(await terminal.done(caller!, 'gas', 'take')).to.include({ gas_lamports: '0', gas_sol: '0' });
      expect(await held()).to.deep.equal({
        ...before,
        caller: before.caller + before.gasBalance - 2n * FEE,
        gasBalance: 0n,
      });
    });

    it('rejects: more than the balance, an empty balance, and a remainder below the minimum; nothing moves', async () => {
      const empty = await held();
      expect(await terminal.refused(caller!, 'gas', 'take')).to.equal(
        `The gas balance of wallet ${caller!.publicKey} (${gasBalance}) is empty.\n`,
      );
      expect(await terminal.refused(caller!, 'gas', 'take', '0.001')).to.include(
        '(InvalidAmount). The gas balance is 0 SOL.',
      );
      expect(await terminal.refused(caller!, 'gas', 'add', '0.000000001')).to.match(
        /^A gas balance must be at least 0\.\d+ SOL; it would be 0\.000000001\.\n$/,
      );
      expect(await held()).to.deep.equal(empty);

      await terminal.done(caller!, 'gas', 'add', '0.01');
      const full = await held();
      expect(await terminal.refused(caller!, 'gas', 'take', '0.010000001')).to.include(
        '(InvalidAmount). The gas balance is 0.01 SOL.',
      );
      expect(await terminal.refused(caller!, 'gas', 'take', '0.009999999')).to.include(
        '(GasBalanceBelowRent). 0.000000001 SOL would be left. Withdraw all of it, or leave at least 0.',
      );
      expect(await held()).to.deep.equal(full);
    });

    it('dispute close returns the rent of an ended dispute after 30 days for any sender, and not before', async () => {
      const { body } = await market.execute(market.relay.url, { task: 'x' });
      expect(body.status, JSON.stringify(body)).to.equal('completed');
      const id: string = body.execution_id;
      const file = terminal.file('evidence.txt', 'wrong');
      await terminal.done(caller!, 'dispute', 'open', id, '--evidence', file);
      const dispute = findDispute(findExecution(parseUuid(id)!));
      const close = () => terminal.refused(stranger!, 'dispute', 'close', id);
      expect(await close()).to.include('(DisputeNotEnded). Its outcome is open, and it owes 0 USDC.');

      await terminal.done(admin!, 'admin', 'resolve-dispute', id, '--reject', '--reason-file', file, '--hash-only');
      const { resolved_at } = await terminal.look('dispute', 'show', id);
      const before = await held();
      expect(await close()).to.match(
        /\(CloseTooEarly\)\. It can be closed at 20\S+Z; the chain's clock shows 20\S+Z\.\n$/,
      );
      expect(await held()).to.deep.equal(before);

      const rent = await lamportsOf(dispute);
      // The relay's sweeper also closes disputes, and would be first.
      await market.relay.kill();
      await market.node.timeTravel(Date.parse(resolved_at) / 1000 + KEPT_SECONDS);
      expect(await terminal.done(stranger!, 'dispute', 'close', id)).to.include({
        execution_id: id,
        rent_sponsor: caller!.publicKey.toBase58(),
      });
      expect(await held()).to.deep.equal({
        ...before,
        caller: before.caller + rent,
        stranger: before.stranger - FEE,
      });
      expect(await lamportsOf(dispute)).to.equal(0n);
      expect(await close()).to.equal(`No dispute of execution ${id} exists on this chain.\n`);
    });
  });

  opensExecutions(market, terminal);
});
