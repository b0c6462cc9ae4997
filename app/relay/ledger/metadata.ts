/** The tables of metadata documents, and of those who posted documents that wait for their listing. */
import { type Kysely, type Selectable, sql } from 'kysely';
import { hasRows } from '../../database/portable.ts';
import { mayGo } from './displacing.ts';
import { IS_UNFINISHED, type LedgerDatabase, type LedgerTables } from './tables.ts';

type Ledger = Kysely<LedgerTables>;
type Views = Kysely<LedgerDatabase>;

/** The poster of a document. */
export interface Poster {
  /** Empty if no session posted it. */
  wallet: string;
  /** The network of the poster's address. */
  network: string;
  /** True if unknown wallets cannot displace its documents. */
  isKnown: boolean;
}

/** Maximum pending documents. The oldest are dropped first. */
interface PendingLimits {
  /** For the current poster. */
  own: number;
  /** For all posters without a session together. */
  ofNetworks: number;
  /** For all unknown wallets together. */
  ofStrangers: number;
}

/** The text of a document. */
export async function readDocument(views: Views, metadataHash: string): Promise<string | undefined> {
  const query = views.selectFrom('documents').select('document').where('metadata_hash', '=', metadataHash);
  return (await query.executeTakeFirst())?.document;
}

/** True if a listing or an unfinished execution needs the document. */
export async function isNeeded(views: Views, metadataHash: string): Promise<boolean> {
  const listing = sql`SELECT 1 FROM chain.listings WHERE metadata_hash = ${metadataHash}`;
  const execution = sql`SELECT 1 FROM executions WHERE metadata_hash = ${metadataHash} AND ${IS_UNFINISHED}`;
  return (await hasRows(views, listing)) || hasRows(views, execution);
}

/** The part of a document's row that follows from its text. */
export type Described = Pick<Selectable<LedgerTables['documents']>, 'description' | 'words' | 'is_sandbox'>;

/** The id of a document: the first 60 bits of its hash. The index computes the same for its listings. */
export const documentId = (metadataHash: string): bigint => BigInt(`0x${metadataHash.slice(0, 15)}`);

/**
 * Stores a document. One that exists gets the new time of receipt, unix ms. Of two documents with the same id, which
 * somebody must have made on purpose, only the first is stored.
 */
export async function insertDocument(
  ledger: Ledger,
  row: Described & { metadata_hash: string; document: string; receivedMs: number },
): Promise<void> {
  const { receivedMs, ...document } = row;
  const received_ms = BigInt(receivedMs);
  const { numUpdatedRows } = await ledger
    .updateTable('documents')
    .set({ received_ms })
    .where('metadata_hash', '=', document.metadata_hash)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  await ledger
    .insertInto('documents')
    .values({ id: documentId(document.metadata_hash), received_ms, ...document })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Notes the poster of a document that waits for its listing. */
export async function insertPending(
  ledger: Ledger,
  posted: Poster & { metadataHash: string; receivedMs: number },
): Promise<void> {
  const { metadataHash: metadata_hash, wallet, network } = posted;
  const received_ms = BigInt(posted.receivedMs);
  await ledger
    .insertInto('pending_metadata')
    .values({ metadata_hash, wallet, network, is_known: posted.isKnown ? 1n : 0n, received_ms })
    .onConflict((conflict) => conflict.columns(['metadata_hash', 'wallet', 'network']).doUpdateSet({ received_ms }))
    .execute();
}

/** True if somebody's document of this hash is pending. */
export const isPending = (views: Views, metadataHash: string): Promise<boolean> =>
  hasRows(views, sql`SELECT 1 FROM pending_metadata WHERE metadata_hash = ${metadataHash}`);

/** True if this wallet's session posted the document, and it is still pending. */
export const isPendingOf = (views: Views, metadataHash: string, wallet: string): Promise<boolean> =>
  hasRows(views, sql`SELECT 1 FROM pending_metadata WHERE metadata_hash = ${metadataHash} AND wallet = ${wallet}`);

/** A pending document and its poster. */
interface Waiting extends Pick<Poster, 'wallet' | 'network'> {
  metadata_hash: string;
}

/** Must match the partial index. */
const OF_STRANGERS = sql`wallet <> '' AND is_known = 0`;

/**
 * Pending documents to drop: those of this poster that have a listing, those received before `oldestMs` (unix ms), and
 * the oldest beyond each limit. At most `most` of each.
 */
export async function readSurplusPending(
  views: Views,
  { wallet, network }: Pick<Poster, 'wallet' | 'network'>,
  oldestMs: number,
  limits: PendingLimits,
  most: number,
): Promise<Waiting[]> {
  const ofOne = wallet === '' ? sql`network = ${network}` : sql`TRUE`;
  // The plus keeps SQLite from reading the index of all rows by age instead of the one of strangers' rows.
  const { rows } = await sql<Waiting>`
    SELECT metadata_hash, wallet, network FROM (
      SELECT metadata_hash, wallet, network FROM pending_metadata AS p WHERE wallet = ${wallet} AND ${ofOne}
      AND EXISTS (SELECT 1 FROM chain.listings AS l WHERE l.metadata_hash = p.metadata_hash) LIMIT ${most}) AS listed
    UNION SELECT metadata_hash, wallet, network FROM (
      SELECT metadata_hash, wallet, network FROM pending_metadata WHERE received_ms < ${BigInt(oldestMs)} LIMIT ${most}) AS old
    UNION SELECT metadata_hash, wallet, network FROM (
      SELECT metadata_hash, wallet, network FROM pending_metadata WHERE wallet = ${wallet} AND ${ofOne}
      ORDER BY received_ms DESC LIMIT ${most} OFFSET ${limits.own}) AS own
    UNION SELECT metadata_hash, wallet, network FROM (
      SELECT metadata_hash, wallet, network FROM pending_metadata WHERE wallet = ''
      ORDER BY received_ms DESC LIMIT ${most} OFFSET ${limits.ofNetworks}) AS of_networks
    UNION SELECT metadata_hash, wallet, network FROM (
      SELECT metadata_hash, wallet, network FROM pending_metadata WHERE ${mayGo('pending_metadata', OF_STRANGERS)}
      ORDER BY +received_ms LIMIT (
        SELECT CASE WHEN count(*) > ${limits.ofStrangers} THEN count(*) - ${limits.ofStrangers} ELSE 0 END
        FROM pending_metadata WHERE ${OF_STRANGERS})) AS of_strangers`.execute(views);
  return rows;
}

export async function dropPending(ledger: Ledger, surplus: Waiting[]): Promise<void> {
  for (const { metadata_hash, wallet, network } of surplus) {
    await ledger
      .deleteFrom('pending_metadata')
      .where('metadata_hash', '=', metadata_hash)
      .where('wallet', '=', wallet)
      .where('network', '=', network)
      .execute();
  }
}

/** Up to `limit` documents in order of their hashes, from `start` on. */
export function readDocumentsFrom(views: Views, start: string, limit: number) {
  return views
    .selectFrom('documents')
    .select(['metadata_hash', 'received_ms'])
    .where('metadata_hash', '>=', start)
    .orderBy('metadata_hash')
    .limit(limit)
    .execute();
}

/** Drops documents that nothing needs any more. Returns the number that still existed. */
export async function dropDocuments(ledger: Ledger, hashes: string[]): Promise<number> {
  const query = ledger.deleteFrom('documents').where('metadata_hash', 'in', hashes);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}
