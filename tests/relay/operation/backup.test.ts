/** Backups of the ledger, made while the relay works. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { indexPath, ledgerPath } from '../../../app/relay/config.ts';
import { backUp, checkTarget } from '../../../app/relay/ledger/backup.ts';
import { request, startMarketplace, type TestMarketplace } from '../../harness/node/marketplace.ts';
import { runRelayCommand } from '../../harness/node/relayMain.ts';

describe('a backup of the ledger', function () {
  this.timeout(600_000);
  let market: TestMarketplace;
  let folder: string;

  before(async () => {
    market = await startMarketplace();
    folder = mkdtempSync(join(tmpdir(), 'backup-'));
  });
  after(async () => {
    await market.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const execute = (url: string, body: Record<string, unknown>) =>
    request(url, `/v1/agents/${market.agentId}/execute`, { apiKey: market.callers[0]!.apiKey, body });
  it('is complete and private, and is made while calls continue', async () => {
    let ended = false;
    const calls = (async () => {
      let done = 0;
      while (!ended) {
        expect((await execute(market.relay.url, { task: `during ${done}` })).status).to.equal(200);
        done += 1;
      }
      return done;
    })();
    const file = join(folder, 'first.db');
    const { status, stdout, stderr } = await runRelayCommand(market, ['backup', file, '--json']);
    ended = true;
    expect(await calls).to.be.greaterThan(0);
    expect([status, stderr]).to.deep.equal([0, '']);
    const report = JSON.parse(stdout);
    expect(report).to.include({ file, bytes: statSync(file).size, api_keys: 2, metadata: 1 });
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(readdirSync(folder)).to.deep.equal(['first.db']);
    const copy = new Sqlite(file, { readonly: true });
    expect(copy.pragma('integrity_check', { simple: true })).to.equal('ok');
    expect(copy.prepare('SELECT count(*) FROM executions').pluck().get()).to.equal(report.executions);
    copy.close();
  });

  it('replaces an older backup, but no file of the relay itself', async () => {
    const file = join(folder, 'first.db');
    const plain = await runRelayCommand(market, ['backup', file]);
    expect(plain.status).to.equal(0);
    expect(plain.stdout).to.match(/first\.db: \d+ bytes, \d+ executions, checked\n$/);
    const before = readFileSync(ledgerPath(market.dataDir)).length;
    for (const [target, message] of [
      [ledgerPath(market.dataDir), /own file/],
      [`${ledgerPath(market.dataDir)}-wal`, /own file/],
      [join(market.dataDir, 'index.db'), /own file/],
      [folder, /is a folder/],
      [join(folder, 'nowhere', 'x.db'), /does not exist/],
    ] as const) {
      expect(() =>
        checkTarget(target, { ledger: ledgerPath(market.dataDir), index: indexPath(market.dataDir) }),
      ).to.throw(message);
    }
    const refused = await runRelayCommand(market, ['backup', ledgerPath(market.dataDir)]);
    expect([refused.status, refused.stdout]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(/own file/);
    expect(readFileSync(ledgerPath(market.dataDir)).length).to.be.at.least(before);
    const nothing = await runRelayCommand(market, ['backup', file], { DATA_DIR: join(folder, 'empty') });
    expect([nothing.status, /The ledger .* does not exist/.test(nothing.stderr)]).to.deep.equal([1, true]);
    expect((await execute(market.relay.url, { task: 'still there' })).status).to.equal(200);
  });

  it('is refused for a damaged ledger, and the older backup stays', async () => {
    const damaged = join(folder, 'damaged');
    mkdirSync(damaged);
    const healthy = join(damaged, 'healthy.db');
    await backUp(ledgerPath(market.dataDir), healthy);
    const bytes = readFileSync(healthy);
    // The first page stays intact, because without it SQLite cannot open the file.
    bytes.fill(0xff, 4_096 * 3, 4_096 * 5);
    const broken = join(damaged, 'broken.db');
    writeFileSync(broken, bytes);
    const target = join(damaged, 'copy.db');
    writeFileSync(target, 'the older copy');
    const refusal = await backUp(broken, target).then(
      () => 'made',
      (error: Error) => error.message,
    );
    expect(refusal).to.match(/damaged|malformed/);
    expect(readFileSync(target, 'utf8')).to.equal('the older copy');
    expect(readdirSync(damaged).sort()).to.deep.equal(['broken.db', 'copy.db', 'healthy.db']);
  });

  it('reports its progress', async () => {
    const seen: [number, number][] = [];
    await backUp(ledgerPath(market.dataDir), join(folder, 'progress.db'), (done, total) => seen.push([done, total]));
    const [done, total] = seen.at(-1)!;
    expect(total).to.be.greaterThan(0);
    expect(done).to.be.at.most(total);
  });
});
