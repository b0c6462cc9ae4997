/**
 * Keeps results after their executions have ended: moves large ones into the object storage, if there is one, and drops
 * old ones. It moves a few at a time, so that nobody waits for it. Several relays may do it, because each step is
 * idempotent.
 */
import type { Logger } from 'pino';
import { dropFailedBodies } from '../ledger/failedAnswers.ts';
import { dropResult, markMoved, readExpired, readMovable, readStored } from '../ledger/results.ts';
import type { Databases } from '../ledger/tables.ts';
import type { ResultObjects } from '../outbound/resultObjects.ts';
import { type Now, runEvery } from '../waiting.ts';

const EVERY_MS = 10_000;
/** Results of this many bytes or more go into the storage. */
const OBJECT_BYTES = 65_536;
const DAY_MS = 24 * 60 * 60 * 1_000;

export interface KeepingDeps extends Databases, Now {
  /** Null: results stay in the ledger. */
  objects: ResultObjects | null;
  settings: { retentionDays: number };
  log: Logger;
}

/** Keeps results until the returned function is called. That function resolves when the current run has finished. */
export function startKeeping(deps: KeepingDeps): () => Promise<void> {
  let isEnded = false;
  const run = () => keepResults(deps, () => isEnded);
  const end = runEvery(EVERY_MS, run, (error) => deps.log.error({ error }, 'cannot move or delete stored results'));
  return () => {
    isEnded = true;
    return end();
  };
}

/**
 * Drops old results and moves large ones until none is left. It tries both before it rejects: a storage that accepts
 * objects but cannot delete must not make the ledger grow.
 */
export async function keepResults(deps: KeepingDeps, isEnded: () => boolean = () => false): Promise<void> {
  try {
    await dropExpired(deps, isEnded);
  } finally {
    await moveLarge(deps, isEnded);
  }
}

async function dropExpired({ ledger, views, objects, settings, now }: KeepingDeps, isEnded: () => boolean) {
  const oldestMs = now() - settings.retentionDays * DAY_MS;
  await dropFailedBodies(ledger, oldestMs);
  for (let rows = await readExpired(views, oldestMs); rows.length > 0; rows = await readExpired(views, oldestMs)) {
    for (const { execution_id, object_stored } of rows) {
      if (isEnded()) return;
      // Delete the object first: while the row says where it is, the delete can be retried.
      if (object_stored === 1n) await requireStorage(objects).drop(execution_id);
      await dropResult(ledger, execution_id);
    }
  }
}

async function moveLarge({ ledger, views, objects }: KeepingDeps, isEnded: () => boolean) {
  if (!objects) return;
  const readMore = () => readMovable(views, OBJECT_BYTES);
  for (let rows = await readMore(); rows.length > 0; rows = await readMore()) {
    for (const { execution_id } of rows) {
      if (isEnded()) return;
      const row = await readStored(ledger, execution_id);
      // Another relay has just moved or dropped it.
      if (!row?.result) continue;
      await objects.put(row, row.result);
      await markMoved(ledger, execution_id);
    }
  }
}

function requireStorage(objects: ResultObjects | null): ResultObjects {
  if (objects) return objects;
  throw new Error('results are in an object storage, but S3_ENDPOINT is not set');
}
