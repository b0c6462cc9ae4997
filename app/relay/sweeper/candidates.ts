/**
 * Lists the accounts that may be archived or closed, by the index. The index only says where to look: the accounts
 * themselves are read before anything is signed.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
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

/** The columns of one kind of candidates, and the conditions of its rows. */
interface Kind {
  table: 'executions' | 'deposits' | 'disputes';
  id: string;
  address: string;
  /** The time that orders them. */
  from: string;
  ripeAt: RawBuilder<unknown>;
  where: RawBuilder<unknown>;
}

/** The next candidates of a kind, oldest first. */
async function readNext(views: Views, { table, ripeAt, where, ...columns }: Kind, after: After): Promise<Candidate[]> {
  const [id, address, from] = [sql.ref(columns.id), sql.ref(columns.address), sql.ref(columns.from)];
  const { rows } = await sql<Candidate>`
    SELECT ${id} AS id, ${address} AS address, ${from} AS ended_at, ${ripeAt} AS ripe_at
    FROM ${sql.table(`chain.${table}`)}
    WHERE ${where} AND (${from}, ${id}) > (${after?.ended_at ?? -1n}, ${after?.id ?? ''})
    ORDER BY ${from}, ${id} LIMIT ${PAGE}`.execute(views);
  return rows;
}

const RECORDS = { table: 'executions', id: 'execution_id', address: 'record' } as const;
/** To move the refund of a wallet's own execution would return nothing to the relay. */
const BY_RELAY = sql`(key_id IS NOT NULL OR deposit IS NOT NULL)`;
const later = (column: string, seconds: bigint) => sql`${sql.ref(column)} + CAST(${seconds} AS BIGINT)`;

/** Settled records that can become leaves. */
export const ripeRecords = (views: Views, now: bigint, after: After) =>
  readNext(views, { ...RECORDS, from: 'settled_at', ripeAt: RIPE_AT, where: isRipe(now) }, after);

/** Refunded records that can be closed, whoever opened them: a wallet gets its deposit back without doing anything. */
export function refundedRecords(views: Views, now: bigint, after: After): Promise<Candidate[]> {
  const kept = BigInt(constants.recordSecondsMin);
  const where = sql`closed = 0 AND status <> 'open' AND status = 'refunded' AND opened_at <= ${now - kept}`;
  return readNext(views, { ...RECORDS, from: 'settled_at', ripeAt: later('opened_at', kept), where }, after);
}

/** Unix seconds from which something that anyone can refund at `from` can be moved to the unclaimed refunds. */
const MOVABLE_AFTER = BigInt(constants.unclaimedSeconds);

/**
 * Open executions whose refunds can be moved to the unclaimed ones; only those that a relay opened. Nearly all others
 * are refunded long before.
 */
export function movableRecords(views: Views, now: bigint, after: After): Promise<Candidate[]> {
  const where = sql`status = 'open' AND ${BY_RELAY} AND refund_at <= ${now - MOVABLE_AFTER}`;
  return readNext(views, { ...RECORDS, from: 'refund_at', ripeAt: later('refund_at', MOVABLE_AFTER), where }, after);
}

/**
 * Expired deposits of this deployment whose refunds can be moved. An unpaid one is refunded by a relay at any time.
 * Moving a stranger's deposit returns nothing to the relay.
 */
export function movableDeposits(views: Views, now: bigint, after: After): Promise<Candidate[]> {
  const life = BigInt(constants.depositSeconds) + MOVABLE_AFTER;
  const where = sql`closed = 0 AND status = 'prepared' AND prepared_at <= ${now - life}
    AND rent_sponsor IN (SELECT address FROM lenders)`;
  const columns = { table: 'deposits', id: 'deposit', address: 'deposit', from: 'prepared_at' } as const;
  return readNext(views, { ...columns, ripeAt: later('prepared_at', life), where }, after);
}

/** Ended disputes that can be closed. */
export function endedDisputes(views: Views, now: bigint, after: After): Promise<Candidate[]> {
  const kept = BigInt(constants.endedDisputeSeconds);
  const where = sql`closed = 0 AND outcome <> 'open' AND owed = 0 AND resolved_at <= ${now - kept}`;
  const columns = { table: 'disputes', id: 'execution_id', address: 'dispute', from: 'resolved_at' } as const;
  return readNext(views, { ...columns, ripeAt: later('resolved_at', kept), where }, after);
}

/** Expired deposits without a row in the ledger, oldest first. */
export async function lostDeposits(views: Views, now: bigint, after: After): Promise<Candidate[]> {
  const place = after && { prepared_at: after.ended_at, deposit: after.id };
  return (await readUnknownDeposits(views, now, place, PAGE)).map(({ deposit, prepared_at, expires_at }) => {
    return { id: deposit, address: deposit, ended_at: prepared_at, ripe_at: expires_at };
  });
}

/**
 * Counts the ended records that still hold rent, and those that could be leaves now. `ripe_since` is the time
 * from which the oldest ripe record could be one, unix seconds. It counts those whose rent this deployment or a gas
 * balance lent: a wallet's own open may name a sponsor that cannot receive lamports, whose record stays ripe for ever.
 */
export async function countRecords(views: Views, now: bigint) {
  const { rows } = await sql<{ kept: bigint; ripe: bigint; ripe_since: bigint | null }>`
    SELECT ripe.count AS ripe, ripe.since AS ripe_since,
      (SELECT count(*) FROM chain.executions WHERE closed = 0 AND status <> 'open') AS kept
    FROM (SELECT count(*) AS count,
        min(CASE WHEN key_id IS NOT NULL OR rent_sponsor IN (SELECT address FROM lenders) THEN ${RIPE_AT} END) AS since
      FROM chain.executions WHERE ${isRipe(now)}) AS ripe`.execute(views);
  return rows[0]!;
}
