/**
 * Compares rows with their accounts where a missed event would never be noticed: listings, and open executions whose
 * refund is overdue. No later event is about them, perhaps for ever. Rows that differ are written from their accounts.
 */
import type { Logger } from 'pino';
import { CLOCK_ADDRESS, decodeClock } from '../app/sdk/program/clock.ts';
import { readPresentRows } from './accounts.ts';
import { applyAccounts, applyGone } from './apply.ts';
import type { IngestDeps } from './ingest.ts';
import { readPage, VERIFIED } from './verified.ts';
import { compare } from './verify.ts';

/** A whole comparison begins this long after the last one, or after a reconnect. */
const REPAIR_MS = 3_600_000;
/** A connection that breaks often does not repeat the comparison all the time. */
const AGAIN_MS = 600_000;
/** Requests per look, so that new transactions do not wait. */
const REQUESTS = 5;

/** Where a comparison continues. */
interface Place {
  table: 'executions' | 'listings';
  after: string;
  /** The chain's clock at its begin, unix seconds. */
  time: bigint;
}

export interface Repair {
  /** Asks for a comparison soon, after the node was unreachable. */
  request(): void;
  /** Compares the next rows if that is due. `head` is the slot that the tables have reached. */
  step(head: bigint): Promise<void>;
}

export function createRepair(deps: IngestDeps, log: Logger, now: () => number, repairMs = REPAIR_MS): Repair {
  let dueAt = 0;
  let begunAt = 0;
  /** The next rows; null between two comparisons. */
  let next: Place | null = null;
  return {
    request() {
      dueAt = Math.min(dueAt, begunAt + Math.min(AGAIN_MS, repairMs));
    },
    async step(head) {
      if (!next && now() >= dueAt) {
        [begunAt, dueAt] = [now(), now() + repairMs];
        next = { table: 'executions', after: '', time: await readTime(deps) };
      }
      for (let left = REQUESTS; next && left > 0; left -= 1) {
        const last = await repairRows(deps, log, next, head);
        if (last !== null) next = { ...next, after: last };
        else next = next.table === 'executions' ? { ...next, table: 'listings', after: '' } : null;
      }
    },
  };
}

/** Repairs the rows after a key, as many as fit one request. Returns the last key; null if there were none. */
async function repairRows(
  deps: IngestDeps,
  log: Logger,
  { table, after, time }: Place,
  head: bigint,
): Promise<string | null> {
  const { db, connection, programId } = deps;
  const verified = VERIFIED.find(({ name }) => name === table)!;
  const rows = table === 'listings' ? await readPage(db, verified, after) : await readOverdue(deps, after, time);
  if (rows.length === 0) return null;
  const differences = await compare(deps, verified, rows);
  const keys = [...new Set(differences.map(({ key }) => key))];
  if (keys.length > 0) {
    const present = await readPresentRows({ connection }, programId, keys, head);
    await applyAccounts(db, head, present);
    const found = new Set([
      ...present.executions.map(({ record }) => record),
      ...present.listings.map((row) => row.listing),
    ]);
    const gone = keys.filter((key) => !found.has(key));
    if (gone.length > 0 && table === 'executions') await applyGone(db, head, table, gone);
    log.warn({ table, keys }, 'rows differed from their accounts and were written again');
  }
  return verified.keyOf(rows.at(-1)!);
}

async function readTime({ connection }: IngestDeps): Promise<bigint> {
  const clock = await connection.getAccountInfo(CLOCK_ADDRESS, 'finalized');
  if (!clock) throw new Error('the node does not have the clock of the chain');
  return decodeClock(clock.data);
}

/** Open executions that anybody may refund by now. */
async function readOverdue({ db }: IngestDeps, after: string, time: bigint): Promise<Record<string, unknown>[]> {
  const overdue = db
    .selectFrom('executions')
    .selectAll()
    .where('status', '=', 'open')
    .where('closed', '=', 0n)
    .where('refund_at', '<', time)
    .where('record', '>', after);
  return (await overdue.orderBy('record').limit(100).execute()) as unknown as Record<string, unknown>[];
}
