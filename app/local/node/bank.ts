/**
 * The chain of the embedded node: one LiteSVM, which is Agave's own runtime with every feature that mainnet has, and
 * around it what a VM lacks: slots, blockhashes that expire, commitments, and a history.
 *
 * Transactions run one after another, each in the slot in which it came. What they change is seen at `processed` at once,
 * at `confirmed` when the slot has ended, at `finalized` 31 slots later. Simulations alone see the newest state at every
 * commitment.
 */
import type { Commitment, PublicKey, TransactionError } from '@solana/web3.js';
import bs58 from 'bs58';
// The bindings below the package's own face, which would decode every transaction by another library only to encode it
// again, and bring that library's 100 ms into each start.
import {
  type Account,
  Clock,
  EpochSchedule,
  FailedTransactionMetadata,
  LiteSvm,
  type TransactionMetadata,
} from 'litesvm/dist/internal.js';
import { decimalsIn } from './accountJson.ts';
import { History, type Landed, type LandedMeta } from './history.ts';
import { SLOTS_PER_EPOCH, Slots } from './slots.ts';
import { tokenBalances } from './tokenBalances.ts';
import { type Decoded, readError } from './transaction.ts';
import { Versions } from './versions.ts';

/** A cluster cuts a transaction's logs here, and says so in the last line. */
const LOG_BYTES = 10_000n;
const CLOCK_ADDRESS = 'SysvarC1ock11111111111111111111111111111111';

export interface BankOptions {
  /** Length of a slot, ms. */
  slotTimeMs: number;
  /**
   * Runs each transaction this long after it came, and confirms it at once: a chain of known latency, for measurements.
   * Without it transactions run at once and are confirmed when their slot ends. ms.
   */
  latencyMs?: number | undefined;
  /** The VM to go on with; a new one without. */
  svm?: LiteSvm | undefined;
}

/** What a run or a simulation came to. */
export interface Outcome {
  err: TransactionError | null;
  meta: TransactionMetadata;
}

/** Hears what happens on the chain. */
export interface BankListener {
  /** A transaction has run. */
  onLanded(landed: Landed): void;
  /** Another slot has begun; those after `from` have become confirmed or finalized. */
  onSlot(from: { confirmed: number; finalized: number }): void;
}

export class Bank {
  readonly svm: LiteSvm;
  readonly slots: Slots;
  readonly history = new History();
  readonly versions = new Versions();
  /** Base58 of 32 random bytes: every node is a chain of its own. */
  readonly genesisHash: string;
  private listener: BankListener | null = null;
  private readonly latencyMs: number | null;
  /** Signatures that wait for their time to run. */
  private readonly waiting = new Set<string>();

  constructor({ slotTimeMs, latencyMs, svm }: BankOptions) {
    this.svm = svm ?? new LiteSvm();
    // Ours, over the last 150 slots; the VM knows one blockhash. And it would refuse what it has seen only by its bytes.
    this.svm.setBlockhashCheck(false);
    this.svm.setTransactionHistory(0n);
    this.svm.setLogBytesLimit(LOG_BYTES);
    this.svm.setEpochSchedule(new EpochSchedule(BigInt(SLOTS_PER_EPOCH), BigInt(SLOTS_PER_EPOCH), false, 0n, 0n));
    const startMs = Math.max(Date.now(), Number(this.svm.getClock().unixTimestamp) * 1_000);
    this.latencyMs = latencyMs ?? null;
    this.slots = new Slots(slotTimeMs, startMs, this.latencyMs !== null);
    this.genesisHash = this.slots.blockAt(0).hash;
    this.setClock();
  }

  listen(listener: BankListener): void {
    this.listener = listener;
  }

  /** Starts the slot clock. A slot that the process is late for is longer, as under load on a cluster. */
  run(slotTimeMs: number): void {
    let due = performance.now() + slotTimeMs;
    const tick = () => {
      this.moveOn(() => this.slots.next());
      due = Math.max(due + slotTimeMs, performance.now());
      setTimeout(tick, due - performance.now());
    };
    setTimeout(tick, slotTimeMs);
  }

  /** Leaps over slots, with their time. */
  leapTo(slot: number): void {
    this.moveOn(() => this.slots.leapTo(slot));
  }

  /** Sets the clock on, in the slot that runs. */
  setTime(unixMs: number): void {
    this.slots.setTime(unixMs);
    this.setClock();
  }

  private moveOn(step: () => void): void {
    const { confirmed, finalized } = this.slots;
    step();
    this.setClock();
    this.listener?.onSlot({ confirmed, finalized });
    this.versions.prune(this.slots.finalized);
  }

  private setClock(): void {
    this.svm.setClock(this.clockAt(this.slots.current));
  }

  private clockAt(slot: number): Clock {
    const epoch = Math.floor(slot / SLOTS_PER_EPOCH);
    const time = BigInt(this.slots.clock(slot));
    const epochStart = this.slots.time(epoch * SLOTS_PER_EPOCH);
    return new Clock(
      BigInt(slot),
      epochStart === null ? time : BigInt(epochStart),
      BigInt(epoch),
      BigInt(epoch + 1),
      time,
    );
  }

  /** An account as of a commitment; null where there is none. */
  account(address: PublicKey, commitment: Commitment): Account | null {
    const text = address.toBase58();
    const slot = this.slots.at(commitment);
    const past = slot < this.slots.current ? this.versions.asOf(text, slot) : undefined;
    return past === undefined ? this.svm.getAccount(address.toBytes()) : past;
  }

