/** What the indexer's tests share: indexers on files of their own, and whole tables for comparison. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { createIndexer, type Indexer, type IndexerOptions } from '../../indexer/indexer.ts';
import { openIndex } from '../../indexer/open.ts';
import type { TestNode } from '../harness/node/node.ts';

/** All tables that follow from the chain; `progress` also depends on when somebody looked. */
const TABLES = [
  'events',
  'configs',
  'creators',
  'listings',
  'grants',
  'executions',
  'disputes',
  'archives',
  'archive_leaves',
  'unread_accounts',
  'eventless_transactions',
  'cursor',
  'chain_meta',
];

export type Row = Record<string, unknown>;

/** Every row of every table that follows from the chain, events in the order in which they were applied. */
export function dump(path: string): Record<string, Row[]> {
  const { sqlite, close } = openIndex(path);
  const rows = TABLES.map((table) => {
    const order = table === 'events' ? 'rowid' : '1, 2';
    return [table, sqlite.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).all()];
  });
  close();
  return Object.fromEntries(rows);
}

/** Without what depends on when accounts were read. */
export const withoutSlots = (rows: Row[]): Row[] => rows.map(({ slot, listing_timeout_seconds, ...row }) => row);

export class IndexerBench {
  readonly folder = mkdtempSync(join(tmpdir(), 'indexer-'));
  private readonly running = new Set<Indexer>();

  constructor(readonly node: TestNode) {}

  path(name: string): string {
    return join(this.folder, name);
  }

  async start(name: string, options: Partial<IndexerOptions> = {}): Promise<Indexer> {
    const { rpcUrl, wsUrl } = this.node;
    const log = pino({ level: process.env.LOG_LEVEL ?? 'silent' });
    const indexer = createIndexer({ rpcUrl, wsUrl, path: this.path(name), log, ...options });
    this.running.add(indexer);
    await indexer.start();
    return indexer;
  }

  /** Until everything that is confirmed now has been applied. */
  async catchUp(indexer: Indexer): Promise<void> {
    await indexer.caughtUpTo(await this.node.connection.getSlot('confirmed'), 20_000);
  }

  async stop(indexer: Indexer): Promise<void> {
    this.running.delete(indexer);
    await indexer.stop();
  }

  /** The tables that a fresh indexer makes of the whole chain. */
  async backfill(name: string, options: Partial<IndexerOptions> = {}): Promise<Record<string, Row[]>> {
    const indexer = await this.start(name, options);
    await this.catchUp(indexer);
    await this.stop(indexer);
    return dump(this.path(name));
  }

  async close(): Promise<void> {
    for (const indexer of this.running) await indexer.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Resolves when the condition holds; throws after 30 s. */
export async function eventually(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what}: not after 30 s`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
