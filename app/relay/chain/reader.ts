/** Accounts of one moment with the chain's clock, as confirmed or as finalized, and never from a node that is behind. */
import type { AccountInfo, Commitment, Connection, PublicKey } from '@solana/web3.js';
import DataLoader from 'dataloader';
import { CLOCK_ADDRESS, decodeClock } from '../../sdk/program/clock.ts';
import { readAccounts } from '../../solana/calls.ts';
import { type Observe, timed } from './stages.ts';

/** A node further behind the latest one heard of is out of order: some 10 s, finalized reads among the others. */
const MAX_LAG_SLOTS = 64;
const CLOCK = CLOCK_ADDRESS.toBase58();
/** Of at most four accounts each beside the Rent sysvar: with it and the clock no more than 100, a node's most at once. */
const MAX_READINGS = 24;

/** Accounts that one caller wants as they are at this slot or later. */
interface Reading {
  addresses: string[];
  minSlot: number;
}

/** Accounts in the order asked for, null where there is none, and the chain's clock in unix seconds. */
export interface AccountsAt {
  accounts: (AccountInfo<Buffer> | null)[];
  now: bigint;
  /** When they were so. */
  slot: number;
}

/** Everything in it rejects where the node does not answer, or is behind what we were told before. */
export interface Reader {
  /** Accounts at one moment, in the order asked for, and the chain's clock at that moment. */
  read(keys: PublicKey[]): Promise<AccountsAt>;
  /** Accounts as finalized at this slot or later. */
  readFinalized(keys: PublicKey[], minSlot: number): Promise<AccountsAt>;
  /**
   * Accounts as finalized at or after the moment when bytes of this last valid height could no longer land, by one
   * node's word on both: what they do not show now, those bytes will never do. Null while there is no such moment.
   */
  readPast(keys: PublicKey[], lastValidHeight: bigint): Promise<AccountsAt | null>;
  /** What the node will never take back, as of now. */
  finalized(): Promise<{ slot: number; blockHeight: bigint }>;
  /** The chain's clock now, unix seconds, as far as the latest reading tells. */
  clock(): bigint;
  /** One of our transactions has landed in this slot: `read` takes nothing older from now on. */
  landed(slot: number): void;
}

/** Reads through `node`, and through `connection`, which is of the same node. */
export function createReader(options: {
  node: Parameters<typeof readAccounts>[0];
  connection: Connection;
  commitment: Commitment;
  observe?: Observe | undefined;
}): Reader {
  const { node, connection, commitment: usual, observe } = options;
  // The latest slot in which one of our transactions is known to have landed: older accounts would mislead.
  let landedSlot = 0;
  // The latest slot that accounts were read at: nodes behind one address differ by a few, not by many.
  let readSlot = 0;
  // The chain's clock as it was last read, and when that was, ms of this process.
  let latest = { now: BigInt(Math.floor(Date.now() / 1_000)), at: performance.now() };

  /** Accounts and the Clock of one moment for each reading. Throws where the node is behind what we were told before. */
  async function readAll(commitment: Commitment, readings: readonly Reading[]): Promise<AccountsAt[]> {
    const minContextSlot = Math.max(readSlot - MAX_LAG_SLOTS, ...readings.map(({ minSlot }) => minSlot));
    const addresses = [...new Set([CLOCK, ...readings.flatMap((reading) => reading.addresses)])];
    const { slot, accounts } = await timed(observe, 'chain', () =>
      readAccounts(node, addresses, { commitment, minContextSlot }),
    );
    if (slot < minContextSlot) throw new Error(`the node is at slot ${slot}, behind ${minContextSlot}`);
    readSlot = Math.max(readSlot, slot);
    const found = new Map(addresses.map((address, index) => [address, accounts[index] ?? null]));
    const clock = found.get(CLOCK);
    if (!clock) throw new Error('the node has no Clock sysvar');
    const now = decodeClock(clock.data);
    if (commitment === usual) latest = { now, at: performance.now() };
    return readings.map((reading) => ({
      accounts: reading.addresses.map((address) => found.get(address) ?? null),
      now,
      slot,
    }));
  }

  /** What is wanted in the same turn of the event loop, as it is when a slot is confirmed, is one call to the node. */
  const loader = new DataLoader((readings: readonly Reading[]) => readAll(usual, readings), {
    cache: false,
    maxBatchSize: MAX_READINGS,
    batchScheduleFn: setImmediate,
  });

  async function finalized(): Promise<{ slot: number; blockHeight: bigint }> {
    const { absoluteSlot, blockHeight } = await connection.getEpochInfo('finalized');
    return { slot: absoluteSlot, blockHeight: BigInt(blockHeight ?? 0) };
  }

  async function readFinalized(keys: PublicKey[], minSlot: number): Promise<AccountsAt> {
    const [read] = await readAll('finalized', [{ addresses: keys.map(String), minSlot }]);
    return read!;
  }

  return {
    read: (keys) => loader.load({ addresses: keys.map(String), minSlot: landedSlot }),
    readFinalized,
    async readPast(keys, lastValidHeight) {
      const { slot, blockHeight } = await finalized();
      return blockHeight > lastValidHeight ? readFinalized(keys, slot) : null;
    },
    finalized,
    clock: () => latest.now + BigInt(Math.floor((performance.now() - latest.at) / 1_000)),
    landed(slot) {
      landedSlot = Math.max(landedSlot, slot);
    },
  };
}
