/**
 * The node's time: slots, with the blockhash, height and time of each, and the slot of each commitment. Every slot has
 * a block except skipped ones. So height and slot differ after a skip, as on a cluster.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Commitment } from '@solana/web3.js';
import bs58 from 'bs58';

/** A blockhash is valid for this many blocks after its own, as on a cluster. */
export const BLOCKHASH_SLOTS = 150;
export const SLOTS_PER_EPOCH = 432_000;
/** Number of slots with a stored time: about five and a half hours at 200 ms. */
const TIMES = 100_000;

interface Block {
  slot: number;
  height: number;
  hash: string;
}

export class Slots {
  /** The current slot. */
  current: number;
  /** Milliseconds that the chain's clock is ahead of this computer's. */
  private aheadMs: number;
  /** Unix seconds that the Clock was set to; no commitment shows an earlier time. */
  private floor = 0;
  /** The latest blocks, oldest first. */
  private readonly blocks: Block[] = [];
  /** Unix milliseconds of each slot with a block, oldest first. */
  private readonly times = new Map<number, number>();
  /** Ranges of slots without blocks, both ends included, oldest first. */
  private readonly gaps: { from: number; to: number }[] = [];
  /** Every blockhash is derived from this and its slot. */
  private readonly seed = randomBytes(32);

  /**
   * A skipped slot adds `slotTimeMs` to the clock. A slot is final `finalitySlots` later. `startMs` is the chain's clock
   * now, unix milliseconds.
   */
  constructor(
    private readonly slotTimeMs: number,
    private readonly finalitySlots: number,
    startMs: number,
  ) {
    this.current = finalitySlots + 1;
    this.aheadMs = startMs - Date.now();
    for (let slot = 0; slot <= this.current; slot += 1) {
      this.blocks.push(this.block(slot));
      this.times.set(slot, startMs - (this.current - slot) * slotTimeMs);
    }
  }

  /** Unix milliseconds by the chain's clock. */
  get nowMs(): number {
    return Date.now() + this.aheadMs;
  }

  /** The newest slot of a commitment. */
  at(commitment: Commitment): number {
    if (commitment === 'processed' || commitment === 'recent') return this.current;
    if (commitment === 'confirmed' || commitment === 'single' || commitment === 'singleGossip') return this.confirmed;
    return this.finalized;
  }

  get confirmed(): number {
    return this.current - 1;
  }

  get finalized(): number {
    return this.current - this.finalitySlots;
  }

  /** Unix seconds of a slot; null if it is not stored or in the future. */
  time(slot: number): number | null {
    const ms = this.times.get(slot);
    return ms === undefined ? null : Math.floor(ms / 1_000);
  }

  /** Unix seconds of the Clock at a commitment's slot. */
  clock(slot: number): number {
    return Math.max(this.time(slot) ?? 0, this.floor);
  }

  /** The newest block at or before a slot. */
  blockAt(slot: number): Block {
    const gap = this.gaps.findLast(({ from, to }) => from <= slot && slot <= to);
    return this.block(gap ? gap.from - 1 : slot);
  }

  /** True if the slot has a stored block. */
  hasBlock(slot: number): boolean {
    return this.times.has(slot);
  }

  /** The oldest slot with a stored block. */
  get oldest(): number {
    return this.times.keys().next().value!;
  }

  /** Number of blocks up to a slot, minus one. */
  height(slot: number): number {
    return this.gaps.reduce(
      (height, { from, to }) => (from > slot ? height : height - (Math.min(to, slot) - from + 1)),
      slot,
    );
  }

  private block(slot: number): Block {
    const hash = createHash('sha256').update(this.seed).update(String(slot)).digest();
    return { slot, height: this.height(slot), hash: bs58.encode(hash) };
  }

  /** True if a transaction with this blockhash can run at this slot. */
  isValid(hash: string, slot: number): boolean {
    const block = this.blocks.findLast((other) => other.hash === hash);
    return block !== undefined && block.slot <= slot && this.height(slot) <= block.height + BLOCKHASH_SLOTS;
  }

  /** Starts the next slot. */
  next(): void {
    this.begin(this.current + 1);
  }

  /** Moves to a slot. The clock moves as if all slots between had passed. Only the last BLOCKHASH_SLOTS get blocks. */
  leapTo(slot: number): void {
    this.aheadMs += (slot - this.current) * this.slotTimeMs;
    const now = this.nowMs;
    const first = Math.max(this.current + 1, slot - BLOCKHASH_SLOTS);
    if (first > this.current + 1) this.gaps.push({ from: this.current + 1, to: first - 1 });
    for (let passed = first; passed < slot; passed += 1) {
      this.times.set(passed, now - (slot - passed) * this.slotTimeMs);
      this.blocks.push(this.block(passed));
    }
    this.begin(slot);
  }

  /** Moves the chain's clock forward in the current slot. The times of earlier blocks stay. */
  setTime(unixMs: number): void {
    this.aheadMs += unixMs - this.nowMs;
    this.floor = Math.floor(unixMs / 1_000);
    this.times.set(this.current, unixMs);
  }

  private begin(slot: number): void {
    this.current = slot;
    this.times.set(slot, this.nowMs);
    for (const old of this.times.keys()) {
      if (this.times.size <= TIMES) break;
      this.times.delete(old);
    }
    this.blocks.push(this.block(slot));
    // A hash that is too old for the newest slot may still be valid at the finalized one.
    while (this.blocks[0]!.height + BLOCKHASH_SLOTS < this.height(this.finalized)) this.blocks.shift();
  }
}
