/** Backups of the ledger, made while the relay works, and put back. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { MIGRATIONS, migrate } from '../../../app/database/migrate.ts';
import { openDatabase } from '../../../app/database/open.ts';
import { ledgerPath } from '../../../app/relay/config.ts';
import { backUp, listBackups, readBackup } from '../../../app/relay/ledger/backup.ts';
import { chooseBackup, restore } from '../../../app/relay/ledger/restore.ts';
import { useFolder } from '../../harness/folder.ts';
import { figuresOf, useMarketplace } from '../../harness/node/marketplace.ts';
import { FORGETFUL } from '../../harness/node/relayHere.ts';
import { runCommandHere, runRelayCommand } from '../../harness/node/relayMain.ts';

const NAME = /^ledger-\d{8}T\d{6}Z\.sqlite\.zst$/;

describe('a backup of the ledger', () => {
  const folder = useFolder('backup');
  const dir = join(folder, 'backups');

  const market = useMarketplace();
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
    const { status, stdout, stderr } = await runRelayCommand(market, ['backup', '--json'], { BACKUP_DIR: dir });
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
    const { status, stdout } = await runRelayCommand(market, ['restore'], given);
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
    const given = { BACKUP_DIR: dir, BACKUP_KEEP: '2', BACKUP_COMMAND: `cp "$BACKUP_FILE" "$BACKUP_DIR"/n* ${away}` };
    const { status, stdout } = await runCommandHere(market, ['backup', '--json'], given);
    expect(status).to.equal(0);
    const { file, removed } = JSON.parse(stdout);
    expect(removed).to.deep.equal(old.reverse().map((name) => join(dir, name)));
    expect(listBackups(dir).map(({ path }) => path))
      .to.include(file)
      .and.have.length(2);
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
    expect(await attempt(cut)).to.match(/^zstd ended with exit code 1: /);
    expect(namesIn(empty).filter((name) => !name.includes('lock'))).to.deep.equal([]);
    const other = join(folder, 'ledger-20200101T000000Z.postgres.zst');
    writeFileSync(other, '');
    expect(await attempt(other)).to.include('Set DATABASE_URL');
    expect(() => readBackup(folder)).to.throw('the name of a backup');
    expect(() => chooseBackup(empty, undefined)).to.throw('has no backup');
  });

  it('says what to install if zstd is missing', () => {
    const given = { ...process.env, DATA_DIR: market.dataDir, BACKUP_DIR: dir, PATH: '' };
    const words = ['scripts/run.mjs', 'app/relay/main.ts', 'backup'];
    const { status, stderr } = spawnSync(process.execPath, words, { env: given, encoding: 'utf8' });
    expect([status, stderr]).to.deep.equal([1, 'zstd is not installed. On Debian or Ubuntu: apt-get install zstd\n']);
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
      const { url, kill } = await market.startRelayProcess(FORGETFUL);
      expect((await market.execute(url, { task })).status).to.equal(200);
      await kill();
    };
    upgrade('-- Older releases run on it.\nALTER TABLE executions ADD COLUMN next INTEGER NOT NULL DEFAULT 0;');
    await call('on the upgraded ledger');

    upgrade('ALTER TABLE executions RENAME COLUMN task TO words;');
    const refused = await runRelayCommand(market, []);
    expect(refused.stdout).to.equal('');
    requireFailed(refused, /^.*ledger\.db was migrated by a newer release, which has the migration \d{4}_next\..*\n$/);
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
