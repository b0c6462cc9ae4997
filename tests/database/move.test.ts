/** `npm run relay -- migrate-to-postgres`: copies all rows of a stopped deployment unchanged, or nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import pino from 'pino';
import { takeLock } from '../../app/database/lock.ts';
import { MIGRATIONS, migrate } from '../../app/database/migrate.ts';
import { type OpenedDatabase, openDatabase } from '../../app/database/open.ts';
import { openPostgres, SCHEMAS } from '../../app/database/postgres.ts';
import type { MovedTable } from '../../app/relay/ledger/copyTables.ts';
import { EXECUTIONS_COLUMNS } from '../../app/relay/ledger/generated.ts';
import { moveToPostgres } from '../../app/relay/ledger/moveToPostgres.ts';
import { indexPath, ledgerPath, openLedger } from '../../app/relay/ledger/open.ts';
import { createSharedLeases } from '../../app/relay/ledger/sharedLeases.ts';
import type { LedgerDatabase, LedgerTables } from '../../app/relay/ledger/tables.ts';
import { applyBatch } from '../../indexer/apply/apply.ts';
import { openAlone, openIndex } from '../../indexer/queries/open.ts';
import type { IndexDatabase } from '../../indexer/queries/tables.ts';
import { hashIndex } from '../../indexer/verify/hash.ts';
import { createRows, EPOCH, newAddress, newExecutionId } from '../harness/edge/rows.ts';
import { useFolder } from '../harness/folder.ts';
import { administer, freshPostgres, sharedPostgres } from '../harness/postgres.ts';
import { randomHistory } from '../indexer/histories.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const log = pino({ level: 'silent' });
const STATES = [
  'accepted',
  'paid',
  'returned',
  'open_signed',
  'dispatched',
  'verified',
  'settled',
  'refunded',
  'void',
  'parked',
] as const;
/** More rows than one statement writes or reads. */
const EXECUTIONS = 150;

