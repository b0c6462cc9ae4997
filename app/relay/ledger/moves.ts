/**
 * The forward-only moves of an execution's row, each with the transaction that it announces or has seen on the chain. All
 * of a move is in one database transaction, so that no crash can leave half of one.
 */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { NotAll, type Written } from '../../database/groupCommit.ts';
import { isPostgres } from '../../database/portable.ts';
import type { Named } from '../../database/prepared.ts';
import type { ExecutionColumns, ExecutionState, JournalRow, TransactionKind, TransactionRow } from './tables.ts';
import { nextOf, type StoredTransaction } from './transactions.ts';
import { compilable, JournalConflict, type NewTransaction, type Writing } from './writing.ts';

/**
 * For each state, the states that may move to it. A state that may move to itself has bytes that are signed again, and
 * `pay_signed` those of the open. No end is taken back here. `unfinished.ts` does that with statements of its own: if a
 * node was wrong about an open (`execution/recovery/orphans.ts`), and if a restart of the cluster took final blocks back
 * (`execution/recovery/restarted.ts`).
 */
const COMES_FROM: Record<Exclude<ExecutionState, 'accepted'>, readonly ExecutionState[]> = {
  deposit_signed: ['accepted', 'deposit_signed'],
  deposit_confirmed: ['deposit_signed'],
  pay_signed: ['deposit_confirmed', 'pay_signed'],
  paid: ['deposit_confirmed', 'pay_signed'],
  returning: ['deposit_confirmed', 'pay_signed', 'paid', 'returning', 'open_signed'],
  returned: ['returning', 'paid', 'open_signed'],
  open_signed: ['accepted', 'paid', 'open_signed'],
  open_confirmed: ['open_signed', 'paid'],
  dispatched: ['open_confirmed'],
  verified: ['dispatched', 'verified'],
  refunding: ['open_confirmed', 'dispatched', 'verified', 'refunding', 'parked'],
  settled: ['verified', 'refunding', 'open_confirmed', 'dispatched', 'parked'],
  refunded: ['refunding', 'verified', 'open_confirmed', 'dispatched', 'parked'],
  void: ['accepted', 'deposit_signed', 'deposit_confirmed', 'returning', 'open_signed'],
  parked: ['returning', 'verified', 'refunding'],
};

type Changes = Partial<Omit<ExecutionColumns, 'execution_id' | 'state' | 'lease_owner'>>;
type Moved = keyof typeof COMES_FROM;

/** A row to move. The move updates this object to match the table. */
export type Moving = Pick<JournalRow, 'execution_id' | 'state' | 'transactions'>;

/** What a note writes besides its values. */
interface Seen {
  /** Values that the database computes, as SQL without parameters. The given row object does not get them. */
  computed?: { dispatched_ms?: RawBuilder<bigint> };
  /** The transaction that has landed. */
  landed?: TransactionRow | undefined;
}

export type Mover = ReturnType<typeof createMover>;

/** One execution's move in a shared transaction; `fee` is its share of the transaction's. */
export interface SharedMove {
  row: Moving;
  state: Moved;
  changes: Changes;
  fee: bigint;
}

/** The row that may not move with the others. */
export class SharedConflict extends JournalConflict {
  constructor(
    readonly executionId: string,
    message: string,
  ) {
    super(message);
  }
}

const conflict = ({ execution_id: id }: Moving, state: Moved) =>
  new JournalConflict(
    `execution ${id} cannot become ${state}: its state does not allow it, or it has changed, or another relay has it`,
  );

/**
 * Moves rows of the process in `writing`. A move throws JournalConflict if the row may not move there, belongs to another
 * relay, or has moved since it was read. A row that was another relay's in between may have moved.
 */
export function createMover(writing: Writing) {
  const { writes } = writing;

  /** Updates the given row object to match the table. */
  function follow({ changes: count, rows }: Written, row: Moving, state: Moved, changes: Changes): void {
    if (count + rows.length !== 1) throw conflict(row, state);
    Object.assign(row, changes, { state });
  }

  return {
    /** A move that is on the disk when it resolves, with the transaction that will be sent. */
    async intend(row: Moving, state: Moved, changes: Changes, signed?: StoredTransaction): Promise<void> {
      const transaction = signed && nextOf(row, signed);
      follow(
        await writes.intend(...moving(writing, row, state, { changes, signed: transaction })),
        row,
        state,
        changes,
      );
      if (transaction) row.transactions.push(transaction);
    },
    /**
     * Moves of several executions that one transaction announces, all or none, on the disk when it resolves. Throws
     * SharedConflict if one of the rows may not move.
     */
    async intendShared(moves: readonly SharedMove[], kind: TransactionKind, signed: NewTransaction): Promise<void> {
      // In one order, so that no two of these writes wait for each other's rows.
      const ordered = [...moves].sort((one, other) => (one.row.execution_id < other.row.execution_id ? -1 : 1));
      const written = ordered.map((move) => {
        const transaction = nextOf(move.row, { ...signed, kind, fee: move.fee, wholeFee: signed.fee });
        const { row, state, changes } = move;
        if (!COMES_FROM[state].includes(row.state)) throw sharedConflict(move);
        return { move, transaction, queries: moving(writing, row, state, { changes, shared: transaction }) };
      });
      const bytes = storing(writing, written[0]!.transaction);
      const owners = written.flatMap(({ move, queries }) => queries.map(() => move));
      try {
        await writes.intendAll([bytes, ...written.flatMap(({ queries }) => queries)]);
      } catch (error) {
        const moved = error instanceof NotAll ? owners[error.index - 1] : undefined;
        throw moved ? sharedConflict(moved) : error;
      }
      for (const { move, transaction } of written) {
        Object.assign(move.row, move.changes, { state: move.state });
        move.row.transactions.push(transaction);
      }
    },
    /** A move that the chain can show again. It reaches the disk with the next intent. */
    async note(row: Moving, state: Moved, changes: Changes, { computed = {}, landed }: Seen = {}): Promise<void> {
      follow(await writes.note(...moving(writing, row, state, { changes, computed, landed })), row, state, changes);
      if (landed) landed.outcome = 'landed';
    },
  };
}

