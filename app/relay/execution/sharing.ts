/**
 * Collects calls that are ready at about the same time into one transaction, so that they share its fee. The first one
 * goes alone and at once. Those that are ready within 200 ms of it leave together: simulated, stored in one write, then
 * sent by each of them. A call whose part would fail goes alone. So does one that nothing can be shared with.
 */
import type { TransactionInstruction } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import { chunks } from '../../process/chunks.ts';
import { type ExecutionRecord, findExecution, findSpender, parseAddress } from '../../sdk/program/program.ts';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import { least } from '../../sdk/wire/amounts.ts';
import type { Outcome } from '../chain/confirmations.ts';
import { type TransactionFailure, UPGRADING } from '../chain/failures.ts';
import { LAMPORTS_PER_SIGNATURE } from '../chain/networkFee.ts';
import { type Budget, instructionOf, MOST_UNITS } from '../chain/versionOne.ts';
import { createVersionOneTrial } from '../chain/versionOneTrial.ts';
import { chainUnreadable } from '../errors.ts';
import { SharedConflict, type SharedMove } from '../ledger/moves.ts';
import type { JournalRow, TransactionKind } from '../ledger/tables.ts';
import { type StoredTransaction, transactionsOf } from '../ledger/transactions.ts';
import type { EngineDeps } from './deps.ts';

/** How long calls are collected: about a slot, so that waiting delays them by one block at most. */
const WINDOW_MS = 200;
/** A wallet or listing whose open failed, or that made a shared transaction fail, goes alone for so long. */
const ALONE_MS = 3_600_000;
const MAX_ALONE = 10_000;

/** The kinds that are shared, each with its own kind only. `buy` is an open from a deposit. */
export type SharedKind = 'open' | 'settle' | 'refund' | 'deposit' | 'buy';

interface Kind {
  /** The kind of its transactions in the ledger. */
  kind: TransactionKind;
  /**
   * Maximum of a transaction. A node cuts its log after 10,000 bytes, and the index reads events from the log: at most
   * 1,940 bytes of an open, 1,160 of a settle, 960 of a refund, 2,170 of a deposit, 2,250 of an open from one. The runtime
   * runs at most 64 instructions, calls between programs included: at most 11 of any of these, also if strangers sent
   * lamports to its addresses before. All fit version 1.
   */
  most: number;
}

const KINDS: Record<SharedKind, Kind> = {
  open: { kind: 'open', most: 5 },
  settle: { kind: 'settle', most: 8 },
  refund: { kind: 'refund', most: 8 },
  deposit: { kind: 'deposit', most: 4 },
  buy: { kind: 'open', most: 4 },
};

/** One call's part of a shared transaction. `fee` is its share of the network fee, lamports. */
export interface Part extends Pick<SharedMove, 'state' | 'changes'> {
  instruction(fee: bigint): TransactionInstruction;
  /** Maximum priority fee, lamports. */
  mostPriority: bigint;
}

interface Member extends Part {
  row: JournalRow;
  /** True once the shared transaction is stored, false if the call goes alone. Only its first decision counts. */
  resolve(isShared: boolean): void;
  reject(error: unknown): void;
}

export type Sharing = ReturnType<typeof createSharing>;

