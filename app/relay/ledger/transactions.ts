/**
 * The tables of transactions: everything that was signed for executions. A transaction is inserted by the move that
 * announces it, or by the moves of all calls that share it, and its outcome is set by what the chain shows.
 */
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import type { JournalRow, LedgerDatabase, TransactionKind, TransactionOutcome, TransactionRow } from './tables.ts';
import type { NewTransaction, Writing } from './writing.ts';

/** A transaction as it is stored for one execution; `fee` is the execution's share. */
export interface StoredTransaction extends NewTransaction {
  kind: TransactionKind;
  /** The fee of all executions that share it, lamports; by default they do not. */
  wholeFee?: bigint;
  /** Given if these bytes are never sent. */
  outcome?: 'expired';
}

/** The transactions of an execution, in the order of kind and attempt. */
export async function readTransactions(
  { db, compile }: Pick<Writing, 'db' | 'compile'>,
  id: string,
): Promise<TransactionRow[]> {
  const query = compile('transactions', { id }, (named) =>
    db
      .selectFrom('transactions as t')
      .innerJoin('signed_transactions as s', 's.signature', 't.signature')
      .selectAll('t')
      .select(['s.last_valid_height', 's.bytes', 's.fee as whole_fee'])
      .where('t.execution_id', '=', named.id)
      .orderBy('t.kind')
      .orderBy('t.attempt'),
  );
  return (await db.executeQuery(query)).rows;
}

/** True if other executions share the transaction: its fee is only a part of the whole. */
export const isShared = ({ fee, whole_fee: whole }: Pick<TransactionRow, 'fee' | 'whole_fee'>): boolean =>
  fee !== whole;

type Signed = Pick<JournalRow, 'transactions'>;

/** The transactions of one kind, the oldest first. */
export const transactionsOf = ({ transactions }: Signed, kind: TransactionKind): TransactionRow[] =>
  transactions.filter((one) => one.kind === kind);

/** The last transaction of one kind. Throws if there is none. */
export function lastOf(row: Signed, kind: TransactionKind): StoredTransaction {
  const last = transactionsOf(row, kind).at(-1);
  if (!last) throw new Error(`a journal row lacks its signed ${kind}`);
  const { bytes, signature, last_valid_height: lastValidHeight, fee, whole_fee: wholeFee } = last;
  return { kind, bytes, signature, lastValidHeight, fee, wholeFee };
}

/** The transaction of one kind that landed; without one, the last that may have landed. */
export function landedOf(row: Signed, kind: TransactionKind): TransactionRow | undefined {
  const known = transactionsOf(row, kind);
  return known.findLast(({ outcome }) => outcome === 'landed') ?? known.findLast(({ outcome }) => outcome === null);
}

/**
 * The only transaction of one kind with an unknown outcome. If there are several, any of them may have landed. Bytes that
 * were signed twice with one blockhash are the same transaction.
 */
export function undecidedOf(row: Signed, kind: TransactionKind): TransactionRow | undefined {
  const [one, ...more] = transactionsOf(row, kind).filter(({ outcome }) => outcome === null);
  return more.every(({ signature }) => signature === one?.signature) ? one : undefined;
}

/** The sum of the fees that the chain took, of each transaction once. */
function takenFees(some: TransactionRow[]): bigint {
  const taken = some.filter(({ outcome }) => outcome === 'landed' || outcome === 'failed');
  const fees = new Map(taken.map(({ signature, fee }) => [signature, fee]));
  return [...fees.values()].reduce((sum, fee) => sum + fee, 0n);
}

/** Network fees that the chain took for a row's transactions, lamports. */
export const paidFees = ({ transactions }: Signed): bigint => takenFees(transactions);

/** The part of them that a relay authority paid. The payments of x402 clients have a fee payer of their own. */
export const feesOfAuthority = ({ transactions }: Signed): bigint =>
  takenFees(transactions.filter(({ kind }) => kind !== 'pay'));

/** True if the chain has refused these bytes already: they were signed again with the same blockhash. */
export const isRefused = ({ transactions }: Signed, { signature }: NewTransaction): boolean =>
  transactions.some((one) => one.outcome === 'failed' && one.signature === signature);

/** The row of the next transaction of its kind. */
export const nextOf = (
  row: Signed & Pick<JournalRow, 'execution_id'>,
  { kind, bytes, signature, lastValidHeight, fee, wholeFee, outcome }: StoredTransaction,
): TransactionRow => ({
  execution_id: row.execution_id,
  kind,
  attempt: BigInt(transactionsOf(row, kind).length),
  signature,
  last_valid_height: lastValidHeight,
  fee,
  whole_fee: wholeFee ?? fee,
  outcome: outcome ?? null,
  culprit: null,
  bytes: Buffer.from(bytes),
});

/**
 * The statement that notes what became of a transaction. Only a failure replaces another outcome. It also sets the fee:
 * the execution that made a shared transaction fail bears all of it.
 */
export function outcomeNoted(
  db: Writing['db'],
  { execution_id: id }: Pick<JournalRow, 'execution_id'>,
  { kind, signature, fee }: Pick<StoredTransaction, 'kind' | 'signature'> & Partial<Pick<StoredTransaction, 'fee'>>,
  outcome: TransactionOutcome,
): CompiledQuery {
  return db
    .updateTable('transactions')
    .set({ outcome, ...(outcome === 'failed' && { fee }) })
    .where('execution_id', '=', id)
    .where('kind', '=', kind)
    .where('signature', '=', signature)
    .$if(outcome !== 'failed', (query) => query.where('outcome', 'is', null))
    .compile();
}

/** The outcomes of one journal's transactions. */
export function createOutcomes({ writes, db }: Writing) {
  return {
    /** Notes that a transaction of this row has landed or expired. A node that has forgotten a failure changes nothing. */
    async decided(
      row: Signed & Pick<JournalRow, 'execution_id'>,
      signed: Pick<StoredTransaction, 'kind' | 'signature'>,
      outcome: Exclude<TransactionOutcome, 'failed'>,
    ): Promise<void> {
      const known = transactionsOf(row, signed.kind).filter(({ signature }) => signature === signed.signature);
      if (known.length === 0)
        throw new Error(`execution ${row.execution_id} has no ${signed.kind} with the signature ${signed.signature}`);
      await writes.note(outcomeNoted(db, row, signed, outcome));
      for (const one of known) one.outcome ??= outcome;
    },
  };
}

/**
 * The signature of an execution's transaction of one of these kinds: that of the landed one, else of the last that may
 * land.
 */
export const signatureOf = (...kinds: TransactionKind[]): RawBuilder<string | null> => sql<string | null>`(
  SELECT signature FROM transactions AS t
  WHERE t.execution_id = executions.execution_id AND t.kind IN (${sql.join(kinds.map((kind) => sql.lit(kind)))})
    AND (t.outcome IS NULL OR t.outcome = 'landed')
  ORDER BY CASE t.outcome WHEN 'landed' THEN 0 ELSE 1 END, t.kind, t.attempt DESC LIMIT 1)`;

/** The signatures of all opens of an execution. */
export async function readOpenSignatures(views: Kysely<LedgerDatabase>, executionId: string): Promise<string[]> {
  const opens = await views
    .selectFrom('transactions')
    .select('signature')
    .where('execution_id', '=', executionId)
    .where('kind', '=', 'open')
    .execute();
  return opens.map(({ signature }) => signature);
}