function sharedConflict({ row, state }: SharedMove): SharedConflict {
  return new SharedConflict(row.execution_id, conflict(row, state).message);
}

interface Move {
  changes: Changes;
  computed?: { dispatched_ms?: RawBuilder<bigint> };
  /** At most one of these three. The bytes of a shared transaction are stored once, beside the moves. */
  signed?: TransactionRow | undefined;
  shared?: TransactionRow | undefined;
  landed?: TransactionRow | undefined;
}

/** Holds in a statement that follows the row's update, if that moved the row. */
export const HAS_MOVED = {
  sqlite: sql<boolean>`changes() = 1`,
  postgres: sql<boolean>`EXISTS (SELECT 1 FROM moved)`,
};

const inserted = (named: Named<TransactionRow>, hasMoved: RawBuilder<boolean>) => sql`
  INSERT INTO transactions (execution_id, kind, attempt, signature, fee, outcome)
  SELECT ${named.execution_id}, ${named.kind}, ${named.attempt}, ${named.signature}, ${named.fee}, ${named.outcome}
  WHERE ${hasMoved}`;

/** Bytes that were signed twice with one blockhash are the same. */
const kept = (named: Named<TransactionRow>, hasMoved: RawBuilder<boolean>) => sql`
  INSERT INTO signed_transactions (signature, last_valid_height, fee, bytes)
  SELECT ${named.signature}, ${named.last_valid_height}, ${named.whole_fee}, ${named.bytes} WHERE ${hasMoved}
  ON CONFLICT (signature) DO NOTHING`;

/** The statement that stores a shared transaction. */
const storing = ({ db, compile }: Writing, transaction: TransactionRow): CompiledQuery =>
  compile('shared', transaction, (named) => compilable(db, kept(named, sql<boolean>`true`)));

const landing = (named: Named<TransactionRow>, hasMoved: RawBuilder<boolean>) => sql`
  UPDATE transactions SET outcome = 'landed'
  WHERE execution_id = ${named.execution_id} AND kind = ${named.kind} AND attempt = ${named.attempt} AND ${hasMoved}`;

/**
 * The statements of a move: the row's, and its transaction's, which changes nothing unless the row moves. On PostgreSQL
 * both are one, because each statement costs a round trip.
 */
function moving(
  { db, compile, owner }: Writing,
  row: Moving,
  state: Moved,
  { changes, computed = {}, signed, shared, landed }: Move,
): [CompiledQuery, ...CompiledQuery[]] {
  if (!COMES_FROM[state].includes(row.state)) throw conflict(row, state);
  const name = [state, ...Object.keys(changes), ...Object.keys(computed)].join();
  const moved = { ...changes, state, was: row.state, execution_id: row.execution_id, lease_owner: owner };
  const columns = [...Object.keys(changes), 'state'] as 'state'[];
  const update = (named: Named<typeof moved>) =>
    db
      .updateTable('executions')
      .set({ ...Object.fromEntries(columns.map((column) => [column, named[column]])), ...computed })
      .where('execution_id', '=', named.execution_id)
      .where('state', '=', named.was)
      .where('lease_owner', '=', named.lease_owner);
  const transaction = signed ?? shared ?? landed;
  if (!transaction) return [compile(name, moved, update)];
  const kind = signed ? 'signed' : shared ? 'shared move' : 'landed';
  const follow = { signed: [inserted, kept], 'shared move': [inserted], landed: [landing] }[kind];
  if (!isPostgres(db)) {
    const followed = follow.map((write, step) =>
      compile(`${kind} ${step}`, transaction, (named) => compilable(db, write(named, HAS_MOVED.sqlite))),
    );
    return [compile(name, moved, update), ...followed];
  }
  const all = (named: Named<typeof moved & TransactionRow>) => sql`
    WITH moved AS (${update(named).returning('execution_id')}),
      ${sql.join(follow.map((write, step) => sql`${sql.ref(`followed_${step}`)} AS (${write(named, HAS_MOVED.postgres)})`))}
    SELECT execution_id FROM moved`;
  return [compile(`${name} ${kind}`, { ...moved, ...transaction }, (named) => compilable(db, all(named)))];
}
