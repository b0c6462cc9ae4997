/** Reads the table of executions: single rows, and sums over the rows of a wallet or a listing. */
import { type Kysely, sql } from 'kysely';
import type { OpenDatabase } from '../../database/open.ts';
import { textsOf } from '../../database/portable.ts';
import { EXECUTIONS_COLUMNS } from './generated.ts';
import { IS_UNFINISHED, type JournalRow, type LedgerDatabase, type LedgerTables } from './tables.ts';
import { readTransactions, signatureOf } from './transactions.ts';
import type { Writing } from './writing.ts';

/** The row of this id. */
export async function readExecutionRow(
  writing: Pick<Writing, 'db' | 'compile'>,
  id: string,
): Promise<JournalRow | undefined> {
  const { db, compile } = writing;
  const query = compile('row', { id }, (named) =>
    db.selectFrom('executions').select(EXECUTIONS_COLUMNS).where('execution_id', '=', named.id),
  );
  const [row] = (await db.executeQuery(query)).rows;
  // The transactions are read last: those of its state are there.
  return row && { ...row, transactions: await readTransactions(writing, id) };
}

/** The columns that decide the answer to a repeated call. */
export function readStanding(ledger: Kysely<LedgerTables>, executionId: string) {
  return ledger
    .selectFrom('executions')
    .select(['state', 'refund_state', 'wallet', 'fingerprint', 'listing', 'request_hash'])
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
}

/**
 * The id of a wallet's call whose nonce ends with this tail; null if there is none. A void call never paid, and another
 * one may take its key.
 */
export async function readIdByTail(
  ledger: Kysely<LedgerTables>,
  wallet: string,
  tail: Uint8Array,
): Promise<string | null> {
  const row = await ledger
    .selectFrom('executions')
    .select('execution_id')
    .where('wallet', '=', wallet)
    .where(sql<boolean>`${TAIL} = ${Buffer.from(tail).toString('hex')}`)
    .where(IS_KEYED)
    .executeTakeFirst();
  return row?.execution_id ?? null;
}

/** The last 12 bytes of a nonce, hex, and the condition of their unique index. */
export const TAIL = sql<string>`substr(nonce, 9)`;
export const IS_KEYED = sql<boolean>`fingerprint IS NOT NULL AND state <> 'void'`;

/** Which of these executions of a wallet the index knows; the one that was opened last. Null if none. */
export async function readIndexedId(
  views: Kysely<LedgerDatabase>,
  wallet: string,
  ids: readonly string[],
): Promise<string | null> {
  const row = await views
    .selectFrom('chain.executions')
    .select('execution_id')
    .where(sql<boolean>`execution_id IN ${textsOf(views, ids)}`)
    .where('caller', '=', wallet)
    .orderBy('opened_at', 'desc')
    .executeTakeFirst();
  return row?.execution_id ?? null;
}

/** Columns of a call that is found by its deposit, or by its payer's id of the payment. A void call releases both. */
const DEPOSIT_COLUMNS = [
  'execution_id',
  'wallet',
  'state',
  'refund_state',
  'fingerprint',
  'listing',
  'request_hash',
  'deposit',
  'price',
  'service_fee',
] as const;

export type DepositCall = Pick<JournalRow, (typeof DEPOSIT_COLUMNS)[number]> & {
  /** Of the payment, once this service has signed it. */
  pay_signature: string | null;
  refund_signature: string | null;
};

const depositCalls = (ledger: Kysely<LedgerTables>) =>
  ledger
    .selectFrom('executions')
    .select(DEPOSIT_COLUMNS)
    .select([signatureOf('pay').as('pay_signature'), signatureOf('refund', 'return').as('refund_signature')]);

export function readByDeposit(ledger: Kysely<LedgerTables>, deposit: string): Promise<DepositCall | undefined> {
  return depositCalls(ledger).where('deposit', '=', deposit).where(sql<boolean>`state <> 'void'`).executeTakeFirst();
}

export function readByPayment(
  ledger: Kysely<LedgerTables>,
  wallet: string,
  paymentId: string,
): Promise<DepositCall | undefined> {
  return depositCalls(ledger)
    .where('wallet', '=', wallet)
    .where('payment_id', '=', paymentId)
    .where(sql<boolean>`state <> 'void'`)
    .executeTakeFirst();
}

/** The same columns of any call. */
export function readDepositCall(ledger: Kysely<LedgerTables>, executionId: string): Promise<DepositCall | undefined> {
  return depositCalls(ledger).where('execution_id', '=', executionId).executeTakeFirst();
}

