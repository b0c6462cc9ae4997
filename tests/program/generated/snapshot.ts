/** Copies accounts with all bytes, owners and lamports, to compare them later and to restore them. */
import { type PublicKey, SystemProgram } from '@solana/web3.js';
import { addressOf, type RawAccount } from '../../harness/vm/backend.ts';
import type { Vm } from '../../harness/vm/vm.ts';

export class Snapshot {
  private constructor(private readonly accounts: Map<string, { address: PublicKey; account: RawAccount | null }>) {}

  static async take(vm: Vm, addresses: Iterable<PublicKey>): Promise<Snapshot> {
    const accounts = new Map<string, { address: PublicKey; account: RawAccount | null }>();
    for (const address of addresses) {
      const name = addressOf(address);
      if (!accounts.has(name)) accounts.set(name, { address, account: await vm.getAccount(address) });
    }
    return new Snapshot(accounts);
  }

  /** The copied account; null if there was none. Throws for an address that was not copied. */
  get(address: PublicKey): RawAccount | null {
    const kept = this.accounts.get(addressOf(address));
    if (!kept) throw new RangeError(`${addressOf(address)} is not in the snapshot`);
    return kept.account;
  }

  /** Addresses of accounts that have changed. */
  async changes(vm: Vm): Promise<string[]> {
    const changed: string[] = [];
    for (const [name, { address, account }] of this.accounts) {
      if (!same(await vm.getAccount(address), account)) changed.push(name);
    }
    return changed;
  }

  /** Restores all accounts. */
  restore(vm: Vm): void {
    for (const { address } of this.accounts.values()) this.restoreOne(vm, address);
  }

  /** Restores one account. */
  restoreOne(vm: Vm, address: PublicKey): void {
    const account = this.get(address);
    if (account) vm.setAccount(address, account);
    else vm.closeAccount(address);
  }
}

/** True if two readings of an account are equal to the byte. */
export function same(a: RawAccount | null, b: RawAccount | null): boolean {
  if (!a || !b) return isNothing(a) && isNothing(b);
  return a.lamports === b.lamports && a.owner.equals(b.owner) && Buffer.from(a.data).equals(Buffer.from(b.data));
}

/** The VMs represent an address without lamports differently. */
function isNothing(account: RawAccount | null): boolean {
  return (
    !account || (account.lamports === 0n && account.data.length === 0 && account.owner.equals(SystemProgram.programId))
  );
}
