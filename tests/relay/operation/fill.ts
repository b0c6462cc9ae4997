/** Fills a ledger and an index to a given size, with the rows that indexer and relay would write. */
import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import bs58 from 'bs58';
import { MIGRATIONS, migrate } from '../../../app/database/migrate.ts';
import { openDatabase } from '../../../app/database/open.ts';
import { connectPostgres, SCHEMAS } from '../../../app/database/postgres.ts';
import { describe } from '../../../app/relay/agents/words.ts';
import { documentId } from '../../../app/relay/ledger/metadata.ts';
import { moveToPostgres } from '../../../app/relay/ledger/moveToPostgres.ts';
import type { LedgerTables } from '../../../app/relay/ledger/tables.ts';
import { formatUuid } from '../../../app/sdk/receipt/receipt.ts';
import { encodeMetadata, STANDARD_TAGS } from '../../../app/sdk/wire/metadata.ts';
import { openIndex } from '../../../indexer/queries/open.ts';
import { refreshFigures } from '../../harness/edge/figures.ts';
import { EPOCH, metadataOf } from '../../harness/edge/rows.ts';
import { freshPostgres, onPostgres } from '../../harness/postgres.ts';

export interface Size {
  executions: number;
  agents: number;
}

const OTHER_WALLETS = 1_000;
const SPAN_SECONDS = 60 * 86_400;
const WORDS = 'csv sql contract law market chart tax audit image voice map route price risk news code test'.split(' ');

function hashOf(kind: string, number: number): Buffer {
  return createHash('sha256').update(`${kind} ${number}`).digest();
}

const addresses = new Map<string, string>();

export function addressOf(kind: 'wallet' | 'listing' | 'creator', number: number): string {
  const name = `${kind} ${number}`;
  const address = addresses.get(name) ?? bs58.encode(hashOf(kind, number));
  addresses.set(name, address);
  return address;
}

/** The wallet with half of all executions. */
export const WALLET = addressOf('wallet', 0);

/** The execution_id of an execution by its number. */
export function idOf(number: number): string {
  return formatUuid(hashOf('id', number).subarray(0, 16));
}

