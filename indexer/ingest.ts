/**
 * Brings the chain's transactions into the tables: asks the node which touched the program since the cursor, and applies
 * them oldest first. One `pass` does that once; it is safe to call at any time and loses nothing when it throws.
 */
import type { ConfirmedSignatureInfo, Connection, PublicKey } from '@solana/web3.js';
import type { Kysely } from 'kysely';
import { decodeEventInstruction, readEvents } from '../app/sdk/program/events.ts';
import type { History } from '../app/solana/helius.ts';
import { readAccountRows } from './accounts.ts';
import { ApplyError, applyPage, type ChainTransaction, SnapshotNeeded } from './apply.ts';
import { readCarried } from './invocations.ts';
import type { Notices } from './notices.ts';
import type { IndexDatabase } from './tables.ts';

export interface IngestDeps {
  connection: Connection;
  programId: PublicKey;
  db: Kysely<IndexDatabase>;
  /** Logs that were heard already, so that they need not be fetched. */
  notices: Notices;
  /** Where an empty index is filled from; without it, from the node's signatures, newest first. */
  history?: History;
  /** Signatures per request; the most that nodes give is 1,000. */
  signaturePage: number;
  /** Told that the node has left out a transaction, by one that builds on it. */
  onGap?(evidence: SnapshotNeeded): void;
}

/** Transactions per database transaction, and fetched side by side. */
const APPLY_PAGE = 50;
const FETCH_CONCURRENCY = 8;

/**
 * Applies everything that is new. Returns the slot up to which the tables are complete. Throws ApplyError for what can
 * never be applied, anything else for what may work when tried again.
 */
export async function pass(deps: IngestDeps): Promise<bigint> {
  // Asked first: whatever is confirmed up to here is among the signatures asked for next.
  const confirmed = BigInt(await deps.connection.getSlot('confirmed'));
  if (deps.history && !(await deps.db.selectFrom('cursor').select('id').executeTakeFirst())) {
    await backfill(deps, deps.history);
  }
  const listed = await readNewSignatures(deps);
  // Some nodes list a block that they still work on, in no order yet: moving the cursor there would lose transactions.
  const fresh = listed.filter(({ confirmationStatus }) => confirmationStatus !== 'processed');
  const unfinished = listed.filter(({ confirmationStatus }) => confirmationStatus === 'processed');
  const head = unfinished.reduce((least, { slot }) => (slot <= least ? BigInt(slot) - 1n : least), confirmed);
  for (let end = fresh.length; end > 0; end -= APPLY_PAGE) {
    const oldestFirst = fresh.slice(Math.max(0, end - APPLY_PAGE), end).reverse();
    await applyWithSnapshots(deps, await readTransactions(deps, oldestFirst), applyForGood);
    for (const { signature } of oldestFirst) deps.notices.done(signature);
  }
  const progress = { id: 1n, slot: head, checked_at: BigInt(Date.now()) };
  await deps.db
    .insertInto('progress')
    .values(progress)
    .onConflict((c) => c.column('id').doUpdateSet(progress))
    .execute();
  return head;
}

/** As if nothing could be dropped any more. */
const applyForGood = (db: Kysely<IndexDatabase>, page: ChainTransaction[]) =>
  applyPage(db, page, page.at(-1)?.slot ?? 0n);

/** Fills an empty index in the order of the chain. Where it breaks off, the passes go on from what was applied. */
async function backfill(deps: IngestDeps, history: History): Promise<void> {
  for await (const page of history(deps.programId.toBase58())) {
    const transactions: ChainTransaction[] = [];
    for (const { logs, ...info } of page) transactions.push(await readTransaction(deps, info, logs));
    await applyWithSnapshots(deps, transactions, applyForGood);
  }
}

/** Applies transactions, with the accounts of those that are about something which the node has left out. */
export async function applyWithSnapshots(
  deps: IngestDeps,
  transactions: ChainTransaction[],
  apply: (db: Kysely<IndexDatabase>, transactions: ChainTransaction[]) => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      return await apply(deps.db, transactions);
    } catch (error) {
      if (!(error instanceof SnapshotNeeded)) throw error;
      deps.onGap?.(error);
      const item = transactions.find(({ signature }) => signature === error.signature);
      if (item?.content.kind !== 'events') throw error;
      const transaction = await fetchTransaction(deps, item.signature);
      item.content.snapshot = await readAccountRows(deps.connection, deps.programId, transaction, 'named');
    }
  }
}

