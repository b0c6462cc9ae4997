/** Restrictions and rotation of keys, and starting what a wallet opened itself, as a person types them; a real service. */
import { expect } from 'chai';
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

  it('keys rotate creates a successor, and the old key ends with its grace period', async () => {
    const old = await done('keys', 'create', '--name', 'old');
    const rotated = await done('keys', 'rotate', old.key_id, '--grace', '0s');
    expect(rotated).to.include({ name: 'old', replaces: old.key_id });
    expect(await read(old.api_key)).to.equal('401 unauthorized');
    expect(await read(rotated.api_key)).to.equal('200');
    expect(await refused('keys', 'rotate', '0'.repeat(32))).to.include('has no key');
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
