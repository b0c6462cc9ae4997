/** Shared by the indexer's tests: indexers with their own databases, and whole tables for comparison. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import pino from 'pino';
import { type OpenDatabase, openDatabase } from '../../app/database/open.ts';
import { openPostgres, SCHEMAS } from '../../app/database/postgres.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { formatUuid } from '../../app/sdk/receipt/receipt.ts';
import { connectForReading } from '../../app/solana/rpc.ts';
import { createNotices } from '../../indexer/chain/notices.ts';
import { createIndexer, type Indexer, type IndexerOptions } from '../../indexer/indexer.ts';
import { openIndex, openPlace } from '../../indexer/queries/open.ts';
import type { IndexDatabase } from '../../indexer/queries/tables.ts';
import { rebuild } from '../../indexer/repair/rebuild.ts';
import { hashIndex } from '../../indexer/verify/hash.ts';
import { verify } from '../../indexer/verify/verify.ts';
import type { TestNode } from '../harness/node/node.ts';
import { useRpcProxy } from '../harness/node/rpcProxy.ts';
import { administer, freshPostgres, onPostgres, sharedPostgres } from '../harness/postgres.ts';
import { type Execution, type Market, startMarket } from './market.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** All tables that follow from the chain. `progress` is left out: it also depends on when the indexer looked. */
const TABLES = `events configs creators listings grants executions deposits disputes archives archive_leaves
  unclaimed_refunds unread_accounts eventless_transactions cursor chain_meta`.split(/\s+/);

/** Only an indexer that is stuck takes longer. */
const PATIENCE_MS = 240_000;

export type Row = Record<string, unknown>;

/** Every row of every table that follows from the chain. On SQLite, events are in the order of application. */
export async function dump(place: string): Promise<Record<string, Row[]>> {
  const tables: Record<string, Row[]> = {};
  for (const table of TABLES) {
    const order = table === 'events' ? (onPostgres ? 'slot, signature, event_index' : 'rowid') : '1, 2';
    tables[table] = await query(place, `SELECT * FROM ${table} ORDER BY ${order}`);
  }
  return tables;
}

const opened = new Map<string, ReturnType<typeof openPostgres<IndexDatabase>>>();

/** The rows that the last statement of `text` returns. */
export async function query(place: string, text: string): Promise<Row[]> {
  return run(onPostgres ? connected(place) : openIndex(place), text);
}

/**
 * Like `query`, while an indexer in this process rebuilds the index. On SQLite a writer would wait for the rebuild to
 * end, and keep it from continuing.
 */
export async function queryDuringRebuild(place: string, text: string): Promise<Row[]> {
  return run(onPostgres ? connected(place) : openDatabase<IndexDatabase>(place, { readonly: true }), text);
}

async function run({ db, close }: Pick<OpenDatabase<IndexDatabase>, 'db' | 'close'>, text: string): Promise<Row[]> {
  try {
    let rows: Row[] = [];
    for (const statement of text.split('; ')) ({ rows } = await sql.raw<Row>(statement).execute(db));
    return rows;
  } finally {
    close();
  }
}

/** One connection, which stays open until its bench is closed. */
function connected(place: string) {
  const known = opened.get(place) ?? openPostgres<IndexDatabase>(place, { schema: SCHEMAS.index, max: 1 });
  opened.set(place, known);
  return { db: known.db, close: () => {} };
}

async function disconnect(place: string): Promise<void> {
  await opened.get(place)?.close();
  opened.delete(place);
}

/** Returns the number of rows that the statement changed. */
export async function change(place: string, text: string): Promise<number> {
  const { db, close } = await openPlace(place);
  try {
    return Number((await sql.raw(text).execute(db)).numAffectedRows ?? 0n);
  } finally {
    await close();
  }
}

/** `npm run indexer` with these arguments as a separate process, on the index at this place. */
export function runIndexer({ rpcUrl, wsUrl }: Pick<TestNode, 'rpcUrl' | 'wsUrl'>, place: string, ...args: string[]) {
  const { PATH, HOME } = process.env;
  const at = place.includes('://') ? { DATABASE_URL: place } : { DATA_DIR: dirname(place) };
  const child = spawn(process.execPath, ['scripts/run.mjs', 'indexer/main.ts', ...args], {
    cwd: ROOT,
    env: { PATH, HOME, SOLANA_RPC_URL: rpcUrl, SOLANA_WS_URL: wsUrl, ...at },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (said.stdout += chunk));
  child.stderr.on('data', (chunk) => (said.stderr += chunk));
  const output = () => said.stdout + said.stderr;
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal, output: output(), ...said }));
  return { child, exited, output };
}

/** The row of an execution. */
export const executionIn = (tables: Record<string, Row[]>, { executionId }: Pick<Execution, 'executionId'>) =>
  tables.executions!.find((row) => row.execution_id === formatUuid(executionId));

/** Without the slots at which accounts were read, and without the order of application. */
export const unordered = (tables: Record<string, Row[]>) =>
  Object.fromEntries(
    Object.entries(tables).map(([table, rows]) => [
      table,
      table === 'events'
        ? rows.map((row): Row => ({ event: `${row.signature} ${row.event_index} ${row.data}` })).sort(byEvent)
        : rows.map(({ slot, ...row }): Row => row),
    ]),
  );
const byEvent = (left: Row, right: Row) => (String(left.event) < String(right.event) ? -1 : 1);

