/**
 * The node's time: slots, the blockhash and the moment of each, and which slot each commitment stands at. Every slot has
 * a block, so that a slot is a block's height as well.
 */
import { randomBytes } from 'node:crypto';
import type { Commitment } from '@solana/web3.js';
import bs58 from 'bs58';

/** A blockhash is good for this many blocks after its own, as on a cluster. */
export const BLOCKHASH_SLOTS = 150;
/** Slots from one that runs to the one that can no longer be taken back. */
export const FINALITY_SLOTS = 31;
export const SLOTS_PER_EPOCH = 432_000;
/** Slots whose times are kept: some eleven hours of 400 ms. */
const TIMES = 100_000;
/** Of the slots that a journey leaps over, this many keep times of their own. */
const LEAP_TIMES = 512;

interface Block {
  slot: number;
  hash: string;
}

export class Slots {
  /** The one that runs. */
  current = FINALITY_SLOTS + 1;
  /** What the chain's clock is ahead of this computer's, ms. */
  private aheadMs: number;
  /** Unix seconds that the Clock has been set to: at no commitment it is earlier. */
  private floor = 0;
  /** The last of them, oldest first. */
  private readonly blocks: Block[] = [];
  /** Unix milliseconds by slot, oldest first. */
  private readonly times = new Map<number, number>();

  /**
   * `slotTimeMs` is what a leap over a slot adds to the clock; `startMs` is the chain's clock now, unix milliseconds.
   * `confirmsAtOnce` takes a slot for confirmed while it runs, as no cluster does.
   */
  constructor(
    private readonly slotTimeMs: number,
    startMs: number,
    private readonly confirmsAtOnce: boolean,
  ) {
    this.aheadMs = startMs - Date.now();
    for (let slot = 0; slot <= this.current; slot += 1) {
      this.blocks.push({ slot, hash: newHash() });
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
    return this.confirmsAtOnce ? this.current : this.current - 1;
  }

  get finalized(): number {
    return this.current - FINALITY_SLOTS;
  }

  /** Unix seconds of a slot; null where it is not kept, or has not come. */
  time(slot: number): number | null {
    const ms = this.times.get(slot);
    return ms === undefined ? null : Math.floor(ms / 1_000);
  }

  /** Unix seconds of the Clock as of a slot that some commitment stands at. */
  clock(slot: number): number {
    return Math.max(this.time(slot) ?? 0, this.floor);
  }

  /** The newest block at or before a slot. */
  blockAt(slot: number): Block {
    return this.blocks.findLast((block) => block.slot <= slot)!;
  }

  /** Whether a transaction with this blockhash can run, seen from a slot. */
  isValid(hash: string, slot: number): boolean {
    const block = this.blocks.findLast((other) => other.hash === hash);
    return block !== undefined && block.slot <= slot && slot <= block.slot + BLOCKHASH_SLOTS;
  }

  /** The next slot begins. */
  next(): void {
    this.begin(this.current + 1);
  }

  /** Goes on to a slot as if those between had passed, with their time. */
  leapTo(slot: number): void {
    this.aheadMs += (slot - this.current) * this.slotTimeMs;
    const now = this.nowMs;
    for (let passed = Math.max(this.current, slot - LEAP_TIMES) + 1; passed < slot; passed += 1) {
      this.times.set(passed, now - (slot - passed) * this.slotTimeMs);
      if (slot - passed <= BLOCKHASH_SLOTS) this.blocks.push({ slot: passed, hash: newHash() });
    }
    this.begin(slot);
  }

  /** Sets the chain's clock on, in the slot that runs. The times of earlier blocks stay. */
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
    this.blocks.push({ slot, hash: newHash() });
    // A hash that the newest slot takes no more may still be asked for as of the finalized one.
    while (this.blocks[0]!.slot + BLOCKHASH_SLOTS < this.finalized) this.blocks.shift();
  }
}

function newHash(): string {
  return bs58.encode(randomBytes(32));
}
