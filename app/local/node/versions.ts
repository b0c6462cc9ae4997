/**
 * Earlier versions of accounts, from before the slots that are not final. A read at `confirmed` or `finalized` then
 * shows what a cluster would show, without changes that it could still undo.
 */
import type { Account } from 'litesvm/dist/internal.js';

interface Version {
  /** Slot of the change. */
  slot: number;
  /** The account before the change; null if there was none. */
  before: Account | null;
}

export class Versions {
  /** By address, oldest first. */
  private readonly versions = new Map<string, Version[]>();

  /** Stores an account as it was before its first change in a slot. Later changes in that slot are ignored. */
  keep(address: string, slot: number, before: Account | null): void {
    const known = this.versions.get(address);
    if (!known) this.versions.set(address, [{ slot, before }]);
    else if (known.at(-1)!.slot < slot) known.push({ slot, before });
  }

  /** The account at a slot; undefined if it has not changed since. */
  asOf(address: string, slot: number): Account | null | undefined {
    return this.versions.get(address)?.find((version) => version.slot > slot)?.before;
  }

  /** All addresses that have changed since a slot, with their old accounts. */
  *changedSince(slot: number): Generator<[string, Account | null]> {
    for (const address of this.versions.keys()) {
      const before = this.asOf(address, slot);
      if (before !== undefined) yield [address, before];
    }
  }

  /** Drops the earlier versions of an account, because a cheat code writes at every commitment. */
  forget(address: string): void {
    this.versions.delete(address);
  }

  /** Drops versions that no read needs: all reads are at this slot or later. */
  prune(slot: number): void {
    for (const [address, versions] of this.versions) {
      while (versions.length > 0 && versions[0]!.slot <= slot) versions.shift();
      if (versions.length === 0) this.versions.delete(address);
    }
  }
}