/** Inserts rows, a fixed number per transaction. Columns that they leave out are empty, or zero, where they need a value. */
function insert(
  sqlite: Sqlite.Database,
  table: string,
  count: number,
  row: (number: number) => Record<string, unknown>,
) {
  const needed = `SELECT name, type FROM pragma_table_info('${table}') WHERE "notnull" AND dflt_value IS NULL`;
  const all = sqlite.prepare(needed).all() as { name: string; type: string }[];
  const empty = Object.fromEntries(all.map(({ name, type }) => [name, type === 'TEXT' ? '' : 0]));
  const columns = Object.keys({ ...empty, ...row(0) });
  const statement = sqlite.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((name) => `@${name}`).join(', ')})`,
  );
  const write = sqlite.transaction((from: number, to: number) => {
    for (let number = from; number < to; number += 1) statement.run({ ...empty, ...row(number) });
  });
  for (let from = 0; from < count; from += 50_000) write(from, Math.min(from + 50_000, count));
}

function documentOf(number: number): Uint8Array {
  const [one, other] = [WORDS[number % WORDS.length], WORDS[(number * 7) % WORDS.length]];
  return encodeMetadata(
    metadataOf({
      name: `${one}-agent-${number}`,
      tagline: `Answers one question about ${one} and ${other}, quickly and with its sources.`,
      display_name: `Studio ${number % 1_000}`,
      custom_tags: [`${one}-${other}`, `kind-${number % 50}`],
    }),
  );
}

const STATUSES = ['completed', 'completed', 'completed', 'completed', 'completed', 'completed', 'refunded', 'disputed'];

/** Number of newest executions that are still in progress. */
const UNDER_WAY = 20;

/** The values of execution `number` for both tables; 0 is the oldest. */
function executionOf(number: number, { executions, agents }: Size) {
  const opened_at = EPOCH + Math.floor((number / executions) * SPAN_SECONDS);
  // Few agents have most of the calls.
  const listing = Math.floor((((number * 7_919) % 10_007) / 10_007) ** 3 * agents);
  const wallet = number % 2 === 0 ? 0 : 1 + (number % OTHER_WALLETS);
  return {
    id: idOf(number),
    wallet: addressOf('wallet', wallet),
    listing: addressOf('listing', listing),
    status: number >= executions - UNDER_WAY ? 'open' : (STATUSES[(number % 13) % STATUSES.length] as string),
    opened_at,
  };
}

/** Adds rows to `index.db` and `ledger.db` of a folder. */
async function fill(folder: string, size: Size): Promise<void> {
  const rowOf = (number: number) => executionOf(number, size);
  const index = openIndex(join(folder, 'index.db'));
  const ledger = openDatabase<LedgerTables>(join(folder, 'ledger.db'));
  migrate(ledger.sqlite, MIGRATIONS.ledger);
  for (const { sqlite } of [index, ledger]) sqlite.pragma('synchronous = OFF');
  insert(index.sqlite, 'listings', size.agents, (number) => ({
    listing: addressOf('listing', number),
    creator: addressOf('creator', number % Math.ceil(size.agents / 3)),
    price: 10_000 + ((number * 7_919) % 1_000_000),
    timeout_seconds: 60,
    min_timeout_seconds: 1,
    tag_mask: 1 << (number % STANDARD_TAGS.length),
    status: number % 20 === 19 ? 'paused' : 'active',
    listing_version: 1,
    metadata_hash: createHash('sha256').update(documentOf(number)).digest('hex'),
    deposited: 5_000_000,
    listed_at: EPOCH - ((number * 31) % 1_000_000),
    slot: 10,
  }));
  insert(index.sqlite, 'creators', Math.ceil(size.agents / 10), (number) => {
    return { wallet: addressOf('creator', number), verified: 1, verified_at: EPOCH, slot: 10 };
  });
  insert(ledger.sqlite, 'documents', size.agents, (number) => {
    const bytes = documentOf(number);
    const metadata_hash = createHash('sha256').update(bytes).digest('hex');
    const document = Buffer.from(bytes).toString('utf8');
    return {
      id: documentId(metadata_hash),
      metadata_hash,
      received_ms: EPOCH * 1_000,
      ...describe(document),
      document,
    };
  });
  insert(index.sqlite, 'executions', size.executions, (number) => {
    const { id, wallet, listing, status, opened_at } = rowOf(number);
    return {
      execution_id: id,
      record: `record ${number} of as many characters as one`,
      listing,
      caller: wallet,
      price: 250_000,
      fee_bps: 100,
      listing_version: 1,
      status,
      reason: status === 'refunded' ? number % 5 : null,
      creator_amount: status === 'completed' ? 247_500 : 0,
      platform_amount: status === 'completed' ? 2_500 : 0,
      execution_time_ms: 40 + (number % 100),
      opened_at,
      deadline: opened_at + 60,
      refund_at: opened_at + 660,
      settled_at: status === 'open' ? null : opened_at + 2,
      dispute_window_seconds: 259_200,
      opened_slot: opened_at * 2,
      open_index: number % 1_000,
      slot: opened_at * 2 + 4,
    };
  });
  const disputed = Array.from({ length: size.executions }, (_, number) => rowOf(number)).filter(
    ({ status }) => status === 'disputed',
  );
  insert(index.sqlite, 'disputes', disputed.length, (number) => {
    const { id, wallet, listing, opened_at } = disputed[number] as (typeof disputed)[number];
    return {
      dispute: `dispute of ${id}`,
      record: `record of ${id}`,
      execution_id: id,
      listing,
      caller: wallet,
      outcome: number % 10 === 0 ? 'open' : number % 2 === 0 ? 'upheld' : 'rejected',
      opened_at: opened_at + 10,
      slot: opened_at * 2 + 20,
    };
  });
  insert(ledger.sqlite, 'executions', size.executions, (number) => {
    const { id, wallet, listing, status, opened_at } = rowOf(number);
    const state = status === 'open' ? 'dispatched' : status === 'refunded' ? 'refunded' : 'settled';
    return {
      execution_id: id,
      wallet,
      listing,
      listing_version: 1,
      price: 250_000,
      max_cost: 250_000,
      timeout_seconds: 60,
      task: 'a task',
      parameters: '{}',
      state,
      created_ms: opened_at * 1_000,
      accepted_at: opened_at - 1,
      opened_at,
      dispatched_ms: opened_at * 1_000 + 400,
      execution_time_ms: 40 + (number % 100),
      refund_reason: state === 'refunded' ? number % 5 : null,
      settled_at: state === 'dispatched' ? null : opened_at + 2,
    };
  });
  // The same agents get the same ids at each size.
  index.sqlite.exec("DELETE FROM sqlite_sequence WHERE name = 'agents'");
  await refreshFigures(index.db);
  // The services start with an empty WAL.
  for (const { sqlite } of [index, ledger]) sqlite.pragma('wal_checkpoint(TRUNCATE)');
  index.close();
  ledger.close();
}

export const SMALL: Size = { executions: 2_000, agents: 200 };
export const LARGE: Size = { executions: 20_000, agents: 2_000 };

/** A folder with both, or with a PostgreSQL database that was analyzed. */
export async function makeFilled(size: Size): Promise<{ folder: string; databaseUrl: string | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), 'filled-'));
  await fill(folder, size);
  if (!onPostgres) return { folder, databaseUrl: undefined };
  const databaseUrl = await freshPostgres();
  await moveToPostgres(folder, databaseUrl);
  const client = await connectPostgres(databaseUrl, SCHEMAS.ledger);
  await client.query('VACUUM ANALYZE');
  await client.end();
  return { folder, databaseUrl };
}
