/**
 * The forward-only moves of an execution's row. Every move is one statement, so that no crash can leave half of one.
 */
import type { RawBuilder } from 'kysely';
import type { Written } from '../../database/groupCommit.ts';
import type { ExecutionState, JournalRow } from './tables.ts';
import { JournalConflict, type NewTransaction, type Writing } from './writing.ts';

/**
 * For each state, the states that may move to it. A state that may move to itself has bytes that are signed again. No end
 * is taken back here. `unfinished.ts` does that with statements of its own: if a node was wrong about an open
 * (`execution/orphans.ts`), and if a restart of the cluster took final blocks back (`execution/restarted.ts`).
 */
const COMES_FROM: Record<Exclude<ExecutionState, 'accepted'>, readonly ExecutionState[]> = {
  deposit_signed: ['accepted'],
  deposit_confirmed: ['deposit_signed'],
  pay_signed: ['deposit_confirmed'],
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

type Changes = Partial<Omit<JournalRow, 'execution_id' | 'state' | 'lease_owner'>>;
/** Values that the database computes, as SQL without parameters. The given row object does not get them. */
type Computed = { dispatched_ms?: RawBuilder<bigint> };
type Moved = keyof typeof COMES_FROM;

/** A row to move. The move updates this object to match the table. */
export type Moving = Pick<JournalRow, 'execution_id' | 'fees' | 'state'>;

/**
 * Both throw JournalConflict if the row may not move there, belongs to another relay, or has moved since it was read. A
 * row that was another relay's in between may have moved.
 */
export interface Mover {
  /** A move that is on the disk when it resolves: `signed` will be sent, and costs its fee. */
  intend(row: Moving, state: Moved, changes: Changes, signed?: NewTransaction): Promise<void>;
  /** A move that the chain can show again. It reaches the disk with the next intent. */
  note(row: Moving, state: Moved, changes: Changes, computed?: Computed): Promise<void>;
}

const conflict = ({ execution_id: id }: Moving, state: Moved) =>
  new JournalConflict(
    `execution ${id} cannot become ${state}: its state does not allow it, or it has changed, or another relay has it`,
  );

/** Moves rows of the process in `writing`. */
export function createMover({ writes, db, owner, compile }: Writing): Mover {
  function update(row: Moving, state: Moved, changes: Changes, signed?: NewTransaction, computed: Computed = {}) {
    const { execution_id: id } = row;
    if (!COMES_FROM[state].includes(row.state)) throw conflict(row, state);
    const fee = signed?.fee;
    const columns = [...Object.keys(changes), ...Object.keys(computed)];
    const name = [state, signed ? 'signed' : 'unsigned', ...columns].join();
    const values = [...Object.values(changes), state, ...(fee === undefined ? [] : [fee]), id, row.state, owner];
    return compile(name, values, () =>
      db
        .updateTable('executions')
        .set((own) => ({ ...changes, ...computed, state, ...(fee !== undefined && { fees: own('fees', '+', fee) }) }))
        .where('execution_id', '=', id)
        .where('state', '=', row.state)
        .where('lease_owner', '=', owner),
    );
  }

  /** Updates the given row object to match the table. */
  function follow(written: Written, row: Moving, state: Moved, changes: Changes, signed?: NewTransaction): void {
    if (written.changes !== 1) throw conflict(row, state);
    Object.assign(row, changes, { state, ...(signed && { fees: row.fees + signed.fee }) });
  }

  return {
    async intend(row, state, changes, signed) {
      follow(await writes.intend(update(row, state, changes, signed)), row, state, changes, signed);
    },
    async note(row, state, changes, computed) {
      follow(await writes.note(update(row, state, changes, undefined, computed)), row, state, changes);
    },
  };
}
