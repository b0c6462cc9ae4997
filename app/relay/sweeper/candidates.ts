/**
 * Lists the accounts that may be archived or closed, by the index. The index only says where to look: the accounts
 * themselves are read before anything is signed.
 */
import { type Kysely, sql } from 'kysely';
import { constants } from '../../sdk/program/program.ts';
import { readUnknownDeposits } from '../ledger/lenders.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';

type Views = Kysely<LedgerDatabase>;

/** Candidates per query, for several transactions. */
const PAGE = 240;

/** An account that may be removed, and the time of its end, unix seconds; for a deposit the time when it was prepared. */
export interface Candidate {
  /** Of the execution; of a deposit its address. */
  id: string;
  /** The account, base58: a record, a dispute, or a deposit. */
  address: string;
  ended_at: bigint;
  /** Time from which it can be removed, unix seconds. */
  ripe_at: bigint;
}

/** The end of a page, where the next begins. */
export type After = Pick<Candidate, 'ended_at' | 'id'> | null;

/**
 * True if there may be something to sweep: an ended execution or dispute whose account still exists, or a refund that may
 * have to be moved. Otherwise the chain need not be read.
 */
export async function hasWork(views: Views): Promise<boolean> {
  const { rows } = await sql<{ kept: bigint }>`
    SELECT CASE WHEN EXISTS (SELECT 1 FROM chain.executions WHERE closed = 0 AND status <> 'open')
      OR EXISTS (SELECT 1 FROM chain.executions WHERE status = 'open')
      OR EXISTS (SELECT 1 FROM chain.deposits WHERE closed = 0)
      OR EXISTS (SELECT 1 FROM chain.disputes WHERE closed = 0 AND outcome <> 'open') THEN 1 ELSE 0 END AS kept`.execute(
    views,
  );
  return rows[0]?.kept === 1n;
}

/** How long a settled record stays. Without the config's row nothing is ripe. */
const RECORD_SECONDS = sql`(SELECT max(record_seconds) FROM chain.configs)`;

/** Time from which a settled record can become a leaf, disputed or not. */
const RIPE_AT = sql`settled_at + ${RECORD_SECONDS}`;

/** `status <> 'open'` is the condition of the index. */
const isRipe = (now: bigint) => sql`closed = 0 AND status <> 'open' AND status <> 'refunded'
  AND settled_at <= CAST(${now} AS BIGINT) - ${RECORD_SECONDS}`;

/** Settled records that can become leaves, oldest first. */
export async function ripeRecords(views: Views, now: bigint, after: After): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    SELECT execution_id AS id, record AS address, settled_at AS ended_at, ${RIPE_AT} AS ripe_at
    FROM chain.executions
    WHERE ${isRipe(now)} AND (settled_at, execution_id) > (${after?.ended_at ?? -1n}, ${after?.id ?? ''})
    ORDER BY settled_at, execution_id LIMIT ${PAGE}`.execute(views);
  return rows;
}

/**
 * Refunded records that can be closed, oldest first; only those that a relay opened. A record that a wallet opened and
 * refunded itself pays nothing for its closing, and anybody can create many of them.
 */
export async function refundedRecords(views: Views, now: bigint, after: After): Promise<Candidate[]> {
  const kept = BigInt(constants.recordSecondsMin);
  const { rows } = await sql<Candidate>`
    SELECT execution_id AS id, record AS address, settled_at AS ended_at, opened_at + CAST(${kept} AS BIGINT) AS ripe_at
    FROM chain.executions
    WHERE closed = 0 AND status <> 'open' AND status = 'refunded' AND (key_id IS NOT NULL OR deposit IS NOT NULL)
      AND opened_at <= ${now - kept} AND (settled_at, execution_id) > (${after?.ended_at ?? -1n}, ${after?.id ?? ''})
    ORDER BY settled_at, execution_id LIMIT ${PAGE}`.execute(views);
  return rows;
}

/** Unix seconds from which something that anyone can refund at `from` can be moved to the unclaimed refunds. */
const MOVABLE_AFTER = BigInt(constants.unclaimedSeconds);

/**
 * Open executions whose refunds can be moved to the unclaimed ones, oldest first; only those that a relay opened, as
 * above. Nearly all others are refunded long before.
 */
export async function movableRecords(views: Views, now: bigint, after: After): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    SELECT execution_id AS id, record AS address, refund_at AS ended_at,
      refund_at + CAST(${MOVABLE_AFTER} AS BIGINT) AS ripe_at
    FROM chain.executions
    WHERE status = 'open' AND (key_id IS NOT NULL OR deposit IS NOT NULL) AND refund_at <= ${now - MOVABLE_AFTER}
      AND (refund_at, execution_id) > (${after?.ended_at ?? -1n}, ${after?.id ?? ''})
    ORDER BY refund_at, execution_id LIMIT ${PAGE}`.execute(views);
  return rows;
}

