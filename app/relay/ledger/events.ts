/**
 * The outbox of webhooks and event streams. Triggers write the events of executions in the transaction of their move;
 * this file writes all others. An event is shown once it has a position. One relay at a time assigns positions, in the
 * order of the ids, so a reader that remembers the last position misses nothing. A position is at least the time in
 * microseconds: no position that somebody saw comes again, even if the ledger was lost or an older one was restored.
 */
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { textsOf } from '../../database/portable.ts';
import type { LedgerDatabase, LedgerTables } from './tables.ts';

type Ledger = Kysely<LedgerTables>;
export type EventRow = Omit<LedgerTables['events'], 'id' | 'position' | 'endpoint_id'> & { position: bigint };
/** An event that no trigger writes. */
export type OtherEvent = Pick<LedgerTables['events'], 'wallet' | 'type'> & {
  data: string;
  endpoint_id?: string;
  execution_id?: string;
};

/** Most events that get positions in one transaction. */
const NUMBERED_AT_ONCE = 500;
/** The lock for assigning positions, for moving the slot, and for deliveries whose endpoint may be deleted meanwhile. */
export const EVENTS_LOCK = 'events';
const COLUMNS = [
  'position',
  'wallet',
  'type',
  'execution_id',
  'listing',
  'cost',
  'error_code',
  'data',
  'created_ms',
] as const;

/** The statement that writes an event. With `slot`, it writes only if the feed is still at that slot. */
export function eventOf(ledger: Ledger, event: OtherEvent, nowMs: number, slot?: bigint | null): CompiledQuery {
  const { wallet, type, data, endpoint_id = null, execution_id = null } = event;
  const values = sql`${wallet}, ${type}, ${data}, ${endpoint_id}, ${execution_id}, ${BigInt(nowMs)}`;
  const columns = sql.raw('wallet, type, data, endpoint_id, execution_id, created_ms');
  if (slot === undefined) return sql`INSERT INTO events (${columns}) VALUES (${values})`.compile(ledger);
  return sql`INSERT INTO events (${columns}) SELECT
    CAST(${wallet} AS TEXT), CAST(${type} AS TEXT), CAST(${data} AS TEXT), CAST(${endpoint_id} AS TEXT),
    CAST(${execution_id} AS TEXT), CAST(${BigInt(nowMs)} AS BIGINT)
    FROM event_feed WHERE slot = ${slot}`.compile(ledger);
}

export const readFeed = (ledger: Ledger) =>
  ledger.selectFrom('event_feed').select(['position', 'slot']).executeTakeFirstOrThrow();

/** Assigns positions to new events, and creates their deliveries to endpoints. Returns false if no event is new. */
export async function numberEvents(
  ledger: Ledger,
  writes: Pick<GroupCommit, 'underLocks'>,
  nowMs: number,
): Promise<boolean> {
  const { rows } = await sql`SELECT id FROM events WHERE position IS NULL LIMIT ${sql.lit(1)}`.execute(ledger);
  if (rows.length === 0) return false;
  const now = sql.raw(String(nowMs));
  const queries = [
    sql`UPDATE events SET position = fresh.rank
        + (SELECT CASE WHEN position > ${now} * 1000 THEN position ELSE ${now} * 1000 END FROM event_feed)
      FROM (SELECT id AS fresh_id, row_number() OVER (ORDER BY id) AS rank FROM events WHERE position IS NULL
        ORDER BY id LIMIT ${sql.lit(NUMBERED_AT_ONCE)}) AS fresh
      WHERE events.id = fresh.fresh_id`,
    // Spaces around both sides match whole type names only.
    sql`INSERT INTO webhook_deliveries (endpoint_id, position, execution_id, state, is_asked, due_ms, created_ms)
      SELECT w.endpoint_id, e.position, e.execution_id, 'pending', CASE WHEN e.endpoint_id IS NULL THEN 0 ELSE 1 END,
        ${now}, ${now}
      FROM events AS e JOIN webhook_endpoints AS w ON w.wallet = e.wallet
      WHERE e.position > (SELECT position FROM event_feed)
        AND (w.endpoint_id = e.endpoint_id OR (e.endpoint_id IS NULL AND w.disabled_ms IS NULL
          AND (w.event_types = '' OR ' ' || w.event_types || ' ' LIKE '% ' || e.type || ' %')))
      ORDER BY e.position, w.endpoint_id`,
    sql`UPDATE event_feed SET position = (SELECT max(position) FROM events)
      WHERE position < (SELECT max(position) FROM events)`,
  ];
  // A position that somebody saw must never be assigned again, not even after a power cut.
  await writes.underLocks(
    [EVENTS_LOCK],
    queries.map((query) => query.compile(ledger)),
    true,
  );
  return true;
}

export interface Warning {
  wallet: string;
  type: string;
  /** Distinguishes warnings of one type, such as a key and its cap; may be empty. */
  subject: string;
}

/** The reports of a step along the chain. */
export interface Followed {
  events: OtherEvent[];
  /** Warnings among these events. */
  raised: Warning[];
  /** Warnings that hold no more. */
  over: Warning[];
}

