/** The latest transactions that have landed, by signature and by every address that they name. */
import type { TransactionError } from '@solana/web3.js';
import type { TokenBalance } from './tokenBalances.ts';

/** More than a week of use on one computer produces. Beyond it, the oldest transaction is dropped. */
const CAPACITY = 50_000;

/** Balances and logs of a transaction for `getTransaction`. */
export interface LandedMeta {
  fee: number;
  preBalances: number[];
  postBalances: number[];
  preTokenBalances: TokenBalance[];
  postTokenBalances: TokenBalance[];
  /** Null, like the inner instructions, if the transaction paid a fee but could not be loaded. */
  logMessages: string[] | null;
  innerInstructions: { index: number; instructions: InnerInstruction[] }[] | null;
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
  /** Position in the order in which all transactions ran. */
  index: number;
  signature: string;
  slot: number;
  /** Time of its slot, unix seconds. */
  blockTime: number;
  /** Position in its block. */
  position: number;
  err: TransactionError | null;
  /** The bytes as sent. */
  bytes: Buffer;
  /** LandedMeta as JSON, which takes a fraction of the memory. */
  meta: string;
  /** Base58 addresses of all accounts that it names. */
  addresses: string[];
}

export class History {
  /** In the order in which they ran. */
  private readonly bySignature = new Map<string, Landed>();
  private readonly byAddress = new Map<string, Landed[]>();
  private readonly bySlot = new Map<number, Landed[]>();
  /** Number of transactions that have ever landed. */
  count = 0;

  constructor(private readonly capacity = CAPACITY) {}

  add(transaction: Omit<Landed, 'index' | 'position'>): Landed {
    const block = this.bySlot.get(transaction.slot) ?? [];
    const landed = { ...transaction, index: this.count, position: (block.at(-1)?.position ?? -1) + 1 };
    this.count += 1;
    this.bySignature.set(landed.signature, landed);
    block.push(landed);
    this.bySlot.set(landed.slot, block);
    for (const address of landed.addresses) {
      const known = this.byAddress.get(address);
      if (known) known.push(landed);
      else this.byAddress.set(address, [landed]);
    }
    if (this.bySignature.size > this.capacity) this.dropOldest();
    return landed;
  }

  /** Unix seconds of a slot, if a transaction of that slot is still known. */
  time(slot: number): number | null {
    return this.bySlot.get(slot)?.[0]?.blockTime ?? null;
  }

  get(signature: string): Landed | null {
    return this.bySignature.get(signature) ?? null;
  }

  /**
   * Transactions that name an address, newest first: at most `limit`, none after `maxSlot`, older than `before` and
   * newer than `until`. None if `before` is unknown.
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
    const [oldest] = this.bySignature.values();
    if (!oldest) return;
    this.bySignature.delete(oldest.signature);
    const block = this.bySlot.get(oldest.slot)!;
    block.shift();
    if (block.length === 0) this.bySlot.delete(oldest.slot);
    for (const address of oldest.addresses) {
      const known = this.byAddress.get(address)!;
      // The dropped transaction is the oldest of each of its addresses.
      known.shift();
      if (known.length === 0) this.byAddress.delete(address);
    }
  }
}