  /** The account's data, of which the Clock's depend on the commitment as well. */
  data(address: PublicKey, account: Account, commitment: Commitment): Uint8Array {
    if (address.toBase58() !== CLOCK_ADDRESS) return account.data();
    const { slot, epochStartTimestamp, epoch, leaderScheduleEpoch, unixTimestamp } = this.clockAt(
      this.slots.at(commitment),
    );
    return new Uint8Array(
      new BigUint64Array([slot, epochStartTimestamp, epoch, leaderScheduleEpoch, unixTimestamp]).buffer,
    );
  }

  /** All accounts of a program as of a commitment. */
  programAccounts(program: PublicKey, commitment: Commitment): Map<string, Account> {
    const found = new Map<string, Account>();
    for (const entry of this.svm.getProgramAccounts(program.toBytes())) {
      found.set(bs58.encode(entry.address), entry.account());
    }
    for (const [address, before] of this.versions.changedSince(this.slots.at(commitment))) {
      if (before && Buffer.from(before.owner()).equals(program.toBytes())) found.set(address, before);
      else found.delete(address);
    }
    return found;
  }

  /** Writes an account as it is, at every commitment. One without lamports is gone. */
  setAccount(address: PublicKey, account: Account): void {
    this.svm.setAccount(address.toBytes(), account);
    this.versions.forget(address.toBase58());
  }

  /** Why a transaction cannot run, seen from a commitment, before its instructions are looked at; null where it can. */
  refusal(transaction: Pick<Decoded, 'signature' | 'blockhash'>, commitment: Commitment): string | null {
    if (this.history.get(transaction.signature)) return 'AlreadyProcessed';
    return this.slots.isValid(transaction.blockhash, this.slots.at(commitment)) ? null : 'BlockhashNotFound';
  }

  /** Runs a transaction without effect. */
  simulate({ bytes }: Decoded, verify: boolean): Outcome & { postAccounts: Map<string, Account> } {
    if (!verify) this.svm.setSigverify(false);
    try {
      const result = this.svm.simulateVersionedTransaction(bytes);
      const accounts = result instanceof FailedTransactionMetadata ? [] : result.postAccounts();
      return {
        ...outcomeOf(result),
        postAccounts: new Map(accounts.map((entry) => [bs58.encode(entry.address), entry.account()])),
      };
    } finally {
      this.svm.setSigverify(true);
    }
  }

  /**
   * Takes a transaction, which runs once however often it comes. What a cluster would drop is dropped: a blockhash that is
   * unknown or expired, a signature that is wrong, a payer that cannot pay.
   */
  submit(transaction: Decoded): void {
    const { signature } = transaction;
    if (this.waiting.has(signature)) return;
    if (!this.latencyMs) {
      this.execute(transaction);
      return;
    }
    this.waiting.add(signature);
    setTimeout(() => {
      this.waiting.delete(signature);
      this.execute(transaction);
    }, this.latencyMs);
  }

  private execute(transaction: Decoded): void {
    if (this.refusal(transaction, 'processed') !== null) return;
    const { bytes, keys, message, signature } = transaction;
    const slot = this.slots.current;
    const blockTime = this.slots.clock(slot);
    const before = keys.map((key) => this.svm.getAccount(key.toBytes()));
    const { err, meta } = outcomeOf(this.svm.sendVersionedTransaction(bytes));
    const pre = before.map((account) => account?.lamports() ?? 0n);
    const after = keys.map((key) => this.svm.getAccount(key.toBytes()));
    const post = after.map((account) => account?.lamports() ?? 0n);
    // Nothing is made or burnt but the fee; who pays none has not landed.
    const fee = Number(sum(pre) - sum(post));
    if (fee === 0) return;
    const addresses = keys.map((key) => key.toBase58());
    for (const [index, address] of addresses.entries()) {
      if (message.isAccountWritable(index)) this.versions.keep(address, slot, before[index]!);
    }
    const decimalsOf = (mint: PublicKey): number | null => {
      const account = this.svm.getAccount(mint.toBytes());
      return account ? decimalsIn(account.data()) : null;
    };
    const balances = {
      preBalances: pre.map(Number),
      postBalances: post.map(Number),
      preTokenBalances: tokenBalances(before, decimalsOf),
      postTokenBalances: tokenBalances(after, decimalsOf),
    };
    const told = JSON.stringify({ fee, ...balances, ...describe(meta) } satisfies LandedMeta);
    this.listener?.onLanded(this.history.add({ signature, slot, blockTime, err, bytes, addresses, meta: told }));
  }
}

function sum(values: bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

function outcomeOf(result: ReturnType<LiteSvm['sendVersionedTransaction' | 'simulateVersionedTransaction']>): Outcome {
  if (result instanceof FailedTransactionMetadata) return { err: readError(result.toString()), meta: result.meta() };
  return { err: null, meta: 'meta' in result ? result.meta() : result };
}

/** What the VM tells of a run, as it goes over the wire. */
export function describe(
  meta: TransactionMetadata,
): Omit<LandedMeta, 'fee' | `${'pre' | 'post'}${'' | 'Token'}Balances`> {
  const returned = meta.returnData();
  const data = Buffer.from(returned.data());
  return {
    logMessages: meta.logs(),
    innerInstructions: meta.innerInstructions().flatMap((inner, index) =>
      inner.length === 0
        ? []
        : {
            index,
            instructions: inner.map((entry) => {
              const instruction = entry.instruction();
              return {
                programIdIndex: instruction.programIdIndex(),
                accounts: [...instruction.accounts()],
                data: bs58.encode(instruction.data()),
                stackHeight: entry.stackHeight(),
              };
            }),
          },
    ),
    computeUnitsConsumed: Number(meta.computeUnitsConsumed()),
    returnData:
      data.length > 0
        ? { programId: bs58.encode(returned.programId()), data: [data.toString('base64'), 'base64'] }
        : null,
  };
}
