/**
 * Key restrictions and rotation, webhooks, and starting an execution that the wallet opened itself, by commands on a
 * real service.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { until } from '../harness/edge/until.ts';
import { request, startMarketplace, type TestMarketplace } from '../harness/node/marketplace.ts';
import { createTerminal } from './run.ts';

describe('cli against the service', function () {
  this.timeout(600_000);
  let market: TestMarketplace;
  let terminal: ReturnType<typeof createTerminal>;
  before(async () => {
    market = await startMarketplace();
    terminal = createTerminal(market.node.rpcUrl);
  });
  after(async () => {
    terminal.close();
    await market.stop();
  });

  const done = (...words: string[]) =>
    terminal.done(market.callers[0]!.wallet, ...words, '--base-url', market.relay.url);
  const refused = (...words: string[]) =>
    terminal.refused(market.callers[0]!.wallet, ...words, '--base-url', market.relay.url);
  const read = async (apiKey: string) => {
    const { status, body } = await request(market.relay.url, '/v1/executions', { apiKey });
    return body.error ? `${status} ${body.error.code}` : `${status}`;
  };

  it('keys create sets scopes, expiry and addresses; keys list shows them; keys restrict changes them', async () => {
    const end = new Date(Date.now() + 3_600_000).toISOString();
    const restrictions = [
      '--scope',
      'read',
      '--expires',
      end,
      '--allow-ip',
      '127.0.0.1,2001:db8::/32',
      '--agents',
      market.agentId,
    ];
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
    const freed = await done(
      'keys',
      'restrict',
      made.key_id,
      '--any-ip',
      '--any-agent',
      '--no-expiry',
      '--scope',
      'read,execute',
    );
    expect(freed).to.deep.include({ scopes: ['execute', 'read'], allowed_ips: null, allowed_agents: null });
    expect(Date.parse(freed.expires_at)).to.be.above(Date.parse(end));
    expect(await read(made.api_key)).to.equal('200');
    expect(await refused('keys', 'restrict', made.key_id)).to.include('Name what to change');
  });

  it('keys create and keys rotate say what the new key can do, by its scopes', async () => {
    const { wallet } = market.callers[0]!;
    const make = async (...words: string[]) => {
      const { code, stdout, stderr } = await terminal.run(wallet, ['keys', ...words, '--base-url', market.relay.url]);
      expect(code, stderr).to.equal(0);
      return { told: /^Keep the key secret: .*$/m.exec(stderr)![0], keyId: JSON.parse(stdout).key_id as string };
    };
    const usual = await make('create', '--name', 'usual');
    expect(usual.told).to.equal(
      'Keep the key secret: it spends money from your wallet, reads your calls and their results. It is shown only once.',
    );
    const { told, keyId } = await make('create', '--name', 'webhooks', '--scope', 'webhooks');
    expect(told).to.equal(
      'Keep the key secret: it manages where events of your wallet are sent. It is shown only once.',
    );
    expect((await make('rotate', keyId)).told).to.equal(told);
  });

  it('keys rotate creates a successor, and the old key ends with its grace period', async () => {
    const old = await done('keys', 'create', '--name', 'old');
    const rotated = await done('keys', 'rotate', old.key_id, '--grace', '0s');
    expect(rotated).to.include({ name: 'old', replaces: old.key_id });
    expect(await read(old.api_key)).to.equal('401 unauthorized');
    expect(await read(rotated.api_key)).to.equal('200');
    expect(await refused('keys', 'rotate', '0'.repeat(32))).to.include('has no key');
  });

  it('webhooks create, test, deliveries, redeliver, update, rotate and delete do what the page does', async () => {
    const receiver = createServer((_request, response) => response.writeHead(202).end('thanks'));
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
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
    receiver.closeAllConnections();
    receiver.close();
  });

  it('execution start runs an execution opened by execution open, with the wallet alone', async () => {
    const asked = ['--task', 'by hand', '--parameters', '{"a":1}'];
    const opened = await done('execution', 'open', market.agentId, ...asked);
    expect(await refused('execution', 'start', opened.execution_id, '--task', 'another')).to.include('invalid_request');
    const answer = await done('execution', 'start', opened.execution_id, ...asked);
    expect(answer).to.include({ execution_id: opened.execution_id, status: 'completed', result: 'done: by hand' });
    expect((await terminal.look('execution', 'show', opened.execution_id)).status).to.equal('completed');
  });
});
