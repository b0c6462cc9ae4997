/** `npm run relay -- check`, as a deployment script runs it: on a good deployment, and with one thing wrong at a time. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { openDatabase } from '../../../app/database/open.ts';
import type { Finding } from '../../../app/relay/check.ts';
import { until } from '../../harness/edge/until.ts';
import { figuresOf, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { runCommandHere, runRelayCommand } from '../../harness/node/relayMain.ts';
import { startRpcProxy } from '../../harness/node/rpcProxy.ts';

/** Settings of a process whose clock is wrong by this much. */
function clockWrongBy(ms: number): NodeJS.ProcessEnv {
  const shift = `const now = Date.now; Date.now = () => now() + ${ms}`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}` };
}

describe('npm run relay -- check', () => {
  const market = useMarketplace();

  async function check(changes: NodeJS.ProcessEnv = {}): Promise<{ status: number | null; findings: Finding[] }> {
    const { status, stdout, stderr } = await runCommandHere(market, ['check', '--json'], changes);
    expect(stderr).to.equal('');
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
    expect(status).to.equal(ok ? 0 : 1);
    return { status, findings };
  }
  /** The findings that are not ok. */
  const failed = async (changes: NodeJS.ProcessEnv) =>
    (await check(changes)).findings.filter(({ ok }) => !ok).map(({ check: name, detail }) => `${name}: ${detail}`);

  it('finds nothing on a deployment that works, beside its relay', async () => {
    const { status, findings } = await check();
    expect([status, findings.filter(({ ok }) => !ok)]).to.deep.equal([0, []]);
    expect(findings.map((finding) => finding.check)).to.deep.equal([
      'settings',
      'node',
      'finality',
      'clock',
      'lag',
      'authority',
      'fees',
      'database',
      'disk',
    ]);
    const { stdout } = await runRelayCommand(market, ['check']);
    expect(stdout.split('\n')[0]).to.equal('ok    settings   every setting is valid');
  });

  it('names each wrong setting and key file, and prints no value', async () => {
    expect(await failed({ SPONSR: 'canary', LOG_LEVEL: 'canary' })).to.deep.equal([
      'settings: SPONSR is no setting; did you mean SPONSOR? Correct or remove it',
      'settings: LOG_LEVEL must be debug or info or warn or error or silent: lowest level of log lines',
    ]);
    const [missing] = await failed({ RELAY_KEYPAIR: join(market.dataDir, 'none.json') });
    expect(missing).to.include('none.json is not a keypair file');
  });

  it('names a node that lacks a method, a key that is no authority and has no SOL, and a wrong clock', async () => {
    const proxy = await startRpcProxy({ rpcUrl: market.node.rpcUrl, wsUrl: market.node.wsUrl });
    proxy.onCall(({ method, params }) =>
      method === 'getProgramAccounts' && params.length === 0
        ? { json: { jsonrpc: '2.0', id: 1, error: { code: -32_601, message: 'Method not found' } } }
        : null,
    );
    const other = Keypair.generate();
    const file = join(market.dataDir, 'other.json');
    writeFileSync(file, JSON.stringify([...other.secretKey]), { mode: 0o600 });
    const { now } = Date;
    Date.now = () => now() + 90_000;
    const found = await failed({ SOLANA_RPC_URL: proxy.rpcUrl, RELAY_KEYPAIR: file }).finally(() => {
      Date.now = now;
    });
    await proxy.close();
    const [node, clock, authority, fees] = found;
    expect(node).to.equal(`node: ${new URL(proxy.rpcUrl).host} lacks getProgramAccounts`);
    expect(clock).to.match(/^clock: the clock of this machine is (89|90) s ahead of the nodes’. Set it by NTP$/);
    expect(authority).to.include(`authority: ${other.publicKey} is not among the relay authorities: `);
    expect(fees).to.equal('fees: the relay authority has 0 SOL and needs 0.05');
  });

  it('names the migrations to come, and whether the release before runs on them', async () => {
    const folder = join(market.dataDir, 'older');
    mkdirSync(folder, { mode: 0o700 });
    for (const name of ['ledger.db', 'index.db']) {
      const { sqlite, close } = openDatabase(join(market.dataDir, name), { readonly: true });
      sqlite.prepare('VACUUM INTO ?').run(join(folder, name));
      close();
    }
    const { sqlite, close } = openDatabase(join(folder, 'ledger.db'));
    sqlite.exec('DELETE FROM migrations WHERE number = (SELECT max(number) FROM migrations)');
    close();
    const { findings } = await check({ DATA_DIR: folder, DATABASE_URL: '' });
    expect(findings.find((finding) => finding.check === 'database')!.detail).to.match(
      /\. The start changes them by \d{4}_\w+: the release before cannot run on them afterwards, so make a backup first$/,
    );
  });

  it('names a node that does not answer, a missing index, a full disk and an open folder', async () => {
    const away = await failed({ SOLANA_RPC_URL: 'http://127.0.0.1:1/canary?api-key=canary' });
    expect(away[0]).to.match(/^node: 127\.0\.0\.1:1 does not answer getVersion: /);
    expect(away.join()).to.not.include('canary');
    const empty = join(market.dataDir, 'empty');
    mkdirSync(empty, { mode: 0o755 });
    const found = await failed({ DATA_DIR: empty, DATABASE_URL: '', MIN_FREE_BYTES: '1' });
    expect(found).to.deep.equal([
      `database: ${join(empty, 'index.db')} does not exist. Start the indexer first, or set DATA_DIR to its folder`,
      `disk: ${empty} is open to all users of this machine: chmod 700 ${empty}`,
    ]);
    const later = await check({ DATA_DIR: join(market.dataDir, 'later') });
    expect(later.findings.at(-1)).to.deep.include({ check: 'disk', ok: true });
    const [disk] = await failed({ MIN_FREE_BYTES: String(2 ** 50) });
    expect(disk).to.match(/^disk: \d+ MiB are free for .*, less than MIN_FREE_BYTES$/);
  });

  it('is not needed by a running relay, which names its wrong clock and no other problem', async () => {
    await market.relay.kill();
    const relay = await market.startRelayProcess(clockWrongBy(-90_000));
    const ready = async () => (await request(relay.url, '/ready')).body as { problems: string[]; advice: string[] };
    await until('the clock is named', async () => String((await ready()).problems) === 'clock_wrong', undefined, ready);
    const { advice } = await ready();
    expect(advice).to.have.length(1);
    expect(advice[0]).to.match(/is (89|90) s behind the Solana node’s\. Set it by NTP/);
    expect(await figuresOf(relay.url, 'marketplace_problem{problem="clock_wrong"}')).to.deep.equal([1]);
    await relay.kill();
  });
});
