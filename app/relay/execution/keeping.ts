/**
 * What becomes of results after their executions have ended: large ones move into the object storage, where there is one,
 * and old ones are dropped. A few at a time, so that nobody waits for it; several relays may do it, each step is the same
 * when it is done twice.
 */
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { sweepPieces } from '../ledger/pieces.ts';
import { dropResult, markMoved, readExpired, readMovable, readStored } from '../ledger/results.ts';
import type { LedgerDatabase, LedgerTables } from '../ledger/tables.ts';
import type { ReadText, ResultObjects } from '../outbound/resultObjects.ts';

const EVERY_MS = 10_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

export interface KeepingSettings {
  /** How long results are kept after their verification. */
  retentionDays: number;
  /** Results of so many bytes and more belong into the storage. */
  objectBytes: number;
}

export interface KeepingDeps {
  /** ledger.db for writing. */
  ledger: Kysely<LedgerTables>;
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  /** Null: results stay in the ledger. */
  objects: ResultObjects | null;
  readText: ReadText;
  settings: KeepingSettings;
  /** Unix milliseconds. */
  now(): number;
  log: Logger;
}

/** Keeps on until the returned function is called, which resolves when the present piece is done. */
export function startKeeping(deps: KeepingDeps): () => Promise<void> {
  let isEnded = false;
  let present = Promise.resolve();
  let timer = setTimeout(next, EVERY_MS);
  function next(): void {
    present = keepResults(deps, () => isEnded)
      .catch((error) => deps.log.error({ error: String(error) }, 'results could not be moved or dropped'))
      .then(() => {
        if (!isEnded) timer = setTimeout(next, EVERY_MS);
      });
  }
  return async () => {
    isEnded = true;
    clearTimeout(timer);
    await present;
  };
}

/**
 * Drops what is old and moves what is large, until there is no more of it. Rejects where the storage does not answer, once
 * both were tried: a storage that takes and does not delete must not make the ledger grow.
 */
export async function keepResults(deps: KeepingDeps, isEnded: () => boolean = () => false): Promise<void> {
  await sweepPieces(deps.ledger, isEnded);
  try {
    await dropExpired(deps, isEnded);
  } finally {
    await moveLarge(deps, isEnded);
  }
}

async function dropExpired({ ledger, views, objects, settings, now }: KeepingDeps, isEnded: () => boolean) {
  const oldestMs = now() - settings.retentionDays * DAY_MS;
  for (let rows = await readExpired(views, oldestMs); rows.length > 0; rows = await readExpired(views, oldestMs)) {
    for (const { execution_id, object_stored } of rows) {
      if (isEnded()) return;
      // The object first: a row that says where it is can be tried again.
      if (object_stored === 1n) await requireStorage(objects).drop(execution_id);
      await dropResult(ledger, execution_id);
    }
  }
}

async function moveLarge({ ledger, views, objects, readText, settings }: KeepingDeps, isEnded: () => boolean) {
  if (!objects) return;
  const readMore = () => readMovable(views, settings.objectBytes);
  for (let rows = await readMore(); rows.length > 0; rows = await readMore()) {
    for (const { execution_id } of rows) {
      if (isEnded()) return;
      const row = await readStored(ledger, execution_id);
      // Another relay has just moved or dropped it.
      if (!row?.result) continue;
      const text = await readText(row);
      if (!text) throw new Error(`the ledger has lost pieces of the result of ${execution_id}`);
      await objects.put(row, text);
      await markMoved(ledger, execution_id);
    }
  }
}

function requireStorage(objects: ResultObjects | null): ResultObjects {
  if (objects) return objects;
  throw new Error('there are results in an object storage, and S3_ENDPOINT is not set');
}