/**
 * Expired deposits of this deployment whose refunds can be moved, oldest first. An unpaid one is refunded by a relay at
 * any time. Moving a stranger's deposit returns nothing to the relay.
 */
export async function movableDeposits(views: Views, now: bigint, after: After): Promise<Candidate[]> {
  const life = BigInt(constants.depositSeconds) + MOVABLE_AFTER;
  const { rows } = await sql<Candidate>`
    SELECT deposit AS id, deposit AS address, prepared_at AS ended_at, prepared_at + CAST(${life} AS BIGINT) AS ripe_at
    FROM chain.deposits
    WHERE closed = 0 AND status = 'prepared' AND prepared_at <= ${now - life}
      AND rent_sponsor IN (SELECT address FROM lenders)
      AND (prepared_at, deposit) > (${after?.ended_at ?? -1n}, ${after?.id ?? ''})
    ORDER BY prepared_at, deposit LIMIT ${PAGE}`.execute(views);
  return rows;
}

/** Ended disputes that can be closed, oldest first. */
export async function endedDisputes(views: Views, now: bigint, after: After): Promise<Candidate[]> {
  const kept = BigInt(constants.endedDisputeSeconds);
  const { rows } = await sql<Candidate>`
    SELECT execution_id AS id, dispute AS address, resolved_at AS ended_at, resolved_at + CAST(${kept} AS BIGINT) AS ripe_at
    FROM chain.disputes
    WHERE closed = 0 AND outcome <> 'open' AND owed = 0 AND resolved_at <= ${now - kept}
      AND (resolved_at, execution_id) > (${after?.ended_at ?? -1n}, ${after?.id ?? ''})
    ORDER BY resolved_at, execution_id LIMIT ${PAGE}`.execute(views);
  return rows;
}

/** Expired deposits without a row in the ledger, oldest first. */
export async function lostDeposits(views: Views, now: bigint, after: After): Promise<Candidate[]> {
  const place = after && { prepared_at: after.ended_at, deposit: after.id };
  return (await readUnknownDeposits(views, now, place, PAGE)).map(({ deposit, prepared_at, expires_at }) => {
    return { id: deposit, address: deposit, ended_at: prepared_at, ripe_at: expires_at };
  });
}

/**
 * Counts the ended records that still hold rent, those that could be leaves now, and the leaves. `ripe_since` is the
 * time from which the oldest ripe record could be one, unix seconds. It counts those whose rent this deployment or a gas
 * balance lent: a wallet's own open may name a sponsor that cannot receive lamports, whose record stays ripe for ever.
 */
export async function countRecords(views: Views, now: bigint) {
  const { rows } = await sql<{ kept: bigint; ripe: bigint; ripe_since: bigint | null; archived: bigint }>`
    SELECT ripe.count AS ripe, ripe.since AS ripe_since,
      (SELECT count(*) FROM chain.executions WHERE closed = 0 AND status <> 'open') AS kept,
      (SELECT coalesce(sum(leaf_count), 0) FROM chain.archives) AS archived
    FROM (SELECT count(*) AS count,
        min(CASE WHEN key_id IS NOT NULL OR rent_sponsor IN (SELECT address FROM lenders) THEN ${RIPE_AT} END) AS since
      FROM chain.executions WHERE ${isRipe(now)}) AS ripe`.execute(views);
  return rows[0]!;
}
