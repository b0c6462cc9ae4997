/**
 * Accounts as they were: what each was before the slots that are not final yet, so that a read at `confirmed` or
 * `finalized` shows what a cluster would show, and not what may still be taken back there.
 */
import type { Account } from 'litesvm/dist/internal.js';

interface Version {
  /** Changed in this slot. */
  slot: number;
  /** What it was until then; null where there was none. */
  before: Account | null;
}

export class Versions {
  /** By address, oldest first. */
  private readonly versions = new Map<string, Version[]>();

  /** An account is about to be changed in a slot; only its first change in a slot counts. */
  keep(address: string, slot: number, before: Account | null): void {
    const known = this.versions.get(address);
    if (!known) this.versions.set(address, [{ slot, before }]);
    else if (known.at(-1)!.slot < slot) known.push({ slot, before });
  }

  /** The account as of a slot; undefined where it has not changed since. */
  asOf(address: string, slot: number): Account | null | undefined {
    return this.versions.get(address)?.find((version) => version.slot > slot)?.before;
  }

  /** All addresses that have changed since a slot, with what was there. */
  *changedSince(slot: number): Generator<[string, Account | null]> {
    for (const address of this.versions.keys()) {
      const before = this.asOf(address, slot);
      if (before !== undefined) yield [address, before];
    }
  }

  /** The account's past is what it is now: who writes by a cheat code writes at every commitment. */
  forget(address: string): void {
    this.versions.delete(address);
  }

  /** Nobody asks for anything older than this slot any more. */
  prune(slot: number): void {
    for (const [address, versions] of this.versions) {
      while (versions.length > 0 && versions[0]!.slot <= slot) versions.shift();
      if (versions.length === 0) this.versions.delete(address);
    }
  }
}
