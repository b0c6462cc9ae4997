/** The tables of metadata documents: those that are shown, and those that wait for their listing. */
import { type Kysely, sql } from 'kysely';
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
export interface PendingLimits {
  /** For the current poster. */
  own: number;
  /** For all posters without a session together. */
  ofNetworks: number;
  /** For all unknown wallets together. Documents of the network with the most of them are evicted. */
  ofStrangers: number;
}

/** The text of a shown or pending document. A pending one may have been listed a moment ago. */
export async function readDocument(views: Views, metadataHash: string): Promise<string | undefined> {
  const find = (table: 'metadata' | 'pending_metadata') =>
    views.selectFrom(table).select('document').where('metadata_hash', '=', metadataHash).executeTakeFirst();
  return ((await find('metadata')) ?? (await find('pending_metadata')))?.document;
}

/** True if a listing or an unfinished execution needs the document. */
export async function isNeeded(views: Views, metadataHash: string): Promise<boolean> {
  const listing = await views
    .selectFrom('chain.listings')
    .select('listing')
    .where('metadata_hash', '=', metadataHash)
    .executeTakeFirst();
  if (listing) return true;
  const execution = await views
    .selectFrom('executions')
    .select('execution_id')
    .where('metadata_hash', '=', metadataHash)
    .where(IS_UNFINISHED)
    .executeTakeFirst();
  return execution !== undefined;
}

/** Keeps a document that is needed. One that exists gets the new time of receipt, unix ms. */
export async function insertMetadata(
  ledger: Ledger,
  { metadataHash: metadata_hash, document, receivedMs }: { metadataHash: string; document: string; receivedMs: number },
): Promise<void> {
  const received_ms = BigInt(receivedMs);
  await ledger
    .insertInto('metadata')
    .values({ metadata_hash, document, received_ms })
    .onConflict((conflict) => conflict.column('metadata_hash').doUpdateSet({ received_ms }))
    .execute();
}

/** Keeps a document that waits for its listing. */
export async function insertPending(
  ledger: Ledger,
  posted: Poster & { metadataHash: string; document: string; receivedMs: number },
): Promise<void> {
  const { metadataHash: metadata_hash, wallet, network, document } = posted;
  const received_ms = BigInt(posted.receivedMs);
  await ledger
    .insertInto('pending_metadata')
    .values({ metadata_hash, wallet, network, is_known: posted.isKnown ? 1n : 0n, received_ms, document })
    .onConflict((conflict) => conflict.columns(['metadata_hash', 'wallet', 'network']).doUpdateSet({ received_ms }))
    .execute();
}

/** True if this wallet's session posted the document, and it is still pending. */
export async function isPendingOf(views: Views, metadataHash: string, wallet: string): Promise<boolean> {
  const row = await views
    .selectFrom('pending_metadata')
    .select('wallet')
    .where('metadata_hash', '=', metadataHash)
    .where('wallet', '=', wallet)
    .executeTakeFirst();
  return row !== undefined;
}

/** The hashes, out of these, of pending documents that have a listing by now. */
export async function readListedPending(views: Views, hashes: string[]): Promise<string[]> {
  if (hashes.length === 0) return [];
  const listed = await views
    .selectFrom('pending_metadata as p')
    .select('p.metadata_hash')
    .where('p.metadata_hash', 'in', hashes)
    .where(sql<boolean>`EXISTS (SELECT 1 FROM chain.listings AS l WHERE l.metadata_hash = p.metadata_hash)`)
    .execute();
  return [...new Set(listed.map((row) => row.metadata_hash))];
}

/** Moves pending documents to the shown ones. */
export async function movePending(ledger: Ledger, hashes: string[]): Promise<void> {
  await ledger
    .insertInto('metadata')
    .columns(['metadata_hash', 'document', 'received_ms'])
    .expression((from) =>
      from
        .selectFrom('pending_metadata')
        .select(['metadata_hash', 'document', 'received_ms'])
        .where('metadata_hash', 'in', hashes),
    )
    .onConflict((conflict) => conflict.column('metadata_hash').doNothing())
    .execute();
  await ledger.deleteFrom('pending_metadata').where('metadata_hash', 'in', hashes).execute();
}

/** A pending document and its poster. */
export interface Waiting extends Pick<Poster, 'wallet' | 'network'> {
  metadata_hash: string;
}

/** Must match the partial index. */
const OF_STRANGERS = sql`wallet <> '' AND is_known = 0`;

/**
 * Pending documents to drop: those received before `oldestMs` (unix ms), and the oldest beyond each limit. At most
 * `most` of each.
 */
export async function readSurplusPending(
  views: Views,
  { wallet, network }: Pick<Poster, 'wallet' | 'network'>,
  oldestMs: number,
  limits: PendingLimits,
  most: number,
): Promise<Waiting[]> {
  const ofOne = wallet === '' ? sql`network = ${network}` : sql`TRUE`;
  const { rows } = await sql<Waiting>`
    SELECT metadata_hash, wallet, network FROM (
      SELECT metadata_hash, wallet, network FROM pending_metadata WHERE received_ms < ${BigInt(oldestMs)} LIMIT ${most}) AS old
    UNION SELECT metadata_hash, wallet, network FROM (
      SELECT metadata_hash, wallet, network FROM pending_metadata WHERE wallet = ${wallet} AND ${ofOne}
      ORDER BY received_ms DESC LIMIT ${most} OFFSET ${limits.own}) AS own
    UNION SELECT metadata_hash, wallet, network FROM (
      SELECT metadata_hash, wallet, network FROM pending_metadata WHERE wallet = ''
      ORDER BY received_ms DESC LIMIT ${most} OFFSET ${limits.ofNetworks}) AS of_networks
    UNION SELECT metadata_hash, wallet, network FROM (
      SELECT metadata_hash, wallet, network FROM pending_metadata WHERE ${OF_STRANGERS} AND network = (
        SELECT network FROM pending_metadata WHERE ${OF_STRANGERS} GROUP BY network ORDER BY count(*) DESC, network LIMIT 1)
      ORDER BY received_ms LIMIT (
        SELECT CASE WHEN count(*) > ${limits.ofStrangers} THEN count(*) - ${limits.ofStrangers} ELSE 0 END
        FROM pending_metadata WHERE ${OF_STRANGERS})) AS of_strangers`.execute(views);
  return rows;
}

/** Drops these. Returns the number that still existed. */
export async function dropPending(ledger: Ledger, surplus: Waiting[]): Promise<number> {
  let dropped = 0n;
  for (const { metadata_hash, wallet, network } of surplus) {
    const { numDeletedRows } = await ledger
      .deleteFrom('pending_metadata')
      .where('metadata_hash', '=', metadata_hash)
      .where('wallet', '=', wallet)
      .where('network', '=', network)
      .executeTakeFirst();
    dropped += numDeletedRows;
  }
  return Number(dropped);
}

/** Up to `limit` documents in order of their hashes, from `start` on. */
export function readMetadataFrom(views: Views, start: string, limit: number) {
  return views
    .selectFrom('metadata')
    .select(['metadata_hash', 'received_ms'])
    .where('metadata_hash', '>=', start)
    .orderBy('metadata_hash')
    .limit(limit)
    .execute();
}

/** Drops documents that nothing needs any more. */
export async function dropMetadata(ledger: Ledger, hashes: string[]): Promise<void> {
  await ledger.deleteFrom('metadata').where('metadata_hash', 'in', hashes).execute();
}
