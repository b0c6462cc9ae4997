/**
 * A node that replays a recorded history. The test decides when the chain grows and forks, and which transactions the
 * node lists. It answers only the calls that the indexer makes.
 */
import { Connection } from '@solana/web3.js';
import type { Recorded } from './record.ts';

/** One transaction on the confirmed branch. */
interface Entry {
  /** Its index in the history. */
  at: number;
  slot: number;
}

/** Can change the answer to a call, or throw instead. */
export type Fault = (method: string, result: unknown) => unknown;

/** A transaction is final once this many follow it. */
const FINALITY = 7;
const FIRST_SLOT = 1_000;

export class ReplayedChain {
  /** Number of transactions of the history that are on the chain. */
  length = 0;
  fault: Fault = (_, result) => result;
  private fork: { from: number; entries: Entry[] } | null = null;
  /** Number of finalized transactions. They stay final. */
  private finalLength = 0;

  constructor(
    readonly history: readonly Recorded[],
    readonly slotsApart: number,
  ) {}

  slotOf(at: number): number {
    return FIRST_SLOT + Math.floor(at / 2) * 2 * this.slotsApart;
  }

  grow(count: number): void {
    this.length = Math.min(this.history.length, this.length + count);
    this.finalLength = Math.max(this.finalLength, this.length - FINALITY);
  }

  /** Replaces the last `drop` transactions by some of those that follow, in other slots. */
  forkBy(drop: number, keeps: (at: number) => boolean): void {
    const from = Math.max(this.finalLength, this.length - drop);
    const entries: Entry[] = [];
    for (let at = from; at < Math.min(this.history.length, this.length + 2); at += 1) {
      if (keeps(at)) entries.push({ at, slot: this.slotOf(at) + 1 });
    }
    this.fork = { from, entries };
  }

  /** Ends the fork: its branch has lost. */
  join(): void {
    this.fork = null;
  }

  get hasFork(): boolean {
    return this.fork !== null;
  }

  /** Oldest first. */
  entries(): Entry[] {
    const main = Array.from({ length: this.fork?.from ?? this.length }, (_, at) => ({ at, slot: this.slotOf(at) }));
    return [...main, ...(this.fork?.entries ?? [])];
  }

  confirmedSlot(): number {
    return this.entries().at(-1)?.slot ?? FIRST_SLOT;
  }

  finalizedSlot(): number {
    return this.finalLength === 0 ? FIRST_SLOT - 1 : this.slotOf(this.finalLength - 1) - 1;
  }

  connection(): Connection {
    const fetch = async (_url: unknown, init?: { body?: unknown }) => {
      const { id, method, params } = JSON.parse(String(init!.body)) as {
        id: string;
        method: string;
        params: unknown[];
      };
      const result = this.fault(method, this.answer(method, params));
      return new Response(JSON.stringify({ jsonrpc: '2.0', id, result }), { status: 200 });
    };
    return new Connection('http://replayed.invalid', { commitment: 'confirmed', fetch: fetch as never });
  }

  private answer(method: string, params: unknown[]): unknown {
    const options = (params.at(-1) ?? {}) as Record<string, unknown>;
    switch (method) {
      case 'getSlot':
        return options.commitment === 'finalized' ? this.finalizedSlot() : this.confirmedSlot();
      case 'getGenesisHash':
        return 'a genesis hash';
      case 'getFirstAvailableBlock':
        return 0;
      case 'getBlocks':
        return this.blocks(params[0] as number, params[1] as number);
      case 'getBlockTime':
        return 1_800_000_000;
      case 'getSignaturesForAddress':
        return this.list(options as { limit: number; until?: string; before?: string });
      case 'getSignatureStatuses':
        return {
          context: { slot: this.confirmedSlot() },
          value: (params[0] as string[]).map((name) => this.status(name)),
        };
      case 'getTransaction':
        return this.transaction(params[0] as string);
      case 'getMultipleAccounts':
        return this.accounts(params[0] as string[], options as { commitment?: string; minContextSlot?: number });
      default:
        throw new Error(`the replayed node has no ${method}`);
    }
  }

  /** Like real nodes, an unknown `until` is no error: the list then goes back to the first transaction. */
  private list({ limit, until, before }: { limit: number; until?: string; before?: string }): unknown[] {
    const newestFirst = this.entries().reverse();
    const nameOf = ({ at }: Entry) => this.history[at]!.signature;
    const from = before === undefined ? 0 : newestFirst.findIndex((entry) => nameOf(entry) === before) + 1;
    if (before !== undefined && from === 0) return [];
    const end = until === undefined ? -1 : newestFirst.findIndex((entry) => nameOf(entry) === until);
    return newestFirst
      .slice(from, end < 0 ? undefined : Math.max(from, end))
      .slice(0, limit)
      .map((entry) => ({
        signature: nameOf(entry),
        slot: entry.slot,
        err: this.history[entry.at]!.hasFailed ? { InstructionError: [0, { Custom: 1 }] } : null,
        memo: null,
        blockTime: null,
        confirmationStatus: entry.slot <= this.finalizedSlot() ? 'finalized' : 'confirmed',
      }));
  }

  /** After the end of the history there are blocks without transactions. */
  private blocks(from: number, to: number): number[] {
    const isOver = this.length === this.history.length && !this.fork;
    const slots = [
      ...new Set(this.entries().map(({ slot }) => slot)),
      ...(isOver ? [this.slotOf(this.length) + 2] : []),
    ];
    return slots.filter((slot) => slot >= from && slot <= to);
  }

  private find(signature: string): Entry | undefined {
    return this.entries().find(({ at }) => this.history[at]!.signature === signature);
  }

  private status(signature: string): unknown {
    const entry = this.find(signature);
    return entry ? { slot: entry.slot, confirmations: null, err: null, confirmationStatus: 'confirmed' } : null;
  }

  private transaction(signature: string): unknown {
    const entry = this.find(signature);
    return entry ? { ...this.history[entry.at]!.transaction, slot: entry.slot } : null;
  }

  private accounts(addresses: string[], options: { commitment?: string; minContextSlot?: number }): unknown {
    const isFinal = options.commitment === 'finalized';
    const slot = isFinal ? this.finalizedSlot() : this.confirmedSlot();
    if (slot < (options.minContextSlot ?? 0)) throw new Error('Minimum context slot has not been reached');
    const seen = this.entries().filter((entry) => !isFinal || entry.slot <= slot);
    const value = addresses.map((address) => {
      const last = seen.findLast(({ at }) => this.history[at]!.accounts.has(address));
      return (last && this.history[last.at]!.accounts.get(address)) ?? null;
    });
    return { context: { slot }, value };
  }
}
