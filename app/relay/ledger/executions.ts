/** The table of executions as it is read: one row, and what the rows of a wallet or a listing add up to. */
import { type Kysely, sql } from 'kysely';
import type { OpenDatabase } from '../../database/open.ts';
import { preparedOf } from '../../database/prepared.ts';
import { IS_UNFINISHED, type JournalRow, type LedgerDatabase, type LedgerTables } from './tables.ts';
import type { Writing } from './writing.ts';

/** The row of this id, by a statement that is kept ready. */
export async function readExecutionRow(
  { db, compile }: Pick<Writing, 'db' | 'compile'>,
  id: string,
): Promise<JournalRow | undefined> {
  const query = () => db.selectFrom('executions').selectAll().where('execution_id', '=', id);
  return (await db.executeQuery(compile('get', [id], query))).rows[0];
}

/** What decides how a call that comes again is answered. */
export function readStanding(ledger: Kysely<LedgerTables>, executionId: string) {
  return ledger
    .selectFrom('executions')
    .select(['state', 'refund_state', 'fingerprint', 'listing', 'request_hash'])
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
}

/**
 * Whether a transaction that opened or ended an execution is of this ledger. Of a row that signed again after its first
 * bytes were dead, or were taken back by the chain, the ledger no longer has all; of a record without a row of its own, it
 * has nothing but a refund.
 */
export async function hasSigned(
  ledger: Kysely<LedgerTables>,
  executionId: string,
  signature: string,
): Promise<boolean> {
  const row = await ledger
    .selectFrom('executions')
    .select(['metadata_hash', 'open_signature', 'settle_signature', 'refund_signature', 'reopens', 'rebuilds'])
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  if (!row) return false;
  if ([row.open_signature, row.settle_signature, row.refund_signature].includes(signature)) return true;
  return row.metadata_hash !== '' && (row.reopens > 0n || row.rebuilds > 0n);
}

/** How one ended execution of a listing went. */
export interface ListingOutcome {
  wallet: string;
  state: JournalRow['state'];
  created_ms: bigint;
  execution_time_ms: bigint | null;
}

/** Reasons of refunds by their numbers: below `firstOther` the creator's fault, `timeout` only after all of its time. */
export interface CreatorReasons {
  firstOther: number;
  timeout: number;
}

function isCreatorsFault({ firstOther, timeout }: CreatorReasons): string {
  return `(refund_reason < ${firstOther}
    AND NOT (refund_reason = ${timeout} AND timeout_seconds < coalesce(listing_timeout_seconds, 0)))`;
}

/**
 * Reads the last executions of a listing that count for its health, newest first: the paid ones, and those refunded for a
 * reason below `firstOther`; those with the reason `timeout` only where the caller gave all of the listing's time.
 */
export function createOutcomeReader(
  ledger: OpenDatabase<LedgerTables>,
  reasons: CreatorReasons,
): (listing: string, limit: number) => Promise<ListingOutcome[]> {
  const { compile } = preparedOf(ledger.db);
  const query = (listing: string, limit: number) => sql<ListingOutcome>`
    SELECT wallet, state, created_ms, execution_time_ms FROM executions
    WHERE listing = ${listing} AND state IN ('settled', 'refunding', 'refunded')
      AND (state = 'settled' OR ${sql.raw(isCreatorsFault(reasons))})
    ORDER BY created_ms DESC LIMIT ${limit}`;
  return async (listing, limit) => {
    const build = () => ({ compile: () => query(listing, limit).compile(ledger.db) });
    return (await ledger.run(compile('outcomes', [listing, limit], build))).rows as ListingOutcome[];
  };
}

/** Most kinds of failure that one answer names. */
const MAX_FAILURES = 50;

interface Failure {
  code: string;
  message: string;
  count: bigint;
  /** Unix seconds. */
  last_at: bigint;
}

/** Why executions of a listing that began since then failed by its creator's fault, the most frequent first. */
export async function readFailures(
  views: Kysely<LedgerDatabase>,
  listing: string,
  sinceMs: number,
  reasons: CreatorReasons,
): Promise<Failure[]> {
  const { rows } = await sql<Failure>`
    SELECT
      coalesce(error_code, 'execution_failed') AS code,
      coalesce(error_message, '') AS message,
      count(*) AS count,
      max(coalesce(settled_at, created_ms / 1000)) AS last_at
    FROM executions
    WHERE listing = ${listing} AND created_ms >= ${BigInt(sinceMs)} AND state = 'refunded'
      AND ${sql.raw(isCreatorsFault(reasons))}
    GROUP BY 1, 2 ORDER BY count DESC, last_at DESC LIMIT ${MAX_FAILURES}`.execute(views);
  return rows;
}

/** Network fees since then that nobody has paid for, lamports: of executions, and of revoked keys. */
export async function readBurnt(views: Kysely<LedgerDatabase>, sinceMs: number): Promise<bigint> {
  const { rows } = await sql<{ burnt: bigint }>`SELECT
    (SELECT coalesce(sum(lost_fees), 0) FROM executions WHERE lost_fees > 0 AND created_ms > ${BigInt(sinceMs)})
    + (SELECT coalesce(sum(fee), 0) FROM revocations WHERE sent_ms > ${BigInt(sinceMs)}) AS burnt`.execute(views);
  return rows[0]!.burnt;
}

/** What has not ended and was taken first. */
export function readOldestUnfinished(views: Kysely<LedgerDatabase>) {
  return views
    .selectFrom('executions')
    .select(['execution_id', 'state', 'created_ms'])
    .where(IS_UNFINISHED)
    .orderBy('created_ms')
    .limit(1)
    .executeTakeFirst();
}

/** How many executions have not ended, how many of them are parked, and when the oldest was taken, unix ms. */
export function countUnfinished(views: Kysely<LedgerDatabase>) {
  // The states are written out as the partial index has them.
  return views
    .selectFrom('executions')
    .select((select) => [
      select.fn.countAll<bigint>().as('rows'),
      select.fn.min('created_ms').as('oldest_ms'),
      select.fn.countAll<bigint>().filterWhere('state', '=', 'parked').as('parked'),
    ])
    .where(IS_UNFINISHED)
    .executeTakeFirstOrThrow();
}