describe('migrate-to-postgres', () => {
  const folder = useFolder('move');
  let url: string;
  let ledger: OpenedDatabase<LedgerTables>;
  let index: OpenedDatabase<IndexDatabase>;
  const owing = newAddress();

  before(async () => {
    await sharedPostgres();
    index = openIndex(indexPath(folder));
    for (const transaction of randomHistory(7, 160)) await applyBatch(index.db, [transaction]);
    ledger = openDatabase<LedgerTables>(ledgerPath(folder));
    migrate(ledger.sqlite, MIGRATIONS.ledger);
    const rows = createRows(index.db, ledger.db, { nowMs: EPOCH * 1_000 });
    const [wallet, listing] = [newAddress(), await rows.addListing()];
    await rows.addKey({ wallet });
    for (let n = 0; n < EXECUTIONS - 8; n += 1) {
      const state = STATES[n % STATES.length]!;
      const lent = { record_lent: BigInt(n), escrow_lent: BigInt(2 * n) };
      const odd = n % 2 === 0 ? { task: `U+0000 \0, U+E000 \uE000, ${n}` } : {};
      const id = await rows.addJournal({ wallet, listing, state, ...lent, ...odd });
      await rows.addTransaction(id, 'open', { bytes: Buffer.from([0, n]) });
      if (n % 2 === 0) await rows.addTransaction(id, 'open', { attempt: 1n, outcome: 'landed' });
      if (state === 'settled') await rows.addResult(id, `\0 and ünïcode ${n}`);
    }
    // One wallet has repaid what it lost, and one a third of it; the open that was to repay the next third failed.
    for (const [who, lost] of [[newAddress(), 5_000n] as const, [owing, 15_000n] as const]) {
      const row = { wallet: who, listing };
      await rows.addJournal({ ...row, state: 'void', opened_at: null, lost_fees: lost, lost_ms: 1n });
      await rows.addJournal({ ...row, state: 'settled', repaid_lamports: 5_000n });
      await rows.addJournal({ ...row, state: 'void', opened_at: null, repaid_lamports: 5_000n });
      // Its listing lost a fee later.
      await rows.addJournal({ ...row, state: 'void', opened_at: null, lost_fees: 1n, lost_ms: 2n });
      ledger.sqlite.prepare('UPDATE executions SET listing_fees = 5000, lost_ms = 3 WHERE lost_ms = 2').run();
      ledger.sqlite.prepare('UPDATE executions SET lost_fees = 0 WHERE lost_ms = 3').run();
    }
    // `revocations` has no key, and can hold the same row twice.
    for (let n = 0; n < EXECUTIONS; n += 1)
      ledger.sqlite.prepare('INSERT INTO revocations VALUES (?, ?, 5000)').run(wallet, Math.floor(n / 100));
    ledger.sqlite.prepare('INSERT INTO cluster VALUES (1, ?)').run(2n ** 53n + 1n);
  });
  after(() => {
    ledger.close();
    index.close();
  });
  beforeEach(async () => {
    url = await freshPostgres();
  });

  const open = () => openPostgres<LedgerDatabase>(url, { schema: SCHEMAS.ledger });
  async function inPostgres<Result>(use: (opened: ReturnType<typeof open>) => Promise<Result>): Promise<Result> {
    const opened = open();
    try {
      return await use(opened);
    } finally {
      await opened.close();
    }
  }
  /** Removes the marks of an earlier move. */
  const forget = () => {
    for (const path of [ledgerPath(folder), indexPath(folder)]) rmSync(`${path}.moved`, { force: true });
  };
  const rowsOf = (moved: MovedTable[], table: string) => moved.find((one) => one.table === table)!;
  async function refusal(): Promise<string> {
    return moveToPostgres(folder, url).then(
      () => expect.fail('should have been refused'),
      (error: Error) => error.message,
    );
  }

  it('copies every table byte for byte, reports it, and adjusts lent rent and debts', async () => {
    const moved = await moveToPostgres(folder, url);
    const executions = rowsOf(moved, 'ledger.executions');
    expect([executions.rows, executions.added]).to.deep.equal([EXECUTIONS, EXECUTIONS]);
    // The migrations insert a row into it.
    const begun = ['ledger.event_feed'];
    for (const { table, rows, added, hash } of moved) {
      expect([table, added]).to.deep.equal([table, begun.includes(table) ? 0 : rows]);
      expect(hash).to.match(/^[0-9a-f]{64}$/);
    }
    for (const of of ['ledger', 'index'] as const) {
      const { sqlite } = of === 'ledger' ? ledger : index;
      const tables = sqlite
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .pluck()
        .all() as string[];
      const copied = moved.filter(({ table }) => table.startsWith(`${SCHEMAS[of]}.`)).map(({ table }) => table);
      const left = tables.filter(
        (name) => !copied.includes(`${SCHEMAS[of]}.${name}`) && !/^document_words_/.test(name),
      );
      const ours = ['migrations', 'relays', 'leaderships', 'lent_sums', 'debts', 'document_words'];
      expect(left).to.have.members(of === 'ledger' ? ours : ['migrations']);
    }
    await inPostgres(async ({ db }) => {
      const all = await ledger.db.selectFrom('executions').selectAll().orderBy('execution_id').execute();
      expect(await db.selectFrom('executions').selectAll().orderBy('execution_id').execute()).to.deep.equal(all);
      expect(all.some(({ task }) => task.includes('\0'))).to.equal(true);
      const results = await ledger.db.selectFrom('results').selectAll().orderBy('execution_id').execute();
      expect(await db.selectFrom('results').selectAll().orderBy('execution_id').execute()).to.deep.equal(results);
    });
    const chain = openPostgres<IndexDatabase>(url, { schema: SCHEMAS.index });
    expect(await hashIndex(chain.db)).to.equal(await hashIndex(index.db));
    await chain.close();
    const lent = (rows: { lamports: bigint }[]) => rows.reduce((sum, row) => sum + row.lamports, 0n);
    const total = ledger.sqlite.prepare('SELECT lamports FROM lent_sums').all();
    const sums = await inPostgres(({ pool }) => pool.query('SELECT lamports FROM lent_sums'));
    expect(lent(sums.rows)).to.equal(lent(total as { lamports: bigint }[]));
    expect(lent(sums.rows) > 0n).to.equal(true);
    const debts = 'SELECT wallet, lamports, lost_ms FROM debts';
    const owed = [{ wallet: owing, lamports: 10_000n, lost_ms: 2n }];
    expect(ledger.sqlite.prepare(debts).all()).to.deep.equal(owed);
    expect((await inPostgres(({ pool }) => pool.query(debts))).rows).to.deep.equal(owed);
  });

  it('can be repeated: adds nothing, and the hashes are the same', async () => {
    const first = await moveToPostgres(folder, url);
    const second = await moveToPostgres(folder, url);
    expect(second).to.deep.equal(first.map((table) => ({ ...table, added: 0 })));
  });

  it('rejects: a database that has other rows, and leaves it unchanged', async () => {
    await moveToPostgres(folder, url);
    const other = newExecutionId();
    const [, ...columns] = EXECUTIONS_COLUMNS;
    const copy = `INSERT INTO executions (execution_id, ${columns}) SELECT '${other}', ${columns} FROM executions LIMIT 1`;
    await inPostgres(({ pool }) => pool.query(copy));
    ledger.sqlite.prepare("INSERT INTO secrets VALUES ('late', x'01')").run();
    expect(await refusal()).to.match(/ledger\.executions in PostgreSQL has 151 rows after copying 150/);
    const secrets = await inPostgres(({ pool }) => pool.query("SELECT * FROM secrets WHERE name = 'late'"));
    expect(secrets.rows).to.deep.equal([]);
  });

  it('rejects: a row that differs between both databases', async () => {
    await moveToPostgres(folder, url);
    await inPostgres(({ pool }) => pool.query('UPDATE chain.listings SET price = price + 1'));
    expect(await refusal()).to.match(/chain\.listings in PostgreSQL/);
  });

  it('rejects: while a relay or an indexer runs on either side', async () => {
    forget();
    const indexer = takeLock(`${indexPath(folder)}.lock`);
    expect(await refusal()).to.match(/An indexer runs on .*index\.db .*stop it first/);
    indexer.release();
    const relay = await openLedger({ dataDir: folder, databaseUrl: null });
    expect(await refusal()).to.match(/A relay runs on .*ledger\.db: stop it first/);
    await relay.close();
    await inPostgres(async ({ pool }) => {
      const end = await createSharedLeases(url, pool, 'another relay').keep(log);
      expect(await refusal()).to.match(/A relay runs on the PostgreSQL/);
      await end();
    });
    const executions = await inPostgres(({ pool }) => pool.query('SELECT count(*) AS count FROM executions'));
    expect(executions.rows).to.deep.equal([{ count: 0n }]);
    await moveToPostgres(folder, url);
  });

  it('lets no process start on either side during the copy, and none on the old files afterwards', async () => {
    const place = { dataDir: folder, databaseUrl: null };
    const keeping = { stop: new AbortController().signal, onStandby: () => {}, onLost: () => {} };
    const beginnings = { relay: () => openLedger(place), indexer: () => openAlone(indexPath(folder), keeping) };
    const refusalOf = async (begin: () => Promise<{ close(): unknown } | null>) => {
      const begun = await begin().catch((error: Error) => error);
      if (begun instanceof Error) return begun.message;
      await begun?.close();
      return 'it began';
    };
    const refusals = async () => ({
      relay: await refusalOf(beginnings.relay),
      indexer: await refusalOf(beginnings.indexer),
    });

    forget();
    // The first write of a starting relay.
    const list = "INSERT INTO call_keys (kid, x, listed_until_ms) VALUES ('theirs', 'x', 0)";
    const there = open();
    const insert = () =>
      there.pool.query(`SET lock_timeout TO '100ms'; ${list}`).then(
        () => 'it was written',
        (error: Error) => error.message,
      );
    // The copy waits at this table, which is not the first, until all refusals are known.
    const holder = await there.pool.connect();
    await holder.query('BEGIN; LOCK TABLE chain.events IN SHARE MODE');
    let during: Promise<[Awaited<ReturnType<typeof refusals>>, string]> | undefined;
    await moveToPostgres(folder, url, () => {
      during ??= Promise.all([refusals(), insert()]).finally(() => holder.query('COMMIT'));
    });
    const [files, written] = await during!;
    holder.release();
    await there.close();
    expect(files.relay).to.match(
      /ledger\.db is being moved to PostgreSQL or restored \(process \d+\)\. Start when that has ended, after a move with DATABASE_URL/,
    );
    expect(files.indexer).to.match(/index\.db is used by another indexer/);
    expect(written).to.equal('canceling statement due to lock timeout');

    const { host, pathname } = new URL(url);
    for (const [name, message] of Object.entries(await refusals())) {
      expect(message, name).to.match(/The rows of .*\.db were moved to the PostgreSQL .* Start with DATABASE_URL/);
      expect(message, name).to.include(`${host}${pathname}`);
    }
    forget();
    expect(await refusals()).to.deep.equal({ relay: 'it began', indexer: 'it began' });
  });

  it('does not mark the files when it has moved nothing', async () => {
    forget();
    await moveToPostgres(folder, url);
    forget();
    await inPostgres(({ pool }) => pool.query('UPDATE chain.listings SET price = price + 1'));
    await refusal();
    const begun = await openLedger({ dataDir: folder, databaseUrl: null });
    await begun.close();
  });

  it('as a command, fills a database without schemas, prints counts with --json, requires DATABASE_URL', async () => {
    const server = await sharedPostgres();
    await administer(server, 'CREATE DATABASE moved_by_command');
    const run = async (args: string[], environment: NodeJS.ProcessEnv) => {
      const { DATABASE_URL: _, ...rest } = process.env;
      const child = spawn(process.execPath, ['scripts/run.mjs', 'app/relay/main.ts', 'migrate-to-postgres', ...args], {
        cwd: ROOT,
        env: { ...rest, DATA_DIR: folder, ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close') as Promise<[number]>,
      ]);
      return { stdout, stderr, code };
    };
    const moved = await run(['--json'], { DATABASE_URL: server.url('moved_by_command') });
    expect(moved.code, moved.stderr).to.equal(0);
    const { tables } = JSON.parse(moved.stdout) as { tables: MovedTable[] };
    expect(rowsOf(tables, 'ledger.executions').rows).to.equal(EXECUTIONS);
    const again = await run([], { DATABASE_URL: server.url('moved_by_command') });
    expect(again.stdout).to.include('ledger.executions: 150 rows, 0 of them new, sha256 ');
    const refused = await run([], {});
    expect(refused.code).to.not.equal(0);
    expect(refused.stderr).to.include('DATABASE_URL is not set');
  });
});
