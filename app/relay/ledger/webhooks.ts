/** The tables of webhooks: endpoints, and one row for each event that an endpoint gets. */
import { randomBytes } from 'node:crypto';
import { type CompiledQuery, type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { countRows, underLock } from '../../database/portable.ts';
import { mayGo } from './displacing.ts';
import { EVENTS_LOCK } from './events.ts';
import type { LedgerDatabase, LedgerTables } from './tables.ts';

type Ledger = Kysely<LedgerTables>;
export type EndpointRow = Selectable<LedgerTables['webhook_endpoints']>;
export type DeliveryRow = Selectable<LedgerTables['webhook_deliveries']>;

/** Bytes of an endpoint's id. */
const ID_BYTES = 12;
/** Endpoints with waiting deliveries that one search looks at, so that it takes a few milliseconds at most. */
const MOST_WALKED = 1_000;

export const newEndpointId = (): string => `we_${randomBytes(ID_BYTES).toString('hex')}`;

export const readEndpoints = (ledger: Ledger, wallet: string): Promise<EndpointRow[]> =>
  ledger
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('wallet', '=', wallet)
    .orderBy('created_ms')
    .orderBy('endpoint_id')
    .execute();

/** The wallet's endpoint of this id. */
export const readEndpoint = (ledger: Ledger, wallet: string, endpointId: string): Promise<EndpointRow | undefined> =>
  ledger
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('endpoint_id', '=', endpointId)
    .where('wallet', '=', wallet)
    .executeTakeFirst();

/** Returns false if the wallet has `most` endpoints already. */
export function insertEndpoint(ledger: Ledger, row: EndpointRow, most: number): Promise<boolean> {
  return underLock(ledger, `webhooks ${row.wallet}`, async (locked) => {
    const own = sql<number>`(SELECT count(*) FROM webhook_endpoints WHERE wallet = ${row.wallet})`;
    const columns = Object.keys(row) as (keyof EndpointRow)[];
    const { rows } = await sql`
      INSERT INTO webhook_endpoints (${sql.join(columns.map((column) => sql.ref(column)))})
      SELECT ${sql.join(columns.map((column) => sql`CAST(${row[column]} AS ${sql.raw(/_ms$|^is_|^slow_for$/.test(column) ? 'BIGINT' : 'TEXT')})`))}
      WHERE ${own} < ${most} RETURNING endpoint_id`.execute(locked);
    return rows.length === 1;
  });
}

export async function updateEndpoint(
  ledger: Ledger,
  endpointId: string,
  changes: Partial<Omit<EndpointRow, 'endpoint_id' | 'wallet'>>,
): Promise<void> {
  await ledger.updateTable('webhook_endpoints').set(changes).where('endpoint_id', '=', endpointId).execute();
}

/** Counts one quick attempt of a slow endpoint. Others may have ended meanwhile. */
export async function noteQuick(ledger: Ledger, endpointId: string): Promise<void> {
  await ledger
    .updateTable('webhook_endpoints')
    .set({ slow_for: sql`slow_for - 1` })
    .where('endpoint_id', '=', endpointId)
    .where('slow_for', '>', 0n)
    .execute();
}

/** Deletes an endpoint with its deliveries. It must be gone before them, so that none is added in between. */
export function deleteEndpoint(ledger: Ledger, endpointId: string): Promise<void> {
  return underLock(ledger, EVENTS_LOCK, async (locked) => {
    await locked.deleteFrom('webhook_endpoints').where('endpoint_id', '=', endpointId).execute();
    await locked.deleteFrom('webhook_deliveries').where('endpoint_id', '=', endpointId).execute();
  });
}

/** The endpoints of unknown wallets that go if they have more than `most` together. */
export async function readSurplusOfStrangers(
  ledger: Ledger,
  most: number,
): Promise<Pick<EndpointRow, 'endpoint_id' | 'wallet'>[]> {
  const { rows } = await sql<EndpointRow>`SELECT endpoint_id, wallet FROM webhook_endpoints
    WHERE ${mayGo('webhook_endpoints', sql`is_known = 0`)}
    ORDER BY created_ms LIMIT (SELECT CASE WHEN count(*) > ${most} THEN count(*) - ${most} ELSE 0 END
      FROM webhook_endpoints WHERE is_known = 0)`.execute(ledger);
  return rows;
}

/** Unknown wallets cannot displace the wallet's endpoints any more. */
export async function noteKnown(ledger: Ledger, wallet: string): Promise<void> {
  await ledger.updateTable('webhook_endpoints').set({ is_known: 1n }).where('wallet', '=', wallet).execute();
}

/** A delivery with the type of its event. */
export type ListedDelivery = DeliveryRow & { type: string };

const listed = (ledger: Ledger) =>
  ledger
    .selectFrom('webhook_deliveries')
    .innerJoin('events', 'events.position', 'webhook_deliveries.position')
    .selectAll('webhook_deliveries')
    .select('events.type');

/** A page of an endpoint's deliveries, newest first, and their number. */
export async function readDeliveries(
  ledger: Ledger,
  endpointId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: ListedDelivery[]; total: number }> {
  const rows = await listed(ledger)
    .where('webhook_deliveries.endpoint_id', '=', endpointId)
    .orderBy('webhook_deliveries.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  const all = ledger.selectFrom('webhook_deliveries').select('id').where('endpoint_id', '=', endpointId);
  return { rows, total: await countRows(ledger, all) };
}

/** The delivery of this id, if it is of an endpoint of the wallet. */
export const readDelivery = (ledger: Ledger, wallet: string, id: bigint): Promise<ListedDelivery | undefined> =>
  listed(ledger)
    .innerJoin('webhook_endpoints', 'webhook_endpoints.endpoint_id', 'webhook_deliveries.endpoint_id')
    .where('webhook_deliveries.id', '=', id)
    .where('webhook_endpoints.wallet', '=', wallet)
    .executeTakeFirst();

/** Schedules the event of a delivery once more. Returns the new delivery's id; null if its endpoint was deleted. */
export function repeatDelivery(ledger: Ledger, of: DeliveryRow, nowMs: number): Promise<bigint | null> {
  const { endpoint_id, position, execution_id } = of;
  const now = sql`CAST(${BigInt(nowMs)} AS BIGINT)`;
  return underLock(ledger, EVENTS_LOCK, async (locked) => {
    const { rows } = await sql<Pick<DeliveryRow, 'id'>>`
      INSERT INTO webhook_deliveries (endpoint_id, position, execution_id, state, is_asked, due_ms, created_ms)
      SELECT endpoint_id, CAST(${position} AS BIGINT), CAST(${execution_id} AS TEXT), 'pending', 1, ${now}, ${now}
      FROM webhook_endpoints WHERE endpoint_id = ${endpoint_id} RETURNING id`.execute(locked);
    return rows[0]?.id ?? null;
  });
}

/** Deliveries that are due and not under way, and how long the oldest of them has been due. */
export async function readDueDeliveries(
  views: Kysely<LedgerDatabase>,
  nowMs: number,
): Promise<{ count: number; oldestMs: number }> {
  const { rows } = await sql<{ count: bigint; oldest: bigint | null }>`
    SELECT count(*) AS count, min(due_ms) AS oldest FROM webhook_deliveries
    WHERE state = 'pending' AND due_ms <= ${BigInt(nowMs)}`.execute(views);
  const { count, oldest } = rows[0]!;
  return { count: Number(count), oldestMs: oldest === null ? 0 : nowMs - Number(oldest) };
}

/** The endpoints that may get something now. */
export interface Eligible {
  /** Those of these wallets get nothing. */
  fullWallets: readonly string[];
  /** At most so many slow ones get something. */
  slow: number;
  /** So many of them come before the quick ones, whose queue may never end. */
  slowFirst: number;
}

/**
 * Endpoints with a delivery that is due: some slow ones, the quick ones, then the other slow ones. They are searched from
 * a random one on, so that none waits for the others.
 */
export async function readDueEndpoints(
  ledger: Ledger,
  nowMs: number,
  limit: number,
  { fullWallets, slow: slowMost, slowFirst }: Eligible,
): Promise<EndpointRow[]> {
  const now = BigInt(nowMs);
  const { rows: due } = await sql`SELECT 1 AS due FROM webhook_deliveries
    WHERE state = 'pending' AND due_ms <= ${now} LIMIT ${sql.lit(1)}`.execute(ledger);
  if (due.length === 0) return [];
  const start = newEndpointId();
  async function find(isSlow: boolean, most: number): Promise<EndpointRow[]> {
    const found: EndpointRow[] = [];
    for (const part of [sql`>= ${start}`, sql`< ${start}`]) {
      if (found.length >= most) return found;
      found.push(...(await walkDue(ledger, now, part, most - found.length, { isSlow, fullWallets })));
    }
    return found;
  }
  const slow = await find(true, Math.min(slowMost, limit));
  const first = slow.slice(0, slowFirst);
  const quick = await find(false, limit - first.length);
  return [...first, ...quick, ...slow.slice(slowFirst)].slice(0, limit);
}

/**
 * Steps from one endpoint with waiting deliveries to the next, each time by the index. So the time depends neither on the
 * number of endpoints nor on that of the deliveries. In a cross join SQLite keeps the order of the steps.
 */
async function walkDue(
  ledger: Ledger,
  now: bigint,
  part: RawBuilder<unknown>,
  limit: number,
  { fullWallets, isSlow }: Pick<Eligible, 'fullWallets'> & { isSlow: boolean },
): Promise<EndpointRow[]> {
  const next = (after: RawBuilder<unknown>) => sql`(SELECT n.endpoint_id FROM webhook_deliveries AS n
    WHERE n.state = 'pending' AND n.endpoint_id ${part} ${after} ORDER BY n.endpoint_id, n.due_ms, n.id LIMIT ${sql.lit(1)})`;
  const { rows } = await sql<EndpointRow>`
    WITH RECURSIVE walk (endpoint_id, steps) AS (
      SELECT ${next(sql``)}, 1
      UNION ALL
      SELECT ${next(sql`AND n.endpoint_id > walk.endpoint_id`)}, steps + 1
      FROM walk WHERE endpoint_id IS NOT NULL AND steps < ${sql.lit(MOST_WALKED)})
    SELECT w.* FROM walk CROSS JOIN webhook_endpoints AS w
    WHERE w.endpoint_id = walk.endpoint_id AND EXISTS (SELECT 1 FROM webhook_deliveries AS d WHERE d.endpoint_id = w.endpoint_id AND d.state = 'pending'
      AND d.due_ms <= ${now} AND (w.disabled_ms IS NULL OR d.is_asked = 1))
      AND w.slow_for ${isSlow ? sql`>` : sql`=`} 0 ${fullWallets.length > 0 ? sql`AND w.wallet NOT IN (${sql.join(fullWallets)})` : sql``}
    LIMIT ${limit}`.execute(ledger);
  return rows;
}

/**
 * Takes due deliveries of an endpoint, at most `most` at a time. Until `untilMs` no other relay sends them. An event of
 * an execution waits for the earlier ones of that execution.
 */
export async function takeDeliveries(
  ledger: Ledger,
  { endpoint_id, disabled_ms }: EndpointRow,
  { nowMs, untilMs, most }: { nowMs: number; untilMs: number; most: number },
): Promise<DeliveryRow[]> {
  const now = BigInt(nowMs);
  const { rows } = await sql<DeliveryRow>`
    UPDATE webhook_deliveries SET due_ms = ${BigInt(untilMs)}, is_sent = 1, attempts = attempts + 1, attempted_ms = ${now}
    WHERE state = 'pending' AND due_ms <= ${now} AND id IN (
      SELECT d.id FROM webhook_deliveries AS d
      WHERE d.endpoint_id = ${endpoint_id} AND d.state = 'pending' AND d.due_ms <= ${now}
        ${disabled_ms === null ? sql`` : sql`AND d.is_asked = 1`}
        AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS e WHERE e.endpoint_id = d.endpoint_id
          AND e.execution_id = d.execution_id AND e.execution_id IS NOT NULL AND e.state = 'pending'
          AND e.position < d.position)
      ORDER BY d.due_ms, d.id
      LIMIT (SELECT CASE WHEN count(*) < ${most} THEN ${most} - count(*) ELSE 0 END FROM webhook_deliveries
        WHERE endpoint_id = ${endpoint_id} AND state = 'pending' AND is_sent = 1 AND due_ms > ${now}))
    RETURNING *`.execute(ledger);
  return rows;
}

export type Attempted = Pick<DeliveryRow, 'state' | 'due_ms' | 'http_status' | 'body' | 'error' | 'duration_ms'>;

/** Notes the outcome of an attempt. Later events of the same execution wait for a failed one. */
export async function noteAttempt(ledger: Ledger, of: DeliveryRow, outcome: Attempted): Promise<void> {
  await ledger
    .updateTable('webhook_deliveries')
    .set({ ...outcome, is_sent: 0n })
    .where('id', '=', of.id)
    .where('state', '=', 'pending')
    .where('attempts', '=', of.attempts)
    .execute();
  if (outcome.state !== 'pending' || of.execution_id === null) return;
  await ledger
    .updateTable('webhook_deliveries')
    .set({ due_ms: outcome.due_ms })
    .where('endpoint_id', '=', of.endpoint_id)
    .where('execution_id', '=', of.execution_id)
    .where('state', '=', 'pending')
    .where('position', '>', of.position)
    .where('due_ms', '<', outcome.due_ms)
    .execute();
}

/** The statements that switch an endpoint off and report it, unless it is off. */
export function switchOff(
  ledger: Ledger,
  { endpoint_id, wallet, url }: Pick<EndpointRow, 'endpoint_id' | 'wallet' | 'url'>,
  nowMs: number,
): CompiledQuery[] {
  const data = JSON.stringify({ endpoint_id, url });
  const report = sql`INSERT INTO events (wallet, type, data, created_ms)
    SELECT wallet, 'webhook.disabled', CAST(${data} AS TEXT), CAST(${BigInt(nowMs)} AS BIGINT)
    FROM webhook_endpoints WHERE endpoint_id = ${endpoint_id} AND wallet = ${wallet} AND disabled_ms IS NULL`;
  const off = ledger
    .updateTable('webhook_endpoints')
    .set({ disabled_ms: BigInt(nowMs), disabled_by: 'failures' })
    .where('endpoint_id', '=', endpoint_id)
    .where('disabled_ms', 'is', null);
  return [report.compile(ledger), off.compile(), giveUp(ledger, endpoint_id).compile()];
}

/** Gives up the pending deliveries of an endpoint that is switched off, except tests and requested repeats. */
export const giveUp = (ledger: Ledger, endpointId: string) =>
  ledger
    .updateTable('webhook_deliveries')
    .set({ state: 'failed', error: 'the endpoint was switched off' })
    .where('endpoint_id', '=', endpointId)
    .where('state', '=', 'pending')
    .where('is_asked', '=', 0n);
