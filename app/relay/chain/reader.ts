/**
 * Reads from one node: final accounts and the chain's clock at one moment. An answer more than MAX_LAG_SLOTS older than
 * an earlier one is rejected, for example of a node that was restarted from an old snapshot.
 */
import type { AccountInfo, Connection, PublicKey } from '@solana/web3.js';
import { CLOCK_ADDRESS, decodeClock } from '../../sdk/program/clock.ts';
import { type Node, readAccounts } from '../../solana/calls.ts';
import { createBatcher, type Reading } from './batches.ts';
import { type Observe, timed } from './stages.ts';

/** Everything that decides about money is read at this commitment. What it shows never comes back. */
export const COMMITMENT = 'finalized';
/** A node that is further behind than this is out of order. About 26 s of slots of 200 ms. */
export const MAX_LAG_SLOTS = 128;
const CLOCK = CLOCK_ADDRESS.toBase58();

/** Accounts in the requested order, null if there is none, and the chain's clock in unix seconds. */
export interface AccountsAt {
  accounts: (AccountInfo<Buffer> | null)[];
  now: bigint;
  /** The slot of the reading. */
  slot: number;
}

/** The latest final block. */
export interface Finalized {
  slot: number;
  blockHeight: bigint;
}

export type Reader = ReturnType<typeof createReader>;

export type ChainClock = ReturnType<typeof createClock>;

/** The chain's clock by the last reading of any node. */
export function createClock() {
  let latest = { now: BigInt(Math.floor(Date.now() / 1_000)), at: performance.now() };
  return {
    set(now: bigint): void {
      latest = { now, at: performance.now() };
    },
    /** Unix seconds, derived from the latest reading. */
    now: (): bigint => latest.now + BigInt(Math.floor((performance.now() - latest.at) / 1_000)),
  };
}

/**
 * Reads through `node`, and through `connection`, which uses the same node. All methods reject if the node does not
 * answer, or is behind an earlier answer.
 */
export function createReader(options: {
  node: Node;
  connection: Connection;
  clock: ChainClock;
  /** True if this is the only node. Otherwise a reported slot far beyond this node's own is not believed. */
  isAlone: boolean;
  observe?: Observe | undefined;
}) {
  const { node, connection, clock, observe } = options;
  // The latest slot in which one of our transactions has landed. Older accounts would mislead.
  let landedSlot = 0;
  // The latest slot of a reading. Nodes behind one address differ by a few slots, not by many.
  let readSlot = 0;

  /** Accounts and the Clock of one moment for each reading. Throws if the node is behind an earlier answer. */
  async function readAll(readings: readonly Reading[]): Promise<AccountsAt[]> {
    const minContextSlot = Math.max(readSlot - MAX_LAG_SLOTS, ...readings.map(({ minSlot }) => minSlot));
    const addresses = [...new Set([CLOCK, ...readings.flatMap((reading) => reading.addresses)])];
    const { slot, accounts } = await timed(observe, 'chain', () =>
      readAccounts(node, addresses, { commitment: COMMITMENT, minContextSlot }),
    );
    if (slot < minContextSlot) throw new Error(`the node is at slot ${slot}, expected at least ${minContextSlot}`);
    readSlot = Math.max(readSlot, slot);
    const found = new Map(addresses.map((address, index) => [address, accounts[index] ?? null]));
    const clockAccount = found.get(CLOCK);
    if (!clockAccount) throw new Error('the node has no Clock sysvar');
    const now = decodeClock(clockAccount.data);
    clock.set(now);
    return readings.map((reading) => ({
      accounts: reading.addresses.map((address) => found.get(address) ?? null),
      now,
      slot,
    }));
  }

  const readTogether = createBatcher(readAll);

  return {
    /**
     * Accounts at one moment, in the requested order, and the chain's clock at that moment: `minSlot` or later. By
     * default nothing older than our own transactions.
     */
    read: (keys: PublicKey[], minSlot = landedSlot): Promise<AccountsAt> =>
      readTogether({ addresses: keys.map(String), minSlot }),
    async finalized(): Promise<Finalized> {
      const { absoluteSlot, blockHeight } = await connection.getEpochInfo(COMMITMENT);
      return { slot: absoluteSlot, blockHeight: BigInt(blockHeight ?? 0) };
    },
    /** One of our transactions landed in this slot. `read` accepts nothing older from now on. */
    landed(slot: number): void {
      const believed = options.isAlone || readSlot === 0 ? slot : Math.min(slot, readSlot + MAX_LAG_SLOTS);
      landedSlot = Math.max(landedSlot, believed);
    },
  };
}
