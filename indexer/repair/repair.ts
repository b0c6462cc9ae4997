/**
 * Compares rows with their accounts where a missed event would never be noticed: listings, and open executions whose
 * refund is overdue. No later event is about them, perhaps for ever. Rows that differ are written from their accounts.
 */
import type { Logger } from 'pino';
import { CLOCK_ADDRESS, decodeClock } from '../../app/sdk/program/clock.ts';
import { applyAccounts, applyGone } from '../apply/apply.ts';
import type { AccountRows } from '../apply/readings.ts';
import { readPresentRows } from '../chain/accounts.ts';
import type { IngestDeps } from '../chain/ingest.ts';
import { readPage, VERIFIED } from '../verify/verified.ts';
import { compare } from '../verify/verify.ts';

/** A whole comparison begins this long after the last one, or after a reconnect. */
const REPAIR_MS = 3_600_000;
/** A connection that breaks often does not repeat the comparison all the time. */
const AGAIN_MS = 600_000;
/** Requests per look, so that new transactions do not wait. */
const REQUESTS = 5;

type Row = Record<string, unknown>;

/** Where a comparison continues. */
interface Place {
  table: 'executions' | 'listings';
  after: string;
  /** The chain's clock at its begin, unix seconds. */
  time: bigint;
}

/** Accounts that differed from rows, read again. */
interface Reading {
  table: Place['table'];
  keys: readonly string[];
  rows: AccountRows;
  /** No row or account was read at a later slot. */
  slot: bigint;
}

export function createRepair(deps: IngestDeps, log: Logger, now: () => number, repairMs = REPAIR_MS) {
  let dueAt = 0;
  let begunAt = 0;
  /** The next rows; null between two comparisons. */
  let next: Place | null = null;
  /** Waits until the tables have reached its slot: until then a difference may be only their lag. */
  let reading: Reading | null = null;
  async function compareSome(head: bigint): Promise<void> {
    if (!next && !reading && now() >= dueAt) {
      [begunAt, dueAt] = [now(), now() + repairMs];
      next = { table: 'executions', after: '', time: await readTime(deps) };
    }
    for (let left = REQUESTS; left > 0; left -= 1) {
      if (reading && head < reading.slot) return;
      if (reading) await repairRows(deps, log, reading);
      reading = null;
      if (!next) return;
      const compared = await compareRows(deps, next, head);
      reading = compared.reading;
      if (compared.last !== null) next = { ...next, after: compared.last };
      else next = next.table === 'executions' ? { ...next, table: 'listings', after: '' } : null;
    }
  }

  return {
    /** Asks for a comparison soon, after the node was unreachable. */
    request(): void {
      dueAt = Math.min(dueAt, begunAt + Math.min(AGAIN_MS, repairMs));
    },
    /** Compares the next rows if that is due. `head` is the slot that the tables have reached. */
    async step(head: bigint): Promise<void> {
      try {
        await compareSome(head);
      } catch (error) {
        [next, reading, dueAt] = [null, null, now() + Math.min(AGAIN_MS, repairMs)];
        throw error;
      }
    },
  };
}

const verifiedOf = (table: Place['table']) => VERIFIED.find(({ name }) => name === table)!;

/**
 * Compares the rows after a key, as many as fit one request. Reads the accounts that differ again, at the tables' slot or
 * later. Returns them, and the last key; null if there were none.
 */
async function compareRows(
  deps: IngestDeps,
  { table, after, time }: Place,
  head: bigint,
): Promise<{ last: string | null; reading: Reading | null }> {
  const { db, connection, programId } = deps;
  const verified = verifiedOf(table);
  const rows = table === 'listings' ? await readPage(db, verified, after) : await readOverdue(deps, after, time);
  if (rows.length === 0) return { last: null, reading: null };
  const last = verified.keyOf(rows.at(-1)!);
  const keys = [...new Set((await compare(deps, verified, rows)).map(({ key }) => key))];
  if (keys.length === 0) return { last, reading: null };
  const present = await readPresentRows({ connection }, programId, keys, head);
  const slots = [...present[table].map(({ slot }) => slot), BigInt(await connection.getSlot('finalized'))];
  const slot = slots.reduce((most, one) => (one > most ? one : most));
  return { last, reading: { table, keys, rows: present, slot } };
}

/** Writes what the tables, which have reached the slot of the reading, still lack. */
async function repairRows({ db }: IngestDeps, log: Logger, { table, keys, rows, slot }: Reading): Promise<void> {
  const verified = verifiedOf(table);
  const read = new Map((rows[table] as unknown as Row[]).map((row) => [verified.keyOf(row), row]));
  const differing = (await readPage(db, verified, keys)).filter((row) => {
    const account = read.get(verified.keyOf(row));
    if (!account) return row.closed === 0n;
    if ((row.slot as bigint) > (account.slot as bigint)) return false;
    const shown = verified.shown(row);
    return Object.keys(account).some(
      (column) => !verified.elsewhere.includes(column) && shown[column] !== account[column],
    );
  });
  const wrong = differing.map((row) => verified.keyOf(row));
  if (wrong.length === 0) return;
  await applyAccounts(db, slot, rows);
  const gone = wrong.filter((key) => !read.has(key));
  if (gone.length > 0 && table === 'executions') await applyGone(db, slot, table, gone);
  log.warn({ table, keys: wrong }, 'rows differed from their accounts and were written again');
}

async function readTime({ connection }: IngestDeps): Promise<bigint> {
  const clock = await connection.getAccountInfo(CLOCK_ADDRESS, 'finalized');
  if (!clock) throw new Error('the node does not have the clock of the chain');
  return decodeClock(clock.data);
}

/** Open executions that anybody may refund by now. */
async function readOverdue({ db }: IngestDeps, after: string, time: bigint): Promise<Row[]> {
  const overdue = db
    .selectFrom('executions')
    .selectAll()
    .where('status', '=', 'open')
    .where('closed', '=', 0n)
    .where('refund_at', '<', time)
    .where('record', '>', after);
  return (await overdue.orderBy('record').limit(100).execute()) as unknown as Row[];
}