/** Removes the columns that depend on when accounts were read. */
export const withoutSlots = (rows: Row[]): Row[] => rows.map(({ slot, listing_timeout_seconds, ...row }) => row);

export class IndexerBench {
  readonly folder = mkdtempSync(join(tmpdir(), 'indexer-'));
  private readonly running = new Set<Indexer>();
  private readonly children = new Set<ChildProcess>();
  private readonly places = new Map<string, string>();

  constructor(private readonly market: { node: Pick<TestNode, 'rpcUrl' | 'wsUrl' | 'connection'> }) {}

  /** The index of this name that `place` created on PostgreSQL. */
  path(name: string): string {
    if (!onPostgres) {
      const folder = join(this.folder, name);
      mkdirSync(folder, { recursive: true });
      return join(folder, 'index.db');
    }
    const known = this.places.get(name);
    if (!known) throw new Error(`there is no database ${name} yet`);
    return known;
  }

  /** A new, empty index of this name. */
  async place(name: string): Promise<string> {
    if (onPostgres && !this.places.has(name)) this.places.set(name, await freshPostgres());
    return this.path(name);
  }

  /** Copies an index that no process has open. Replaces an earlier copy. */
  async copy(from: string, to: string): Promise<string> {
    const place = this.path(from);
    if (!onPostgres) {
      const { sqlite, close } = openIndex(place);
      await sqlite.backup(this.path(to));
      close();
      return this.path(to);
    }
    await disconnect(place);
    const name = (url: string) => new URL(url).pathname.slice(1);
    const copy = this.places.get(to) ?? `${place}_copy`;
    await disconnect(copy);
    await administer(
      await sharedPostgres(),
      `DROP DATABASE IF EXISTS ${name(copy)} WITH (FORCE)`,
      `CREATE DATABASE ${name(copy)} TEMPLATE ${name(place)} STRATEGY file_copy`,
    );
    this.places.set(to, copy);
    return copy;
  }

  async start(name: string, options: Partial<IndexerOptions> = {}): Promise<Indexer> {
    const { rpcUrl, wsUrl } = this.market.node;
    const log = pino({ level: process.env.LOG_LEVEL ?? 'silent' });
    const indexer = createIndexer({ rpcUrl, wsUrl, path: await this.place(name), log, ...options });
    this.running.add(indexer);
    await indexer.start();
    return indexer;
  }

  /** A separate process on the index of this name. */
  async run(name: string, ...args: string[]) {
    const run = runIndexer(this.market.node, await this.place(name), ...args);
    this.children.add(run.child);
    return run;
  }

  /** Waits until everything that is confirmed now has been applied. */
  async catchUp(indexer: Indexer): Promise<void> {
    await indexer.caughtUpTo(await this.market.node.connection.getSlot('confirmed'), PATIENCE_MS);
  }

  async stop(indexer: Indexer): Promise<void> {
    this.running.delete(indexer);
    await indexer.stop();
  }

  /** The tables that a new indexer builds from the whole chain. */
  async backfill(name: string, options: Partial<IndexerOptions> = {}): Promise<Record<string, Row[]>> {
    const indexer = await this.start(name, options);
    await this.catchUp(indexer);
    await this.stop(indexer);
    return dump(this.path(name));
  }

  /** The hash of an index. */
  hash(name: string): Promise<string> {
    return this.opened(name, hashIndex);
  }

  /** Compares rows and accounts. Returns the number of rows, which must not differ. */
  async verified(name: string): Promise<number> {
    const { connection } = this.market.node;
    const checked = await this.opened(name, (db) => verify({ db, connection, programId: PROGRAM_ID }));
    expect(checked.differences).to.deep.equal([]);
    return checked.rows;
  }

  private async opened<T>(name: string, read: (db: OpenDatabase<IndexDatabase>['db']) => Promise<T>): Promise<T> {
    const { db, close } = await openPlace(this.path(name));
    const value = await read(db);
    await close();
    return value;
  }

  /** Rebuilds an index from the history of a node. */
  rebuild(name: string, rpcUrl: string): Promise<void> {
    const connection = connectForReading(rpcUrl, new AbortController().signal);
    const ingest = { connection, programId: PROGRAM_ID, notices: createNotices(), signaturePage: 1_000 };
    return rebuild({ path: this.path(name), ingest, log: pino({ level: 'silent' }) });
  }

  async close(): Promise<void> {
    for (const child of this.children) child.kill('SIGKILL');
    for (const indexer of this.running) await indexer.stop();
    for (const place of this.places.values()) await disconnect(place);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * A market and indexers for the tests of a suite. `start` runs one behind the proxy `rpc`. With `deaf`, the proxy passes
 * no notification of a log, so everything is found by lists.
 */
export function useBench({ deaf = false } = {}) {
  const market = {} as Market;
  before(async function () {
    Object.assign(market, await startMarket());
    // After all other hooks of the suite.
    this.test!.parent!.afterAll(async () => {
      await bench.close();
      await market.node.stop();
    });
  });
  const bench = new IndexerBench(market);
  const rpc = useRpcProxy(market);
  if (deaf) {
    before(() =>
      rpc.onMessage((message, pass) => {
        if (message.method !== 'logsNotification') pass();
      }),
    );
  }
  const start = (name: string, options: Partial<IndexerOptions> = {}) =>
    bench.start(name, { rpcUrl: rpc.rpcUrl, wsUrl: rpc.wsUrl, pollMs: 20, ...options });
  return { market, bench, rpc, start };
}
