/**
 * Documents that wait for their listing, in a table of their own: what a listing carries moves to `metadata` when the
 * agents are next listed or a document comes. Each step is one statement, so that several relays may take it at once and
 * a crash between two leaves nothing that the next does not mend.
 */
import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Logger } from 'pino';
import { IS_UNFINISHED, type LedgerDatabase, type LedgerTables } from '../ledger/tables.ts';

export interface PendingDeps {
  /** ledger.db for writing. */
  ledger: Kysely<LedgerTables>;
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  /** Unix milliseconds. */
  now(): number;
  log: Logger;
}

/** How long a document waits. */
const PENDING_MS = 24 * 60 * 60 * 1000;
/** How many wait that nobody's session posted; the oldest make room. At 64 KiB each, 32 MiB. */
const MAX_ANONYMOUS = 500;
/** How many wait for one wallet: a creator needs one, for the minute between test and listing. */
const MAX_OF_WALLET = 20;
/** How many wait for all wallets, which cost nothing to make; the oldest make room. 320 MiB at the very worst. */
const MAX_OF_WALLETS = 5_000;
/** Documents that each post looks at, whether anything still needs them. */
const SWEPT = 20;

export interface PostedMetadata {
  metadataHash: string;
  document: string;
  /** Whose session posted it; null where nobody's did. */
  wallet: string | null;
}

/** Keeps a document that has passed every rule: for good where a listing or an unfinished execution needs it. */
export async function keepMetadata(deps: PendingDeps, posted: PostedMetadata): Promise<void> {
  const { metadataHash: metadata_hash, document } = posted;
  const received_ms = BigInt(deps.now());
  const wallet = posted.wallet ?? '';
  if (await isNeeded(deps, metadata_hash)) {
    await deps.ledger
      .insertInto('metadata')
      .values({ metadata_hash, document, received_ms })
      .onConflict((conflict) => conflict.column('metadata_hash').doUpdateSet({ received_ms }))
      .execute();
  } else {
    await deps.ledger
      .insertInto('pending_metadata')
      .values({ metadata_hash, wallet, received_ms, document })
      .onConflict((conflict) => conflict.columns(['metadata_hash', 'wallet']).doUpdateSet({ received_ms }))
      .execute();
  }
  // What has found its listing since is moved first, because it is not to be dropped.
  await promotePending(deps);
  await dropPending(deps, wallet);
  await sweepMetadata(deps);
}

/** Moves what a listing carries by now to `metadata`, which lists are made from. */
export async function promotePending(deps: PendingDeps): Promise<void> {
  const listed = await deps.views
    .selectFrom('pending_metadata as p')
    .select('p.metadata_hash')
    .where(sql<boolean>`EXISTS (SELECT 1 FROM chain.listings AS l WHERE l.metadata_hash = p.metadata_hash)`)
    .execute();
  const hashes = [...new Set(listed.map((row) => row.metadata_hash))];
  if (hashes.length === 0) return;
  await deps.ledger
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
  await deps.ledger.deleteFrom('pending_metadata').where('metadata_hash', 'in', hashes).execute();
}

/** Whether this wallet's session posted the document, and it still waits for its listing. */
export async function isPendingOf(
  { views }: Pick<PendingDeps, 'views'>,
  metadataHash: string,
  wallet: string,
): Promise<boolean> {
  const row = await views
    .selectFrom('pending_metadata')
    .select('wallet')
    .where('metadata_hash', '=', metadataHash)
    .where('wallet', '=', wallet)
    .executeTakeFirst();
  return row !== undefined;
}

async function isNeeded({ views }: PendingDeps, metadataHash: string): Promise<boolean> {
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

/** Drops what has waited too long, and the oldest of too many: of this wallet, or of those that are nobody's. */
async function dropPending(deps: PendingDeps, wallet: string): Promise<void> {
  const oldest = BigInt(deps.now() - PENDING_MS);
  const own = wallet === '' ? MAX_ANONYMOUS : MAX_OF_WALLET;
  const { numAffectedRows: dropped = 0n } = await sql`
    DELETE FROM pending_metadata WHERE rowid IN (
      SELECT rowid FROM pending_metadata WHERE received_ms < ${oldest}
      UNION ALL SELECT rowid FROM (
        SELECT rowid FROM pending_metadata WHERE wallet = ${wallet}
        ORDER BY received_ms DESC LIMIT -1 OFFSET ${own})
      UNION ALL SELECT rowid FROM (
        SELECT rowid FROM pending_metadata WHERE wallet <> ''
        ORDER BY received_ms DESC LIMIT -1 OFFSET ${MAX_OF_WALLETS}))`.execute(deps.ledger);
  if (dropped > 0n) deps.log.info({ dropped: Number(dropped) }, 'metadata that no listing carries was dropped');
}

/**
 * Drops documents that a listing or execution needed once. A few at a random place at each post keep pace with what posts
 * can leave behind, and no request ever looks at all.
 */
async function sweepMetadata(deps: PendingDeps): Promise<void> {
  const oldest = BigInt(deps.now() - PENDING_MS);
  const from = (start: string) =>
    deps.views
      .selectFrom('metadata')
      .select(['metadata_hash', 'received_ms'])
      .where('metadata_hash', '>=', start)
      .orderBy('metadata_hash')
      .limit(SWEPT)
      .execute();
  const rows = await from(randomBytes(32).toString('hex'));
  if (rows.length < SWEPT) rows.push(...(await from('')));
  const old = new Set(rows.filter((row) => row.received_ms < oldest).map((row) => row.metadata_hash));
  const unneeded: string[] = [];
  for (const hash of old) if (!(await isNeeded(deps, hash))) unneeded.push(hash);
  if (unneeded.length > 0) await deps.ledger.deleteFrom('metadata').where('metadata_hash', 'in', unneeded).execute();
}