export function createSharing({
  chain,
  journal,
  hasPaid,
  log,
}: Pick<EngineDeps, 'chain' | 'journal' | 'hasPaid' | 'log'>) {
  const queues = Object.fromEntries(Object.entries(KINDS).map(([name, kind]) => [name, createQueue(kind)])) as Record<
    SharedKind,
    ReturnType<typeof createQueue>
  >;
  const alone = new LRUCache<string, true>({ max: MAX_ALONE, ttl: ALONE_MS });
  // A failure costs nothing but the sharing. The newest block shows payments that are not final yet.
  const trial = createVersionOneTrial(
    chain.simulateNewest,
    log,
    'cannot simulate a shared transaction; each call gets its own for a minute',
  );

  /** Only wallets that have paid may share, so strangers cannot spoil it. A second attempt does not wait again. */
  async function mayShare({ kind }: Kind, row: JournalRow): Promise<boolean> {
    if (trial.isPaused() || transactionsOf(row, kind).length > 0) return false;
    if (alone.has(row.wallet) || alone.has(row.listing)) return false;
    // A lost database is no reason to wait.
    return hasPaid(row.wallet).catch(() => false);
  }

  /** The calls of one kind that wait for the end of the present window. */
  function createQueue(kind: Kind) {
    let waiting: Member[] = [];
    let leftAt = Number.NEGATIVE_INFINITY;

    function leave(): void {
      const members = waiting;
      waiting = [];
      leftAt = performance.now();
      for (const group of chunks(members, kind.most)) void send(kind, group);
    }

    return {
      /** True if nothing else has left within this window. */
      leavesNow(): boolean {
        const now = performance.now();
        if (waiting.length > 0 || now < leftAt + WINDOW_MS) return false;
        leftAt = now;
        return true;
      },
      join(member: Member): void {
        waiting.push(member);
        if (waiting.length === 1) setTimeout(leave, Math.max(0, leftAt + WINDOW_MS - performance.now()));
      },
    };
  }

  /** Decides each member: those of another transaction do not depend on what becomes of this one. */
  async function send(kind: Kind, members: Member[]): Promise<void> {
    try {
      if (members.length < 2) sendAlone(members);
      else await store(kind, members);
    } catch (error) {
      for (const member of members) member.reject(error);
    }
  }

  function sendAlone(members: Member[]): void {
    for (const member of members) member.resolve(false);
  }

  /** Simulates and stores a transaction of at least two. Those that cannot be part of it are sent without it. */
  async function store(kind: Kind, members: Member[]): Promise<void> {
    const count = BigInt(members.length);
    const mostPriority = members.reduce((most, one) => least(most, one.mostPriority), members[0]!.mostPriority) * count;
    const budgetOf = (units: number) => chain.budgetOf(units, members.length, mostPriority);
    const sign = async (budget: Budget) => {
      const shares = sharesOf(LAMPORTS_PER_SIGNATURE + budget.priority, members.length);
      const instructions = members.map(({ instruction }, index) => instruction(shares[index]!));
      return { shares, signed: await chain.signMany(instructions, budget).catch(chainUnreadable) };
    };
    // The largest budget costs the most. One that suffices is known after the simulation.
    const largest = await sign(budgetOf(MOST_UNITS));
    const tried = await trial.simulate(largest.signed.bytes);
    if (tried === 'unknown') return sendAlone(members);
    if (tried.failure) {
      const failed = failedOf(members, tried.failure);
      return failed ? sendWithout(kind, members, failed) : sendHalves(kind, members);
    }
    const budget = budgetOf(tried.units);
    if (budget.units === MOST_UNITS) return sendHalves(kind, members);
    const { shares, signed } = await sign(budget);
    const moves = members.map(({ row, state, changes }, index) => ({ row, state, changes, fee: shares[index]! }));
    try {
      await journal.intendShared(moves, kind.kind, signed);
    } catch (error) {
      const moved =
        error instanceof SharedConflict && members.find(({ row }) => row.execution_id === error.executionId);
      if (!moved) throw error;
      return sendWithout(kind, members, moved);
    }
    for (const member of members) member.resolve(true);
  }

  function sendWithout(kind: Kind, members: Member[], without: Member): Promise<void> {
    sendAlone([without]);
    return send(
      kind,
      members.filter((member) => member !== without),
    );
  }

  async function sendHalves(kind: Kind, members: Member[]): Promise<void> {
    const middle = Math.ceil(members.length / 2);
    await Promise.all([send(kind, members.slice(0, middle)), send(kind, members.slice(middle))]);
  }

  return {
    /**
     * True once the row's move is stored with a transaction that other calls share. False if the call has to go alone,
     * which may be at once. `partOf` is called only if it may share; null if it may not after all. Throws ApiError 503
     * if the node returns no blockhash, and the database's error if the ledger does not answer.
     */
    async share(kind: SharedKind, row: JournalRow, partOf: () => Promise<Part | null>): Promise<boolean> {
      if (!(await mayShare(KINDS[kind], row)) || queues[kind].leavesNow()) return false;
      const part = await partOf();
      if (part === null) return false;
      return new Promise((resolve, reject) => queues[kind].join({ ...part, row, resolve, reject }));
    },
    /** This wallet or listing goes alone for a while, because its part failed. */
    exclude: (address: string): void => void alone.set(address, true),
  };
}

/** The call whose part would fail by the program's own check. Any other failure may be that of the whole. */
function failedOf(members: Member[], { error, instruction, byProgram }: TransactionFailure): Member | undefined {
  return error === null || instruction === null || !byProgram ? undefined : members[instruction];
}

type Failing = 'own' | 'others' | 'unknown';

/** True for a first failure in an upgrade, which lasts until the next slot. A program that was closed fails again. */
export const isInUpgrade = (row: JournalRow, kind: TransactionKind, outcome: Outcome): boolean =>
  outcome.kind === 'failed' && outcome.error === UPGRADING && transactionsOf(row, kind).length === 1;

/**
 * Whose part made a shared transaction fail: the row's own, or that of others, which costs this row nothing. `unknown`
 * if it failed as a whole: then the operator bears it. Null if it is not shared, or has not failed.
 */
export function partIn(
  { execution_id: id, deposit }: Pick<JournalRow, 'execution_id' | 'deposit'>,
  { kind, bytes, fee, wholeFee = fee }: StoredTransaction,
  outcome: Outcome,
): Failing | null {
  if (outcome.kind !== 'failed' || wholeFee === fee) return null;
  // The runtime's limits count all instructions, so the one that breaks them may be innocent.
  if (!outcome.byProgram) return 'unknown';
  const own = instructionOf(bytes, kind === 'deposit' ? parseAddress(deposit!) : findExecution(parseUuid(id)!));
  if (own === null || outcome.instruction === null) return 'unknown';
  return own === outcome.instruction ? 'own' : 'others';
}

/** The row whose part made a shared transaction fail bears its whole fee. */
export const borne = (signed: StoredTransaction, part: Failing | null): StoredTransaction =>
  part === 'own' ? { ...signed, fee: signed.wholeFee ?? signed.fee } : signed;

/**
 * True if the record's rent goes back to this relay or to the caller's gas balance. A wallet that opened the record itself
 * may have named an account that delays the transactions of others.
 */
export const isUsual = (
  { authority }: Pick<EngineDeps['chain'], 'authority'>,
  { caller, rentSponsor }: Pick<ExecutionRecord, 'caller' | 'rentSponsor'>,
): boolean => rentSponsor.equals(authority) || rentSponsor.equals(findSpender(caller));

/** Divides a fee; the shares add up to it. */
export function sharesOf(fee: bigint, count: number): bigint[] {
  const [least, more] = [fee / BigInt(count), Number(fee % BigInt(count))];
  return Array.from({ length: count }, (_, index) => (index < more ? least + 1n : least));
}
