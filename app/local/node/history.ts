/** The transactions that have landed, the last of them, by signature and by every address that they name. */
import type { TransactionError } from '@solana/web3.js';
import type { TokenBalance } from './tokenBalances.ts';

/** Kept: what a week of use on one computer does not reach. The oldest goes when there is one more. */
const CAPACITY = 50_000;

/** Balances and logs of a transaction, as `getTransaction` tells them. */
export interface LandedMeta {
  fee: number;
  preBalances: number[];
  postBalances: number[];
  preTokenBalances: TokenBalance[];
  postTokenBalances: TokenBalance[];
  logMessages: string[];
  innerInstructions: { index: number; instructions: InnerInstruction[] }[];
  computeUnitsConsumed: number;
  returnData: ReturnData | null;
}

export interface InnerInstruction {
  programIdIndex: number;
  accounts: number[];
  /** Base58. */
  data: string;
  stackHeight: number;
}

export interface ReturnData {
  programId: string;
  data: [string, 'base64'];
}

export interface Landed {
  /** Its place in the order in which all ran. */
  index: number;
  signature: string;
  slot: number;
  /** Of its slot, unix seconds. */
  blockTime: number;
  err: TransactionError | null;
  /** As it was sent. */
  bytes: Buffer;
  /** LandedMeta as JSON, which takes a fraction of the memory. */
  meta: string;
  /** Base58, of everything that it names. */
  addresses: string[];
}

export class History {
  /** In the order in which they ran. */
  private readonly bySignature = new Map<string, Landed>();
  private readonly byAddress = new Map<string, Landed[]>();
  /** Unix seconds of their slots. */
  private readonly times = new Map<number, number>();
  /** How many have ever landed. */
  count = 0;

  constructor(private readonly capacity = CAPACITY) {}

  add(transaction: Omit<Landed, 'index'>): Landed {
    const landed = { ...transaction, index: this.count };
    this.count += 1;
    this.bySignature.set(landed.signature, landed);
    this.times.set(landed.slot, landed.blockTime);
    for (const address of landed.addresses) {
      const known = this.byAddress.get(address);
      if (known) known.push(landed);
      else this.byAddress.set(address, [landed]);
    }
    if (this.bySignature.size > this.capacity) this.dropOldest();
    return landed;
  }

  /** Unix seconds of a slot in which a transaction ran that is still known. */
  time(slot: number): number | null {
    return this.times.get(slot) ?? null;
  }

  get(signature: string): Landed | null {
    return this.bySignature.get(signature) ?? null;
  }

  /**
   * Those that name an address, newest first: at most `limit`, none after `maxSlot`, older than `before` and newer than
   * `until`. None where `before` is not known.
   */
  of(
    address: string,
    options: { limit: number; maxSlot: number; before?: string | undefined; until?: string | undefined },
  ): Landed[] {
    const all = this.byAddress.get(address) ?? [];
    const before = options.before === undefined ? Number.POSITIVE_INFINITY : (this.get(options.before)?.index ?? -1);
    const until = options.until === undefined ? -1 : (this.get(options.until)?.index ?? -1);
    const found: Landed[] = [];
    for (let at = all.length - 1; at >= 0 && found.length < options.limit; at -= 1) {
      const landed = all[at]!;
      if (landed.index <= until) break;
      if (landed.index < before && landed.slot <= options.maxSlot) found.push(landed);
    }
    return found;
  }

  private dropOldest(): void {
    const [oldest, next] = this.bySignature.values();
    if (!oldest) return;
    this.bySignature.delete(oldest.signature);
    if (oldest.slot !== next?.slot) this.times.delete(oldest.slot);
    for (const address of oldest.addresses) {
      const known = this.byAddress.get(address)!;
      // Whatever is dropped is the oldest of each of its addresses.
      known.shift();
      if (known.length === 0) this.byAddress.delete(address);
    }
  }
}
