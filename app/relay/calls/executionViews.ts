/**
 * Executions as callers read them: the relay's journal (`j`) joined with the chain's records (`c`). The journal is
 * ahead for recent events, and the chain is right about ended executions.
 *
 * Executions that only the chain has are shown from there. An execution that is only accepted is hidden: it has no
 * transaction, and nobody knows its id.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ExecutionStatusName } from '../../../indexer/queries/tables.ts';
import type { DisputeOutcome } from '../../sdk/wire/choices.ts';
import { type ExecutionStatus, TASK_CHARACTERS } from '../../sdk/wire/wire.ts';
import { NO_KEY } from '../ledger/funding.ts';
import type { ExecutionState, LedgerDatabase, RefundState } from '../ledger/tables.ts';

/** One execution from either table or both. Times are unix seconds, amounts base units. */
export interface ExecutionView {
  execution_id: string;
  /** The caller. */
  wallet: string;
  record: string | null;
  listing: string;
  metadata_hash: string | null;
  /** Its beginning; null if it is not known here, or deleted. */
  task: string | null;
  key_id: string | null;
  key_name: string | null;
  status: ExecutionStatus;
  initiated_at: bigint;
  completed_at: bigint | null;
  cost: bigint;
  price: bigint;
  /** The outcome of its dispute; null if there was none. */
  dispute: DisputeOutcome | null;
  /** Paid to the caller for an upheld dispute; null if there is none, or if the chain does not show it any more. */
  returned: bigint | null;
  /** 1 if its refund waits for its caller to claim it, 0 once it is claimed; null if it went to the caller. */
  is_unclaimed: bigint | null;
  creator_amount: bigint;
  platform_amount: bigint;
  execution_time_ms: bigint | null;
  result_hash: string | null;
  chain_status: ExecutionStatusName | null;
  reason: bigint | null;
  /** Signature of the transaction that archived it. */
  archived_by: string | null;
  /** From the journal; null if only the chain has it. */
  state: ExecutionState | null;
  refund_state: RefundState | null;
  error_code: string | null;
  error_message: string | null;
  content_deleted_ms: bigint | null;
  /** The deposit that an x402 client paid into. */
  deposit: string | null;
  /** What the open took from it besides the price; null if the chain shows no open from a deposit. */
  service_fee: bigint | null;
}

/**
 * An execution shown as ended must not change again. A refund on its way, and an open that may still land, therefore
 * count as running. A refund that waits for the caller's own account is shown as failed; otherwise nobody would repair
 * that account.
 */
export const STATUS: RawBuilder<ExecutionStatus> = sql.raw(`CASE
  WHEN c.status IN ('disputed', 'dispute_upheld') THEN 'disputed'
  WHEN c.status = 'completed' THEN 'completed'
  WHEN c.status = 'refunded' THEN 'failed'
  WHEN j.state = 'settled' THEN 'completed'
  WHEN j.state IN ('refunded', 'returned', 'void') THEN 'failed'
  WHEN j.state IN ('refunding', 'returning', 'parked') AND j.refund_state = 'waiting' THEN 'failed'
  WHEN j.state IN ('deposit_signed', 'deposit_confirmed', 'pay_signed', 'paid', 'returning',
    'open_signed', 'dispatched', 'verified', 'refunding', 'parked') THEN 'running'
  ELSE 'pending'
END`);

export const INITIATED_AT: RawBuilder<bigint> = sql.raw('coalesce(c.opened_at, j.opened_at, j.accepted_at)');

/** The outcome of its dispute. The index may have the status of a dispute that it never read. */
export const DISPUTE = `coalesce(d.outcome, CASE c.status WHEN 'disputed' THEN 'open' WHEN 'dispute_upheld' THEN 'upheld' END)`;