/** Signatures after the cursor, newest first as nodes give them. */
async function readNewSignatures(deps: IngestDeps): Promise<ConfirmedSignatureInfo[]> {
  const { connection, programId, signaturePage: limit } = deps;
  const cursor = await deps.db.selectFrom('cursor').select(['signature', 'slot']).executeTakeFirst();
  const until = cursor?.signature;
  const fresh: ConfirmedSignatureInfo[] = [];
  for (;;) {
    const before = fresh.at(-1)?.signature;
    const page = await connection.getSignaturesForAddress(
      programId,
      { limit, ...(until && { until }), ...(before && { before }) },
      'confirmed',
    );
    fresh.push(...page);
    if (page.length < limit) break;
    if (page.at(-1)?.confirmationStatus === 'processed') {
      throw new Error('the node lists more of an unfinished block than fits a page');
    }
  }
  // A node that does not know the cursor (it lags behind, or its history is shorter) does not say so: it gives
  // transactions from before the cursor, or stops early between two pages.
  if (!cursor || fresh.length === 0) return fresh;
  const isOlder = fresh.some(({ slot }) => BigInt(slot) < cursor.slot);
  if (isOlder || (fresh.length >= limit && !(await isNextOlder(deps, fresh.at(-1)!.signature, cursor.signature)))) {
    throw new Error(`the node's history does not join on to ${cursor.signature}, the last transaction applied`);
  }
  return fresh;
}

/** Whether the next transaction before this one is the one expected. */
async function isNextOlder(deps: IngestDeps, signature: string, expected: string): Promise<boolean> {
  const options = { limit: 1, before: signature };
  const [next] = await deps.connection.getSignaturesForAddress(deps.programId, options, 'confirmed');
  return next?.signature === expected;
}

/** What the given transactions did, in the same order. */
export async function readTransactions(
  deps: IngestDeps,
  signatures: readonly ConfirmedSignatureInfo[],
): Promise<ChainTransaction[]> {
  const transactions: ChainTransaction[] = [];
  for (let start = 0; start < signatures.length; start += FETCH_CONCURRENCY) {
    const side = signatures.slice(start, start + FETCH_CONCURRENCY);
    transactions.push(
      ...(await Promise.all(
        side.map((info) => {
          const { signature, slot } = info;
          return readTransaction(
            deps,
            { signature, slot, hasFailed: info.err !== null },
            deps.notices.logsOf(signature),
          );
        }),
      )),
    );
  }
  return transactions;
}

/** What a transaction did: by the logs that are known of it already, else by those that the node has. */
async function readTransaction(
  deps: Pick<IngestDeps, 'connection' | 'programId'>,
  info: { signature: string; slot: number; hasFailed: boolean },
  heard: string[] | null | undefined,
): Promise<ChainTransaction> {
  const { signature } = info;
  const position = { signature, slot: BigInt(info.slot) };
  if (info.hasFailed) return { ...position, content: { kind: 'failed' } };
  const known = heard && readTrusted(signature, () => readEvents(heard, deps.programId));
  if (known?.complete) return { ...position, content: { kind: 'events', events: known.events } };

  const transaction = await fetchTransaction(deps, signature);
  const logs = transaction.meta?.logMessages;
  const calls = readCarried(transaction, deps.programId);
  const read = logs && readTrusted(signature, () => readEvents(logs, deps.programId, calls));
  if (read?.complete) return { ...position, content: { kind: 'events', events: read.events } };

  const snapshot = await readAccountRows(deps.connection, deps.programId, transaction);
  const carried = readTrusted(signature, () => calls.flatMap((data) => decodeEventInstruction(data) ?? []));
  return { ...position, content: { kind: 'accounts', snapshot, carried } };
}

async function fetchTransaction({ connection }: Pick<IngestDeps, 'connection'>, signature: string) {
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
  const transaction = await connection.getTransaction(signature, options);
  if (!transaction) throw new Error(`the node lists ${signature} but does not have it`);
  return transaction;
}

/** Throws ApplyError where the events of a transaction cannot be understood. */
function readTrusted<T>(signature: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ApplyError(signature, error);
  }
}
