/**
 * Results that are too long for one write. SQLite writes in the main thread, and 5 MiB would block it for too long.
 * They are written and read in pieces, with a turn of the event loop between. Pieces are valid once a row names their
 * token. Before that, and after their row drops them, they are loose, and a sweep deletes them.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type { Written } from '../../database/groupCommit.ts';
import { nowMsOf } from '../../database/portable.ts';
import { createQueue, PIECE_BYTES } from '../longBytes.ts';
import type { LedgerDatabase, LedgerTables } from './tables.ts';
import type { Writing } from './writing.ts';

/** Longer than one result takes to write or read. */
const LOOSE_MS = 10 * 60_000;
/** Loose tokens per query. */
const BATCH = 20;

/** The value in a row whose result is in pieces. */
export const NOTHING = Buffer.alloc(0);

/** The row of `results` or `late_answers` that names the pieces. */
export interface Naming {
  executionId: string;
  token: string;
  bytes: Buffer;
  /** Writes the row if `isLoose(token)`. */
  row: CompiledQuery;
}

/** True if all pieces of a token exist and no sweep deletes them. */
export const isLoose = (token: string) =>
  sql<boolean>`EXISTS (SELECT 1 FROM loose_pieces WHERE token = ${token} AND since_ms > 0)`;

export type Pieces = ReturnType<typeof createPieces>;

/** The pieces of one journal. */
export function createPieces({ writes, db, compile }: Writing) {
  const inTurn = createQueue();

  const begin = (token: string) =>
    compile('beginPieces', [token], () => db.insertInto('loose_pieces').values({ token, since_ms: nowMsOf(db) }));
  const write = (token: string, place: bigint, bytes: Buffer) =>
    compile('writePiece', [token, place, bytes], () => db.insertInto('result_pieces').values({ token, place, bytes }));
  /** Makes a sweep wait for the end of the transaction. */
  const hold = (token: string) =>
    compile('holdPieces', [token], () =>
      db
        .updateTable('loose_pieces')
        .set((row) => ({ since_ms: row.ref('since_ms') }))
        .where('token', '=', token),
    );
  const settle = ({ executionId: id, token }: Naming) =>
    compile('settlePieces', [token, id, token, id, token], () =>
      db
        .deleteFrom('loose_pieces')
        .where('token', '=', token)
        .where(
          sql<boolean>`(EXISTS (SELECT 1 FROM results WHERE execution_id = ${id} AND token = ${token})
            OR EXISTS (SELECT 1 FROM late_answers WHERE execution_id = ${id} AND token = ${token}))`,
        ),
    );

  async function writeAll(naming: Naming): Promise<Written> {
    const { token, bytes, row } = naming;
    await writes.note(begin(token));
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      await writes.room();
      await writes.note(write(token, BigInt(at / PIECE_BYTES), bytes.subarray(at, at + PIECE_BYTES)));
    }
    const [, named] = await writes.alone([], [hold(token), row, settle(naming)]);
    return named!;
  }

  return {
    /**
     * Writes the pieces and then the row, and returns the result of the row's write. Results are written one after
     * another, so that no turn of the event loop writes two pieces.
     */
    storePieces: (naming: Naming): Promise<Written> => inTurn(() => writeAll(naming)),
  };
}

/** The bytes of a token's pieces; null if one of them is missing. */
export type ReadPieces = (token: string, size: number) => Promise<Buffer | null>;

export function createReadPieces(db: Kysely<LedgerDatabase>): ReadPieces {
  // No turn of the event loop reads two pieces.
  const inTurn = createQueue();

  async function readPiece(token: string, place: bigint): Promise<Buffer | undefined> {
    await turn();
    const query = db.selectFrom('result_pieces').select('bytes').where('token', '=', token).where('place', '=', place);
    return (await query.executeTakeFirst())?.bytes;
  }

  return async (token, size) => {
    const bytes = Buffer.allocUnsafeSlow(size);
    let read = 0;
    for (let place = 0n; read < size; place += 1n) {
      const piece = await inTurn(() => readPiece(token, place));
      if (!piece || read + piece.length > size) return null;
      read += piece.copy(bytes, read);
    }
    return bytes;
  };
}

/** Deletes pieces that have been loose for a while, one at a time. Several relays may do it at once. */
export async function sweepPieces(ledger: Kysely<LedgerTables>, isEnded: () => boolean): Promise<void> {
  const now = nowMsOf(ledger);
  const oldest = sql<bigint>`${now} - CAST(${BigInt(LOOSE_MS)} AS BIGINT)`;
  const readLoose = () =>
    ledger.selectFrom('loose_pieces').select('token').where('since_ms', '<', oldest).limit(BATCH).execute();
  for (let loose = await readLoose(); loose.length > 0; loose = await readLoose()) {
    for (const { token } of loose) {
      await ledger
        .updateTable('loose_pieces')
        .set({ since_ms: 0n })
        .where('token', '=', token)
        .where('since_ms', '<', oldest)
        .execute();
      for (let left = true; left; ) {
        if (isEnded()) return;
        await turn();
        const { numDeletedRows } = await ledger
          .deleteFrom('result_pieces')
          .where('token', '=', token)
          .where('place', '=', (piece) =>
            piece
              .selectFrom('result_pieces')
              .select((row) => row.fn.min('place').as('place'))
              .where('token', '=', token),
          )
          .where(sql<boolean>`EXISTS (SELECT 1 FROM loose_pieces WHERE token = ${token} AND since_ms = 0)`)
          .executeTakeFirst();
        left = numDeletedRows > 0n;
      }
      await ledger.deleteFrom('loose_pieces').where('token', '=', token).where('since_ms', '=', 0n).execute();
    }
  }
}
