/**
 * Reads from one node: accounts and the chain's clock at one moment, confirmed or finalized. An answer more than
 * MAX_LAG_SLOTS older than an earlier one is rejected.
 */
import type { AccountInfo, Commitment, Connection, PublicKey } from '@solana/web3.js';
import { CLOCK_ADDRESS, decodeClock } from '../../sdk/program/clock.ts';
import { type Node, readAccounts } from '../../solana/calls.ts';
import { createBatcher } from './batches.ts';
import { type Observe, timed } from './stages.ts';

/**
 * A node that is further behind than this is out of order, for example because it mixes in finalized reads. About 26 s
 * of slots of 200 ms.
 */
export const MAX_LAG_SLOTS = 128;
const CLOCK = CLOCK_ADDRESS.toBase58();

/** Accounts in the requested order, null if there is none, and the chain's clock in unix seconds. */
export interface AccountsAt {
  accounts: (AccountInfo<Buffer> | null)[];
  now: bigint;
  /** The slot of the reading. */
  slot: number;
}

/** The latest state that a node never takes back. */
export interface Finalized {
  slot: number;
  blockHeight: bigint;
}

/** All methods reject if the node does not answer, or is behind an earlier answer. */
export interface Reader {
  /** Accounts at one moment, in the requested order, and the chain's clock at that moment. */
  read(keys: PublicKey[]): Promise<AccountsAt>;
  /** Accounts as finalized at this slot or later. */
  readFinalized(keys: PublicKey[], minSlot: number): Promise<AccountsAt>;
  finalized(): Promise<Finalized>;
  /** One of our transactions landed in this slot. `read` accepts nothing older from now on. */
  landed(slot: number): void;
}

/** The chain's clock by the last reading of any node. */
export interface ChainClock {
  set(now: bigint): void;
  /** Unix seconds, derived from the latest reading. */
  now(): bigint;
}

export function createClock(): ChainClock {
  let latest = { now: BigInt(Math.floor(Date.now() / 1_000)), at: performance.now() };
  return {
    set(now) {
      latest = { now, at: performance.now() };
    },
    now: () => latest.now + BigInt(Math.floor((performance.now() - latest.at) / 1_000)),
  };
}

/** Reads through `node`, and through `connection`, which uses the same node. */
export function createReader(options: {
  node: Node;
  connection: Connection;
  commitment: Commitment;
  clock: ChainClock;
  /** True if this is the only node. Otherwise a reported slot far beyond this node's own is not believed. */
  isAlone: boolean;
  observe?: Observe | undefined;
}): Reader {
  const { node, connection, commitment: usual, clock, observe } = options;
  // The latest slot in which one of our transactions has landed. Older accounts would mislead.
  let landedSlot = 0;
  // The latest slot of a reading. Nodes behind one address differ by a few slots, not by many.
  let readSlot = 0;

  /** Accounts and the Clock of one moment for each reading. Throws if the node is behind an earlier answer. */
  async function readAll(
    commitment: Commitment,
    readings: readonly { addresses: string[]; minSlot: number }[],
  ): Promise<AccountsAt[]> {
    const minContextSlot = Math.max(readSlot - MAX_LAG_SLOTS, ...readings.map(({ minSlot }) => minSlot));
    const addresses = [...new Set([CLOCK, ...readings.flatMap((reading) => reading.addresses)])];
    const { slot, accounts } = await timed(observe, 'chain', () =>
      readAccounts(node, addresses, { commitment, minContextSlot }),
    );
    if (slot < minContextSlot) throw new Error(`the node is at slot ${slot}, expected at least ${minContextSlot}`);
    readSlot = Math.max(readSlot, slot);
    const found = new Map(addresses.map((address, index) => [address, accounts[index] ?? null]));
    const clockAccount = found.get(CLOCK);
    if (!clockAccount) throw new Error('the node has no Clock sysvar');
    const now = decodeClock(clockAccount.data);
    if (commitment === usual) clock.set(now);
    return readings.map((reading) => ({
      accounts: reading.addresses.map((address) => found.get(address) ?? null),
      now,
      slot,
    }));
  }

  const readUsual = createBatcher((readings) => readAll(usual, readings));
  const readFinal = createBatcher((readings) => readAll('finalized', readings));

  return {
    read: (keys) => readUsual({ addresses: keys.map(String), minSlot: landedSlot }),
    readFinalized: (keys, minSlot) => readFinal({ addresses: keys.map(String), minSlot }),
    async finalized() {
      const { absoluteSlot, blockHeight } = await connection.getEpochInfo('finalized');
      return { slot: absoluteSlot, blockHeight: BigInt(blockHeight ?? 0) };
    },
    landed(slot) {
      const believed = options.isAlone || readSlot === 0 ? slot : Math.min(slot, readSlot + MAX_LAG_SLOTS);
      landedSlot = Math.max(landedSlot, believed);
    },
  };
}