/** Number of changes of the agent's listing since `sinceMs` that ended x402 calls, paid or not. */
export async function countChangedListings(
  ledger: Kysely<LedgerTables>,
  listing: string,
  sinceMs: number,
): Promise<number> {
  const { count } = await ledger
    .selectFrom('executions')
    .select((select) => select.fn.count<bigint>('listing_version').distinct().as('count'))
    .where('listing', '=', listing)
    .where('created_ms', '>', BigInt(sinceMs))
    // As in the partial index.
    .where(sql<boolean>`state IN ('returning', 'returned', 'void') AND error_code = 'price_changed'
      AND deposit IS NOT NULL`)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The outcome of one ended execution of a listing. */
interface ListingOutcome {
  wallet: string;
  state: JournalRow['state'];
  execution_time_ms: bigint | null;
}

/**
 * Numbers of refund reasons. Reasons below `firstOther` are the creator's fault, but `timeout` only if the caller gave
 * all of the listing's time.
 */
interface CreatorReasons {
  firstOther: number;
  timeout: number;
}

function isCreatorsFault({ firstOther, timeout }: CreatorReasons): string {
  return `(refund_reason < ${firstOther}
    AND NOT (refund_reason = ${timeout} AND timeout_seconds < coalesce(listing_timeout_seconds, 0)))`;
}

/**
 * Reads the last executions of a listing that count for its health, newest first: the paid ones, and those refunded by
 * the creator's fault.
 */
export function createOutcomeReader(
  ledger: OpenDatabase<LedgerTables>,
  reasons: CreatorReasons,
): (listing: string, limit: number) => Promise<ListingOutcome[]> {
  const query = (listing: string, limit: number) => sql<ListingOutcome>`
    SELECT wallet, state, execution_time_ms FROM executions
    WHERE listing = ${listing} AND state IN ('settled', 'refunding', 'refunded')
      AND (state = 'settled' OR ${sql.raw(isCreatorsFault(reasons))})
    ORDER BY created_ms DESC LIMIT ${limit}`;
  return async (listing, limit) =>
    (await ledger.run(query(listing, limit).compile(ledger.db))).rows as ListingOutcome[];
}

/** Longer requests, in bytes, are only in receipts: reading one here would block the relay. */
const MAX_ASKED_BYTES = 100_000;

/** Task and parameters of a wallet's own execution; undefined if they are unknown here, too long, or deleted. */
export function readAsked(views: Kysely<LedgerDatabase>, wallet: string, executionId: string) {
  return views
    .selectFrom('executions')
    .select(['task', 'parameters'])
    .where('execution_id', '=', executionId)
    .where('wallet', '=', wallet)
    .where('metadata_hash', '<>', '')
    .where('content_deleted_ms', 'is', null)
    .where(sql<boolean>`octet_length(task) + octet_length(parameters) <= ${sql.lit(MAX_ASKED_BYTES)}`)
    .executeTakeFirst();
}

/** Maximum kinds of failure in one answer. */
const MAX_FAILURES = 50;

interface Failure {
  code: string;
  message: string;
  count: bigint;
  /** Unix seconds. */
  last_at: bigint;
}

/** Executions are listed up to so long before their end, ms: longer ones are refunds that wait for the caller. */
const LONGEST_MS = 7 * 86_400_000;

/**
 * Reasons why executions of a listing that ended since `since`, unix seconds, failed by its creator's fault, the most
 * frequent first. An upheld dispute is one of them.
 */
export async function readFailures(
  views: Kysely<LedgerDatabase>,
  listing: string,
  since: number,
  reasons: CreatorReasons,
): Promise<Failure[]> {
  const { rows } = await sql<Failure>`
    SELECT
      coalesce(error_code, 'execution_failed') AS code,
      coalesce(error_message, '') AS message,
      count(*) AS count,
      max(coalesce(settled_at, created_ms / 1000)) AS last_at
    FROM executions
    WHERE listing = ${listing} AND created_ms >= ${BigInt(since * 1_000 - LONGEST_MS)} AND state = 'refunded'
      AND coalesce(settled_at, created_ms / 1000) >= ${BigInt(since)} AND ${sql.raw(isCreatorsFault(reasons))}
    GROUP BY 1, 2
    UNION ALL
    SELECT 'dispute_upheld', 'A caller disputed the result, and the dispute was upheld', count(*),
      max(coalesce(d.resolved_at, e.settled_at))
    FROM chain.disputes AS d JOIN chain.executions AS e ON e.execution_id = d.execution_id
    WHERE d.listing = ${listing} AND d.outcome = 'upheld' AND e.settled_at >= ${BigInt(since)}
    HAVING count(*) > 0
    ORDER BY count DESC, last_at DESC LIMIT ${MAX_FAILURES}`.execute(views);
  return rows;
}

/** Unpaid network fees since `sinceMs`, lamports: of executions, and of revoked keys. */
export async function readBurnt(views: Kysely<LedgerDatabase>, sinceMs: number): Promise<bigint> {
  const { rows } = await sql<{ burnt: bigint }>`SELECT
    (SELECT coalesce(sum(lost_fees + listing_fees), 0) FROM executions
      WHERE (lost_fees > 0 OR listing_fees > 0) AND lost_ms > ${BigInt(sinceMs)})
    + (SELECT coalesce(sum(fee), 0) FROM revocations WHERE sent_ms > ${BigInt(sinceMs)}) AS burnt`.execute(views);
  return rows[0]!.burnt;
}

/** The oldest unfinished execution. */
export function readOldestUnfinished(views: Kysely<LedgerDatabase>) {
  return views
    .selectFrom('executions')
    .select(['execution_id', 'state', 'created_ms'])
    .where(IS_UNFINISHED)
    .orderBy('created_ms')
    .limit(1)
    .executeTakeFirst();
}

/** Counts unfinished and parked executions, deposits and waiting refunds, with the time of the oldest, unix ms. */
export function countUnfinished(views: Kysely<LedgerDatabase>) {
  // The states are literals, as in the partial index.
  return views
    .selectFrom('executions')
    .select((select) => [
      select.fn.countAll<bigint>().as('rows'),
      select.fn.min('created_ms').as('oldest_ms'),
      select.fn.countAll<bigint>().filterWhere('state', '=', 'parked').as('parked'),
      select.fn
        .countAll<bigint>()
        .filterWhere('state', 'in', ['deposit_signed', 'deposit_confirmed', 'pay_signed', 'paid', 'returning'])
        .as('deposits'),
      select.fn.countAll<bigint>().filterWhere('refund_state', '=', 'waiting').as('waiting_refunds'),
    ])
    .where(IS_UNFINISHED)
    .executeTakeFirstOrThrow();
}