/** Writes reports, and moves the feed's slot. Does nothing if another relay has already moved it. */
export async function writeFollowed(
  ledger: Ledger,
  writes: Pick<GroupCommit, 'underLocks'>,
  { events, raised, over }: Followed,
  slots: { from: bigint | null; to: bigint },
  nowMs: number,
): Promise<void> {
  const { from, to } = slots;
  const atSlot = sql`FROM event_feed WHERE slot = ${from}`;
  const queries = [
    ...events.map((event) => eventOf(ledger, event, nowMs, from)),
    ...raised.map(({ wallet, type, subject }) =>
      sql`INSERT INTO warnings (wallet, type, subject)
        SELECT CAST(${wallet} AS TEXT), CAST(${type} AS TEXT), CAST(${subject} AS TEXT) ${atSlot}
        ON CONFLICT DO NOTHING`.compile(ledger),
    ),
    ...over.map((warning) => deletionOf(ledger, warning).where(sql<boolean>`EXISTS (SELECT 1 ${atSlot})`).compile()),
    ledger
      .updateTable('event_feed')
      .set({ slot: to })
      .where('slot', from === null ? 'is' : '=', from)
      .compile(),
  ];
  await writes.underLocks([EVENTS_LOCK], queries, true);
}

/** Events of these wallets after a position, in order. */
export function readEvents(
  ledger: Ledger,
  wallets: readonly string[],
  after: bigint,
  limit: number,
): Promise<EventRow[]> {
  return shown(ledger)
    .where('wallet', 'in', textsOf(ledger, wallets))
    .where('position', '>', after)
    .limit(limit)
    .execute() as Promise<EventRow[]>;
}

/** Events of one execution of the wallet after a position, in order. */
export function readEventsOf(
  ledger: Ledger,
  { wallet, executionId }: { wallet: string; executionId: string },
  after: bigint,
  limit: number,
): Promise<EventRow[]> {
  return shown(ledger)
    .where('execution_id', '=', executionId)
    .where('wallet', '=', wallet)
    .where('position', '>', after)
    .limit(limit)
    .execute() as Promise<EventRow[]>;
}

/** The event at this position, unless it is no longer kept. */
export const readEventAt = (ledger: Ledger, position: bigint): Promise<EventRow | undefined> =>
  events(ledger).where('position', '=', position).executeTakeFirst() as Promise<EventRow | undefined>;

/** `state` and `attempted_ms`: null without a delivery. */
interface Furthest {
  state: LedgerDatabase['webhook_deliveries']['state'] | null;
  attempted_ms: bigint | null;
}

/** Of an event's deliveries, the one that came furthest. Undefined if the event has no position or is no longer kept. */
export async function readFurthestDelivery(
  views: Kysely<LedgerDatabase>,
  { wallet, type, executionId }: { wallet: string; type: string; executionId: string },
): Promise<Furthest | undefined> {
  const { rows } = await sql<Furthest>`SELECT d.state, d.attempted_ms FROM events AS e
    LEFT JOIN webhook_endpoints AS w ON w.wallet = e.wallet
    LEFT JOIN webhook_deliveries AS d ON d.endpoint_id = w.endpoint_id AND d.position = e.position
    WHERE e.execution_id = ${executionId} AND e.wallet = ${wallet} AND e.type = ${type} AND e.position IS NOT NULL
    ORDER BY CASE d.state WHEN 'delivered' THEN 0 WHEN 'pending' THEN 1 WHEN 'failed' THEN 2 ELSE 3 END, d.attempted_ms
    LIMIT ${sql.lit(1)}`.execute(views);
  return rows[0];
}

const events = (ledger: Ledger) => ledger.selectFrom('events').select(COLUMNS);

/** A test event is for its endpoint alone. */
const shown = (ledger: Ledger) => events(ledger).where('endpoint_id', 'is', null).orderBy('position');

/** Deletes events and deliveries from before this moment. */
export async function dropOldEvents(ledger: Ledger, beforeMs: number): Promise<void> {
  await ledger.deleteFrom('webhook_deliveries').where('created_ms', '<', BigInt(beforeMs)).execute();
  await ledger
    .deleteFrom('events')
    .where('created_ms', '<', BigInt(beforeMs))
    .where('position', 'is not', null)
    .execute();
}

/** Writes the event of a warning, unless that warning is raised already. */
export async function raiseWarning(
  ledger: Ledger,
  writes: Pick<GroupCommit, 'underLocks'>,
  { wallet, type, subject }: Warning,
  data: string,
  nowMs: number,
): Promise<void> {
  const event = sql`INSERT INTO events (wallet, type, data, created_ms)
    SELECT CAST(${wallet} AS TEXT), CAST(${type} AS TEXT), CAST(${data} AS TEXT), CAST(${BigInt(nowMs)} AS BIGINT)
    WHERE NOT EXISTS (SELECT 1 FROM warnings WHERE wallet = ${wallet} AND type = ${type} AND subject = ${subject})`;
  const mark = ledger
    .insertInto('warnings')
    .values({ wallet, type, subject })
    .onConflict((conflict) => conflict.columns(['wallet', 'type', 'subject']).doNothing());
  await writes.underLocks([`warnings ${wallet}`], [event.compile(ledger), mark.compile()]);
}

export async function takeBackWarning(ledger: Ledger, warning: Warning): Promise<void> {
  await deletionOf(ledger, warning).execute();
}

const deletionOf = (ledger: Ledger, { wallet, type, subject }: Warning) =>
  ledger.deleteFrom('warnings').where('wallet', '=', wallet).where('type', '=', type).where('subject', '=', subject);
