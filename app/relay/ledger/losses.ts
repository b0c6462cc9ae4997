/**
 * Network fees that the chain took and nobody pays. The transaction's `culprit` is written together with the sums of its
 * row, so each fee counts once, however often it is noted, whichever relay notes it, and wherever a process is killed.
 */
import { type CompiledQuery, sql } from 'kysely';
import { isPostgres } from '../../database/portable.ts';
import { HAS_MOVED } from './moves.ts';
import type { Culprit, JournalRow } from './tables.ts';
import { outcomeNoted, type StoredTransaction } from './transactions.ts';
import type { Writing } from './writing.ts';

type Losing = Pick<JournalRow, 'execution_id' | 'lost_fees' | 'listing_fees' | 'lost_ms' | 'transactions'>;
type Lost = Pick<StoredTransaction, 'signature' | 'fee'>;
type Losses = Pick<JournalRow, 'lost_fees' | 'listing_fees' | 'lost_ms'>;

/** What a fee adds to the sums of its row, and when it was lost. The operator's own doing counts against nobody. */
const lossOf = (fee: bigint, culprit: Culprit): Losses => ({
  lost_fees: culprit === 'wallet' ? fee : 0n,
  listing_fees: culprit === 'listing' ? fee : 0n,
  lost_ms: culprit === 'operator' ? 0n : BigInt(Date.now()),
});

/**
 * The statements that count a fee, unless it has been counted or the row is another relay's. Bytes that were signed twice
 * with one blockhash are one transaction to the chain, so the signature identifies the fee.
 */
function counting(
  { db, owner }: Writing,
  { execution_id: id }: Losing,
  signature: string,
  culprit: Culprit,
  { lost_fees, listing_fees, lost_ms }: Losses,
): [CompiledQuery, ...CompiledQuery[]] {
  const counted = db
    .selectFrom('transactions')
    .select('attempt')
    .where('execution_id', '=', id)
    .where('signature', '=', signature)
    .where('culprit', 'is not', null);
  const update = db
    .updateTable('executions')
    .set((own) => ({
      lost_fees: own('lost_fees', '+', lost_fees),
      listing_fees: own('listing_fees', '+', listing_fees),
      ...(lost_ms > 0n && { lost_ms }),
    }))
    .where('execution_id', '=', id)
    .where('lease_owner', '=', owner)
    .where(({ not, exists }) => not(exists(counted)));
  const marking = (hasMoved: typeof HAS_MOVED.sqlite) => sql`
    UPDATE transactions SET culprit = ${culprit} WHERE execution_id = ${id} AND signature = ${signature} AND ${hasMoved}`;
  if (!isPostgres(db)) return [update.compile(), marking(HAS_MOVED.sqlite).compile(db)];
  const both = sql`
    WITH moved AS (${update.returning('execution_id')}), followed AS (${marking(HAS_MOVED.postgres)})
    SELECT execution_id FROM moved`;
  return [both.compile(db)];
}

/** The lost fees of one journal. Both functions return the lamports that were not counted before. */
export function createLosses(writing: Writing) {
  const { writes, db } = writing;

  async function count(
    row: Losing,
    { signature, fee }: Lost,
    culprit: Culprit,
    ...more: CompiledQuery[]
  ): Promise<bigint> {
    const loss = lossOf(fee, culprit);
    // On PostgreSQL a statement that waits for a row sees other tables as they were before. So it waits first.
    const locked = db.selectFrom('executions').select('execution_id').where('execution_id', '=', row.execution_id);
    const waiting = isPostgres(db) ? [locked.forUpdate().compile()] : [];
    const written = await writes.underLocks(
      [],
      [...waiting, ...counting(writing, row, signature, culprit, loss), ...more],
    );
    const { changes, rows } = written[waiting.length]!;
    if (changes + rows.length !== 1) return 0n;
    row.lost_fees += loss.lost_fees;
    row.listing_fees += loss.listing_fees;
    if (loss.lost_ms > 0n) row.lost_ms = loss.lost_ms;
    for (const one of row.transactions) if (one.signature === signature) one.culprit = culprit;
    return fee;
  }

  return {
    /**
     * The chain has refused the transaction and taken its fee. `culprit` is null if somebody pays that fee, or as long as
     * only the end of the row will show who caused it.
     */
    async failed(row: Losing, signed: StoredTransaction, culprit: Culprit | null): Promise<bigint> {
      const noted = outcomeNoted(db, row, signed, 'failed');
      const counted = culprit === null ? 0n : await count(row, signed, culprit, noted);
      if (culprit === null) await writes.note(noted);
      for (const one of row.transactions) {
        if (one.signature === signed.signature) Object.assign(one, { outcome: 'failed', fee: signed.fee });
      }
      return counted;
    },
    /** Nobody pays the fee of this transaction, whatever became of it. */
    burnt: (row: Losing, lost: Lost, culprit: Culprit): Promise<bigint> => count(row, lost, culprit),
  };
}
