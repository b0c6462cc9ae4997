/**
 * Commands beside a relay that works: `check`, as a deployment script runs it, on a good deployment and with one thing
 * wrong at a time; backups of the ledger, and putting them back.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { MIGRATIONS, migrate } from '../../../app/database/migrate.ts';
import { openDatabase } from '../../../app/database/open.ts';
import type { Finding } from '../../../app/relay/check.ts';
import { ledgerPath } from '../../../app/relay/config.ts';
import { backUp, listBackups, readBackup } from '../../../app/relay/ledger/backup.ts';
import { chooseBackup, restore } from '../../../app/relay/ledger/restore.ts';
import { until } from '../../harness/edge/until.ts';
import { useFolder } from '../../harness/folder.ts';
import { figuresOf, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { runCommandHere, runRelayCommand } from '../../harness/node/relayMain.ts';
import { startRpcProxy } from '../../harness/node/rpcProxy.ts';

const NAME = /^ledger-\d{8}T\d{6}Z\.sqlite\.zst$/;

describe('commands of the operator', () => {
  const market = useMarketplace({ here: true });

  describe('a check before the start', () => {
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
      const { stdout } = await runCommandHere(market, ['check']);
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
      expect(away).to.include('clock: no node has shown its clock');
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
  });

  describe('a backup of the ledger', () => {
    const folder = useFolder('backup');
    const dir = join(folder, 'backups');

    const namesIn = (path: string) => readdirSync(path).filter((name) => !name.startsWith('.'));
    const settings = { keep: 7, command: null, environment: process.env, minFreeBytes: 0 };
    const place = (dataDir: string) => ({ dataDir, databaseUrl: null });
    const thrown = (work: Promise<unknown>) =>
      work.then(
        () => 'made',
        (error: Error) => error.message,
      );

    /** Expects that this command failed and said so. */
    function requireFailed({ status, stderr }: Awaited<ReturnType<typeof runRelayCommand>>, says: RegExp): void {
      expect(status, stderr).to.equal(1);
      expect(stderr).to.match(says);
    }

    it('is complete, compressed and private, and is made while calls continue', async () => {
      let ended = false;
      const calls = (async () => {
        let done = 0;
        while (!ended) {
          expect((await market.execute(market.relay.url, { task: `during ${done}` })).status).to.equal(200);
          done += 1;
        }
        return done;
      })();
      const { status, stdout, stderr } = await runCommandHere(market, ['backup', '--json'], { BACKUP_DIR: dir });
      ended = true;
      expect(await calls).to.be.greaterThan(0);
      expect([status, stderr]).to.deep.equal([0, '']);
      const report = JSON.parse(stdout);
      expect(basename(report.file)).to.match(NAME);
      expect(report).to.deep.include({ bytes: statSync(report.file).size, removed: [] });
      expect(report.bytes).to.be.lessThan(statSync(ledgerPath(market.dataDir)).size / 2);
      expect(statSync(report.file).mode & 0o777).to.equal(0o600);
      expect(statSync(dir).mode & 0o777).to.equal(0o700);
      expect(namesIn(dir)).to.deep.equal([basename(report.file)]);
    });

    it('has its age among the metrics, without another one NaN', async () => {
      const age = async () => (await figuresOf(market.relay.url, 'marketplace_backup_age_seconds'))[0];
      expect(await age()).to.be.NaN;
      const own = join(market.dataDir, 'backups');
      mkdirSync(own);
      writeFileSync(join(own, basename(listBackups(dir)[0]!.path)), '');
      expect(await age()).to.be.within(0, 600);
      rmSync(own, { recursive: true });
    });

    it('is put back into an empty place, and never onto a ledger or under a relay', async () => {
      const empty = join(folder, 'empty');
      const given = { BACKUP_DIR: dir, DATA_DIR: empty };
      const { status, stdout } = await runCommandHere(market, ['restore'], given);
      expect([status, stdout.includes(`Restored ${listBackups(dir)[0]!.path}`)]).to.deep.equal([0, true]);
      const copy = new Sqlite(ledgerPath(empty), { readonly: true });
      expect(copy.prepare('SELECT count(*) FROM api_keys').pluck().get()).to.equal(2);
      copy.close();
      const again = await runCommandHere(market, ['restore'], given);
      requireFailed(again, /Move the present ledger away first.*ledger\.db/);
      const under = await runCommandHere(market, ['restore'], { BACKUP_DIR: dir });
      requireFailed(under, /A relay runs on .*Stop it first/);
      expect((await market.execute(market.relay.url, { task: 'still there' })).status).to.equal(200);
    });

    it('replaces the oldest ones, and is taken away by BACKUP_COMMAND', async () => {
      const away = join(folder, 'away');
      mkdirSync(away);
      const old = ['ledger-20200101T000000Z.sqlite.zst', 'ledger-20200102T000000Z.sqlite.zst'];
      for (const name of [...old, 'notes.txt']) writeFileSync(join(dir, name), 'old');
      const earlier = listBackups(dir).map(({ path }) => path);
      const given = { BACKUP_DIR: dir, BACKUP_KEEP: '2', BACKUP_COMMAND: `cp "$BACKUP_FILE" "$BACKUP_DIR"/n* ${away}` };
      const { status, stdout } = await runCommandHere(market, ['backup', '--json'], given);
      expect(status).to.equal(0);
      const { file, removed } = JSON.parse(stdout);
      // A backup of the same second has the same name, and replaces the earlier one.
      const [newest, second, ...rest] = [...new Set([file, ...earlier])];
      expect(removed).to.deep.equal(rest).and.include(join(dir, old[0]!));
      expect(listBackups(dir).map(({ path }) => path)).to.deep.equal([newest, second]);
      expect(namesIn(away).sort()).to.deep.equal([basename(file), 'notes.txt']);
      expect(readFileSync(join(away, basename(file)))).to.deep.equal(readFileSync(file));

      const failed = await runRelayCommand(market, ['backup'], { ...given, BACKUP_COMMAND: 'echo no way >&2; exit 7' });
      expect(failed.status).to.equal(3);
      expect(failed.stderr).to.match(/^no way\n.* is complete, but BACKUP_COMMAND ended with exit code 7\.\n$/);
      expect(listBackups(dir)).to.have.length(2);
    });

    it('is refused for a damaged or missing ledger, and the older backup stays', async () => {
      const damaged = join(folder, 'damaged');
      await restore(listBackups(dir)[0]!, place(damaged), process.env);
      const bytes = readFileSync(ledgerPath(damaged));
      // The first page stays intact, because without it SQLite cannot open the file.
      bytes.fill(0xff, 4_096 * 3, 4_096 * 5);
      writeFileSync(ledgerPath(damaged), bytes);
      const own = join(damaged, 'backups');
      mkdirSync(own);
      const older = join(own, 'ledger-20200101T000000Z.sqlite.zst');
      writeFileSync(older, 'the older copy');
      expect(await thrown(backUp(place(damaged), { ...settings, dir: own, keep: 1 }))).to.match(/damaged|malformed/);
      expect(readFileSync(older, 'utf8')).to.equal('the older copy');
      expect(namesIn(own)).to.deep.equal([basename(older)]);
      const much = { ...settings, dir: own, keep: 1, minFreeBytes: 2 ** 60 };
      expect(await thrown(backUp(place(damaged), much))).to.match(/needs twice the ledger's \d+ for a moment/);
      const nothing = await runCommandHere(market, ['backup'], { DATA_DIR: join(folder, 'nothing') });
      requireFailed(nothing, /The ledger .* does not exist/);
    });

    it('is not put back if it was cut, and one of PostgreSQL not into a file', async () => {
      const [newest] = listBackups(dir);
      const cut = join(folder, basename(newest!.path));
      writeFileSync(cut, readFileSync(newest!.path).subarray(0, newest!.bytes / 2));
      const empty = join(folder, 'cut');
      const attempt = (file: string) => thrown(restore(readBackup(file), place(empty), process.env));
      const advice = 'If the file is damaged, name an older one: `npm run relay -- restore FILE`.';
      const refusal = await attempt(cut);
      expect(refusal).to.match(/cannot be restored: zstd ended with exit code 1: .*premature end\. /);
      expect(refusal.startsWith(`${cut} `) && refusal.endsWith(advice), refusal).to.equal(true);
      expect(namesIn(empty).filter((name) => !name.includes('lock'))).to.deep.equal([]);
      const other = join(folder, 'ledger-20200101T000000Z.postgres.zst');
      writeFileSync(other, '');
      expect(await attempt(other)).to.include('Set DATABASE_URL');
      expect(() => readBackup(folder)).to.throw('the name of a backup');
      expect(() => chooseBackup(empty, undefined)).to.throw('has no backup');
    });

    it('says what to install if zstd is missing', async () => {
      const { PATH } = process.env;
      process.env.PATH = '';
      const says = 'zstd is not installed. On Debian or Ubuntu: apt-get install zstd';
      expect(await thrown(backUp(place(market.dataDir), { ...settings, dir }))).to.equal(says);
      process.env.PATH = PATH;
    });

    it('is the way back from an upgrade that the older release cannot run on', async () => {
      const ledger = ledgerPath(market.dataDir);
      await backUp(place(market.dataDir), { ...settings, dir });
      await market.relay.kill();
      const next = join(folder, 'migrations');
      cpSync(MIGRATIONS.ledger, next, { recursive: true });
      /** What the release after this one does at its start. */
      function upgrade(sql: string): void {
        const { size } = new Set(readdirSync(next).map((file) => file.split('.')[0]));
        writeFileSync(join(next, `${String(size + 1).padStart(4, '0')}_next.sql`), sql);
        const { sqlite, close } = openDatabase(ledger);
        migrate(sqlite, next);
        close();
      }
      const call = async (task: string) => {
        const { url, stop } = await startRelayHere(market, { SPONSOR: 'all' });
        expect((await market.execute(url, { task })).status).to.equal(200);
        await stop();
      };
      upgrade('-- Older releases run on it.\nALTER TABLE executions ADD COLUMN next INTEGER NOT NULL DEFAULT 0;');
      await call('on the upgraded ledger');

      upgrade('ALTER TABLE executions RENAME COLUMN task TO words;');
      const refused = await runRelayCommand(market, []);
      expect(refused.stdout).to.equal('');
      requireFailed(
        refused,
        /^.*ledger\.db was migrated by a newer release, which has the migration \d{4}_next\..*\n$/,
      );
      expect(refused.stderr).to.include('restore the backup made before the upgrade: npm run relay -- restore FILE');

      const checked = await runCommandHere(market, ['check', '--json']);
      expect(checked.status).to.equal(1);
      expect(checked.stdout).to.include('the ledger was migrated by a newer release');

      for (const suffix of ['', '-wal', '-shm']) rmSync(ledger + suffix, { force: true });
      const { status } = await runCommandHere(market, ['restore', listBackups(dir)[0]!.path]);
      expect(status).to.equal(0);
      await call('on the restored ledger');
    });
  });

  describe('afterwards', () => {
    it('a relay that runs names its wrong clock itself, and no other problem', async () => {
      const { now } = Date;
      Date.now = () => now() - 90_000;
      const relay = await startRelayHere(market);
      const ready = async () => (await request(relay.url, '/ready')).body as { problems: string[]; advice: string[] };
      await until(
        'the clock is named',
        async () => String((await ready()).problems) === 'clock_wrong',
        undefined,
        ready,
      );
      const { advice } = await ready();
      expect(advice).to.have.length(1);
      expect(advice[0]).to.match(/is (89|90) s behind the Solana node’s\. Set it by NTP/);
      expect(await figuresOf(relay.url, 'marketplace_problem{problem="clock_wrong"}')).to.deep.equal([1]);
      Date.now = now;
      await relay.stop();
    });
  });
});
