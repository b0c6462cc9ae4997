/** The scratch place of a drill: an empty database for the backup, and the index beside it. */
import { join } from 'node:path';
import pg from 'pg';
import pino from 'pino';
import { addressOf } from '../../app/database/postgres.ts';
import { startPostgres } from '../../app/local/postgres.ts';
import type { ToolConfig } from '../../app/relay/config.ts';
import type { Backup } from '../../app/relay/ledger/backup.ts';
import type { DatabasePlace } from '../../app/relay/ledger/open.ts';
import { heliusHistory } from '../../app/solana/helius.ts';
import { connectForReading } from '../../app/solana/rpc.ts';
import type { IndexerConfig } from '../../indexer/config.ts';
import { createIndexer, type Indexer } from '../../indexer/indexer.ts';

/** Time between two reports of progress. */
const REPORT_MS = 5_000;
/** The longest that a timer takes, 24 days: an index of a long history takes hours. */
const FILL_MS = 2 ** 31 - 1;
/** Made and removed on the server of DATABASE_URL, with `--on-server`. */
export const SCRATCH_DATABASE = 'ledger_drill';
/** PostgreSQL's code for a missing right. */
const NO_RIGHT = '42501';
/** Losing scratch data in a power cut is no loss. */
const SCRATCH_SETTINGS = ['fsync=off', 'full_page_writes=off'];

export const say = (line: string): void => console.error(line);

/** Runs `use` with an empty database for the backup, which is removed afterwards. */
export async function withScratch<Result>(
  { database }: Backup,
  { databaseUrl }: ToolConfig,
  { folder, onServer }: { folder: string; onServer: boolean },
  use: (place: DatabasePlace) => Promise<Result>,
): Promise<Result> {
  if (database === 'sqlite') return use({ dataDir: folder, databaseUrl: null });
  if (!onServer) {
    say('Starting a PostgreSQL of its own');
    const server = await startPostgres({ folder: join(folder, 'postgres'), settings: SCRATCH_SETTINGS });
    try {
      return await use({ dataDir: folder, databaseUrl: server.url('postgres') });
    } finally {
      await server.stop();
    }
  }
  if (databaseUrl === null) throw new Error('--on-server needs DATABASE_URL.');
  say(`Making the database ${SCRATCH_DATABASE} beside ${addressOf(databaseUrl)}`);
  // A drill that is interrupted is still connected.
  const drop = `DROP DATABASE IF EXISTS ${SCRATCH_DATABASE} WITH (FORCE)`;
  // A killed drill left its own.
  await runOn(databaseUrl, drop, `CREATE DATABASE ${SCRATCH_DATABASE}`).catch((error: Error & { code?: string }) => {
    if (error.code !== NO_RIGHT) throw error;
    throw new Error(`${error.message}: give the user of DATABASE_URL the right, by ALTER ROLE ... CREATEDB.`);
  });
  try {
    const url = new URL(databaseUrl);
    url.pathname = SCRATCH_DATABASE;
    return await use({ dataDir: folder, databaseUrl: String(url) });
  } finally {
    await runOn(databaseUrl, drop);
  }
}

async function runOn(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Starts an indexer on the scratch place. Resolves once it has all that is final now; it goes on. */
export async function fillIndex({ helius, ...config }: IndexerConfig, path: string): Promise<Indexer> {
  const indexer = createIndexer({
    ...config,
    path,
    log: pino({ level: 'warn' }, pino.destination(2)),
    ...(helius && { history: heliusHistory(helius) }),
  });
  await indexer.start();
  try {
    const slot = await connectForReading(config.rpcUrl, new AbortController().signal).getSlot('finalized');
    const report = setInterval(async () => {
      const status = await indexer.status().catch(() => null);
      const retrying = status?.error ? `; retrying: ${status.error}` : '';
      if (status) say(`  up to slot ${status.cursor?.slot ?? 0} of ${slot}${retrying}`);
    }, REPORT_MS);
    await indexer.caughtUpTo(slot, FILL_MS).finally(() => clearInterval(report));
    return indexer;
  } catch (error) {
    await indexer.stop();
    throw error;
  }
}
