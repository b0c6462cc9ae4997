/**
 * The chain of the embedded node: one LiteSVM, which is Agave's own runtime with all mainnet features. The bank adds
 * what a VM lacks: slots, expiring blockhashes, commitments, fees of transactions that cannot be loaded, and a history.
 *
 * Transactions run one after another, each in the slot of its arrival. Their changes are visible at `processed` at
 * once, at `confirmed` when the slot has ended, and at `finalized` then too, or later by an option. Only simulations see
 * the newest state at every commitment.
 */
import type { Commitment, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
// The bindings below the package's public API. That API would decode and encode every transaction again with another
// library, which also adds 100 ms to each start.
import { Account, EpochSchedule, FailedTransactionMetadata, LiteSvm, Rent } from 'litesvm/dist/internal.js';
import { decimalsIn } from './accountJson.ts';
import { clockAt, clockData } from './clock.ts';
import { History, type Landed, type LandedMeta } from './history.ts';
import { describe, innerInstructionsOf, nameOf, type Outcome, outcomeOf, type Simulated } from './outcome.ts';
import { SLOTS_PER_EPOCH, Slots } from './slots.ts';
import { tokenBalances } from './tokenBalances.ts';
import { type Decoded, feeOf } from './transaction.ts';
import { Versions } from './versions.ts';

/** A cluster cuts a transaction's logs at this length, and says so in the last line. */
const LOG_BYTES = 10_000n;
const CLOCK_ADDRESS = 'SysvarC1ock11111111111111111111111111111111';

/** Errors of transactions that cannot be loaded but still pay a fee. */
const PAID_UNRUN = new Set([
  'ProgramAccountNotFound',
  'InvalidProgramForExecution',
  'MaxLoadedAccountsDataSizeExceeded',
]);

export interface BankOptions {
  /** Length of a slot, ms. */
  slotTimeMs: number;
  /** Slots from a block to its finality: 1 by default, as with Alpenglow; a cluster without it takes 31. */
  finalitySlots?: number | undefined;
}

/** Slots to finality with Alpenglow. */
const ALPENGLOW_SLOTS = 1;
/** Rent of mainnet, lamports a byte. */
const LAMPORTS_PER_BYTE = 5_080n;

/** Receives the chain's events. */
export interface BankListener {
  /** A transaction has run. */
  onLanded(landed: Landed): void;
  /** A new slot has started; the slots after `from` have become confirmed or finalized. */
  onSlot(from: { confirmed: number; finalized: number }): void;
}

export class Bank {
  readonly svm = new LiteSvm();
  readonly slots: Slots;
  readonly history = new History();
  readonly versions = new Versions();
  /** Base58 of 32 random bytes: every node has its own chain. */
  readonly genesisHash: string;
  /** True if blocks are final at once. */
  readonly isAlpenglow: boolean;
  private listener: BankListener | null = null;
  /** Signatures of accepted transactions that have not run yet. */
  private readonly waiting = new Set<string>();

  constructor({ slotTimeMs, finalitySlots = ALPENGLOW_SLOTS }: BankOptions) {
    // The bank checks the last 150 blockhashes; the VM knows one. The VM would also refuse repeated bytes, which the
    // bank's history does.
    this.svm.setBlockhashCheck(false);
    this.svm.setTransactionHistory(0n);
    this.svm.setLogBytesLimit(LOG_BYTES);
    this.svm.setEpochSchedule(new EpochSchedule(BigInt(SLOTS_PER_EPOCH), BigInt(SLOTS_PER_EPOCH), false, 0n, 0n));
    const startMs = Math.max(Date.now(), Number(this.svm.getClock().unixTimestamp) * 1_000);
    this.slots = new Slots(slotTimeMs, finalitySlots, startMs);
    this.isAlpenglow = finalitySlots === ALPENGLOW_SLOTS;
    this.setRent(LAMPORTS_PER_BYTE);
    this.genesisHash = this.slots.blockAt(0).hash;
    this.setClock();
  }

  setRent(lamportsPerByte: bigint): void {
    this.svm.setRent(new Rent(lamportsPerByte, 1, this.svm.getRent().burnPercent));
  }

  listen(listener: BankListener): void {
    this.listener = listener;
  }

  /** Starts the slot clock. If the process is late, the slot is longer, as on a cluster under load. */
  run(slotTimeMs: number): void {
    let due = performance.now() + slotTimeMs;
    const tick = () => {
      this.moveOn(() => this.slots.next());
      due = Math.max(due + slotTimeMs, performance.now());
      setTimeout(tick, due - performance.now());
    };
    setTimeout(tick, slotTimeMs);
  }

  /** Skips to a slot; the clock moves along. */
  leapTo(slot: number): void {
    this.moveOn(() => this.slots.leapTo(slot));
  }

  /** Moves the clock forward within the current slot. */
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
    this.svm.setClock(clockAt(this.slots, this.slots.current));
  }

  /** An account at a commitment; null if there is none. */
  account(address: PublicKey, commitment: Commitment): Account | null {
    const text = address.toBase58();
    const slot = this.slots.at(commitment);
    const past = slot < this.slots.current ? this.versions.asOf(text, slot) : undefined;
    return past === undefined ? this.svm.getAccount(address.toBytes()) : past;
  }

  /** The account's data. Those of the Clock also depend on the commitment. */
  data(address: PublicKey, account: Account, commitment: Commitment): Uint8Array {
    if (address.toBase58() !== CLOCK_ADDRESS) return account.data();
    return clockData(clockAt(this.slots, this.slots.at(commitment)));
  }

  /** All accounts of a program at a commitment. */
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

  /** Writes an account at every commitment. Without lamports, it removes the account. */
  setAccount(address: PublicKey, account: Account): void {
    this.svm.setAccount(address.toBytes(), account);
    this.versions.forget(address.toBase58());
  }

  /** The error that keeps a transaction from running at a commitment, found before its instructions; null if none. */
  refusal(transaction: Pick<Decoded, 'signature' | 'blockhash'>, commitment: Commitment): string | null {
    if (this.history.get(transaction.signature)) return 'AlreadyProcessed';
    return this.slots.isValid(transaction.blockhash, this.slots.at(commitment)) ? null : 'BlockhashNotFound';
  }

  /** Runs a transaction without changing the chain. */
  simulate(transaction: Decoded, verify: boolean): Simulated {
    const { bytes, keys } = transaction;
    if (!verify) this.svm.setSigverify(false);
    try {
      const before = this.accountsOf(keys);
      const result = this.svm.simulateVersionedTransaction(bytes);
      const accounts = result instanceof FailedTransactionMetadata ? [] : result.postAccounts();
      const postAccounts = new Map(accounts.map((entry) => [bs58.encode(entry.address), entry.account()]));
      return {
        ...this.outcomeOf(transaction, before, result),
        postAccounts,
      };
    } finally {
      this.svm.setSigverify(true);
    }
  }

  /** Corrects an error of the VM: it reports a missing program as one that cannot run. */
  private outcomeOf(
    { message }: Decoded,
    before: (Account | null)[],
    result: Parameters<typeof outcomeOf>[0],
  ): Outcome {
    const outcome = outcomeOf(result);
    if (outcome.err !== 'InvalidProgramForExecution') return outcome;
    const isMissing = message.compiledInstructions.some(({ programIdIndex }) => before[programIdIndex] === null);
    return isMissing ? { ...outcome, err: 'ProgramAccountNotFound' } : outcome;
  }

  private accountsOf(keys: PublicKey[]): (Account | null)[] {
    return keys.map((key) => this.svm.getAccount(key.toBytes()));
  }

  private balances(before: (Account | null)[], after: (Account | null)[]) {
    const decimalsOf = (mint: PublicKey): number | null => {
      const account = this.svm.getAccount(mint.toBytes());
      return account ? decimalsIn(account.data()) : null;
    };
    return {
      preBalances: before.map(lamportsOf),
      postBalances: after.map(lamportsOf),
      preTokenBalances: tokenBalances(before, decimalsOf),
      postTokenBalances: tokenBalances(after, decimalsOf),
    };
  }

  /**
   * Accepts a transaction, which runs once however often it is sent. Drops what a cluster would drop: an unknown or
   * expired blockhash, a wrong signature, a payer that cannot pay.
   */
  submit(transaction: Decoded): void {
    const { signature } = transaction;
    if (this.waiting.has(signature)) return;
    this.waiting.add(signature);
    // Runs after the answer: a client that asks for the status in the same request finds none yet.
    setImmediate(() => {
      this.waiting.delete(signature);
      this.execute(transaction);
    });
  }

  private execute(transaction: Decoded): void {
    if (this.refusal(transaction, 'processed') !== null) return;
    const { bytes, keys, message, signature } = transaction;
    const slot = this.slots.current;
    const blockTime = this.slots.clock(slot);
    const before = this.accountsOf(keys);
    const { err, meta } = this.outcomeOf(transaction, before, this.svm.sendVersionedTransaction(bytes));
    const isUnloaded = err !== null && PAID_UNRUN.has(nameOf(err));
    if (isUnloaded) this.charge(keys[0]!, feeOf(message));
    const after = this.accountsOf(keys);
    const balances = this.balances(before, after);
    // Only the fee changes the sum of all balances. A transaction that paid none has not landed.
    const fee = sum(before) - sum(after);
    if (fee === 0n) return;
    const addresses = keys.map((key) => key.toBase58());
    for (const [index, address] of addresses.entries()) {
      if (message.isAccountWritable(index)) this.versions.keep(address, slot, before[index]!);
    }
    const told: LandedMeta = {
      fee: Number(fee),
      ...balances,
      ...describe(meta),
      ...(isUnloaded && { logMessages: null }),
      innerInstructions: isUnloaded ? null : innerInstructionsOf(meta),
    };
    this.listener?.onLanded(
      this.history.add({ signature, slot, blockTime, err, bytes, addresses, meta: JSON.stringify(told) }),
    );
  }

  /** The VM does not charge for a transaction that it cannot load. A cluster does, if the payer has the fee. */
  private charge(payer: PublicKey, fee: number): void {
    const account = this.svm.getAccount(payer.toBytes());
    if (!account || account.lamports() < BigInt(fee)) return;
    const rest = account.lamports() - BigInt(fee);
    this.svm.setAccount(
      payer.toBytes(),
      new Account(rest, account.data(), account.owner(), account.executable(), account.rentEpoch()),
    );
  }
}

function lamportsOf(account: Account | null): number {
  return Number(account?.lamports() ?? 0n);
}

function sum(accounts: (Account | null)[]): bigint {
  return accounts.reduce((total, account) => total + (account?.lamports() ?? 0n), 0n);
}