/** An execution whose open may still land costs nothing until its outcome is known. */
const COLUMNS = sql.raw(`
  coalesce(j.wallet, c.caller) AS wallet,
  c.record AS record,
  coalesce(j.listing, c.listing) AS listing,
  j.metadata_hash AS metadata_hash,
  CASE WHEN j.metadata_hash <> '' AND j.content_deleted_ms IS NULL THEN substr(j.task, 1, ${TASK_CHARACTERS}) END AS task,
  coalesce(c.key_id, nullif(j.key_id, '${NO_KEY}')) AS key_id,
  -- A key's id is the beginning of its hash, which is the primary key. Strangers may register others that begin so, but
  -- only the key itself is ever used.
  (SELECT name FROM api_keys AS k WHERE k.wallet = coalesce(j.wallet, c.caller)
    AND k.key_hash BETWEEN coalesce(c.key_id, j.key_id) AND coalesce(c.key_id, j.key_id) || 'g'
    ORDER BY k.last_used_ms IS NULL, k.created_ms, k.key_hash LIMIT 1) AS key_name,
  coalesce(c.settled_at, j.settled_at) AS completed_at,
  CASE
    WHEN c.status = 'refunded' OR (j.state IN ('refunded', 'returned', 'void') AND coalesce(c.status, 'open') = 'open') THEN 0
    WHEN c.execution_id IS NULL AND j.opened_at IS NULL THEN 0
    ELSE coalesce(c.price, j.price)
  END AS cost,
  coalesce(c.price, j.price) AS price,
  ${DISPUTE} AS dispute,
  CASE WHEN d.outcome = 'upheld' THEN d.amount_to_caller - d.owed END AS returned,
  -- A deposit's address can be prepared again. The last refund is that of the call.
  (SELECT CASE WHEN claimed_at IS NULL THEN 1 ELSE 0 END FROM chain.unclaimed_refunds
    WHERE source IN (c.record, coalesce(c.deposit, j.deposit)) ORDER BY unclaimed_at DESC LIMIT 1) AS is_unclaimed,
  CASE WHEN coalesce(c.status, 'open') = 'open' THEN coalesce(j.creator_amount, 0) ELSE c.creator_amount END
    AS creator_amount,
  CASE WHEN coalesce(c.status, 'open') = 'open' THEN coalesce(j.platform_amount, 0) ELSE c.platform_amount END
    AS platform_amount,
  coalesce(c.execution_time_ms, j.execution_time_ms) AS execution_time_ms,
  c.result_hash AS result_hash,
  c.status AS chain_status,
  coalesce(c.reason, j.refund_reason) AS reason,
  (SELECT signature FROM chain.archive_leaves AS l WHERE l.execution_id = c.execution_id) AS archived_by,
  j.state AS state,
  j.refund_state AS refund_state,
  j.error_code AS error_code,
  j.error_message AS error_message,
  j.content_deleted_ms AS content_deleted_ms,
  coalesce(c.deposit, j.deposit) AS deposit,
  (SELECT service_fee FROM chain.deposits WHERE deposit = c.deposit) AS service_fee`);

/** The known executions among these ids, in their order. */
export async function readViews(views: Kysely<LedgerDatabase>, ids: readonly string[]): Promise<ExecutionView[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<ExecutionView>`
    WITH asked (execution_id) AS (VALUES ${sql.join(ids.map((id) => sql`(${id})`))})
    SELECT asked.execution_id, ${STATUS} AS status, ${INITIATED_AT} AS initiated_at, ${COLUMNS}
    FROM asked
    LEFT JOIN chain.executions AS c ON c.execution_id = asked.execution_id
    LEFT JOIN executions AS j ON j.execution_id = asked.execution_id AND j.state <> 'accepted'
    LEFT JOIN chain.disputes AS d ON d.execution_id = asked.execution_id
    WHERE c.execution_id IS NOT NULL OR j.execution_id IS NOT NULL`.execute(views);
  const byId = new Map(rows.map((row) => [row.execution_id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** True if the creator was paid, as far as is known. */
export function isSettled({ chain_status, state }: Pick<ExecutionView, 'chain_status' | 'state'>): boolean {
  return chain_status === null || chain_status === 'open' ? state === 'settled' : chain_status !== 'refunded';
}

export function isRefunded({ chain_status, state }: ExecutionView): boolean {
  return chain_status === null || chain_status === 'open'
    ? state === 'refunded' || state === 'returned'
    : chain_status === 'refunded';
}
