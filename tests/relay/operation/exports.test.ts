/** A lost ledger: what comes back by `npm run relay -- export` and `-- import`, and what says that it is missing. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { exportTo, importFrom } from '../../../app/relay/ledger/exports.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { changeWebhooks } from '../../../app/sdk/wallet/webhooks.ts';
import { until } from '../../harness/edge/until.ts';
import { useFolder } from '../../harness/folder.ts';
import { request, useMarketplace } from '../../harness/node/marketplace.ts';
import { runRelayCommand } from '../../harness/node/relayMain.ts';
import { useTables } from '../../harness/tables.ts';

describe('a lost ledger', () => {
  const folder = useFolder('exports');
  const file = join(folder, 'export.jsonl');
  const lost = useTables();

  const market = useMarketplace();

  const read = async (url: string) => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const [, missing] = /^marketplace_listings_without_description (\d+)$/m.exec(metrics)!;
    return [missing, (await request(url, '/v1/agents')).body.total];
  };

  it('is exported while the relay runs, into a private file', async () => {
    const as = [{ baseUrl: market.relay.url }, keypairSigner(market.callers[0]!.wallet)] as const;
    await changeWebhooks(...as, (client) =>
      client.request('createWebhook', { body: { url: 'https://example.com/hook' } }),
    );
    const { status, stdout, stderr } = await runRelayCommand(market, ['export', file, '--json']);
    expect([status, stderr]).to.deep.equal([0, '']);
    expect(JSON.parse(stdout)).to.deep.equal({ documents: 1, api_keys: 2, webhook_endpoints: 1 });
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).to.deep.equal([]);
  });

  it('gets the same rows back, once, and keeps those that it has', async () => {
    expect(await importFrom(lost.ledger.db, file)).to.deep.equal({ documents: 1, api_keys: 2, webhook_endpoints: 1 });
    const again = join(folder, 'again.jsonl');
    await exportTo(lost.views.db, again);
    expect(readFileSync(again, 'utf8')).to.equal(readFileSync(file, 'utf8'));
    await lost.ledger.db.updateTable('api_keys').set({ name: 'renamed' }).execute();
    expect(await importFrom(lost.ledger.db, file)).to.deep.equal({ documents: 0, api_keys: 0, webhook_endpoints: 0 });
    const names = await lost.ledger.db.selectFrom('api_keys').select('name').execute();
    expect(names).to.deep.equal([{ name: 'renamed' }, { name: 'renamed' }]);
  });

  it('refuses a file that was cut, and imports nothing of it', async () => {
    const cut = join(folder, 'cut.jsonl');
    const lines = readFileSync(file, 'utf8').split('\n');
    for (const text of [lines.slice(0, 2).join('\n'), [lines[0], ...lines.slice(2)].join('\n'), '{"table":', '{}']) {
      writeFileSync(cut, text);
      const error = await importFrom(lost.ledger.db, cut).catch((cause: Error) => cause);
      expect(String(error)).to.include(`${cut} is not a whole export`).and.include('Nothing was imported');
    }
  });

  it('is shown by a metric and the log, and the import brings agents and keys back without a restart', async () => {
    expect(await read(market.relay.url)).to.deep.equal(['0', 1]);
    await market.relay.kill();
    await market.query('ledger', 'DELETE FROM documents', 'DELETE FROM api_keys');
    let log = '';
    const { url } = await market.startRelayProcess({ LOG_LEVEL: 'warn' }, (text) => {
      log += text;
    });
    expect(await read(url)).to.deep.equal(['1', 0]);
    await until('the log says so', () => /"listings":1,"msg":"active listings have no description/.test(log));
    const call = () => market.execute(url, { task: 'x' });
    expect((await call()).status).to.equal(401);
    const { status, stdout } = await runRelayCommand(market, ['import', file]);
    expect([status, stdout]).to.deep.equal([0, 'Added 1 descriptions, 2 keys, 0 webhook endpoints\n']);
    expect(await read(url)).to.deep.equal(['0', 1]);
    await until('the key works again', async () => (await call()).status === 200);
  });
});
