/**
 * The one place from which the archive is swept, however many relays there are: its holder, and the transaction that
 * was signed there and whose fate is not known yet. It is stored before it is sent, so that whoever takes the place of a
 * dead holder follows it first and never signs a second one for the same end.
 */
import type Sqlite from 'better-sqlite3';
import type { SignedTransaction } from './writing.ts';

export interface SweepPlace {
  /** Whether it is ours now: it was, or nobody who lives has it. `others` are the relays that live beside us. */
  take(others: readonly string[]): boolean;
  /** What was signed and not followed to its end; null where nothing was, or the place is not ours. */
  pending(): SignedTransaction | null;
  /** Stores it; false where the place is not ours any more or another transaction is pending. Then it must not be sent. */
  store(signed: SignedTransaction): boolean;
  /** Its fate is known. */
  clear(signature: string): void;
  /** Leaves the place to others, with what is pending. */
  leave(): void;
}

/** Over the connection that writes the ledger, for the relay process that calls itself `owner`. */
export function createSweepPlace(ledger: Sqlite.Database, owner: string): SweepPlace {
  const take = ledger.prepare(`UPDATE sweeper SET owner = $owner
    WHERE owner IS NULL OR owner = $owner OR owner NOT IN (SELECT value FROM json_each($others))`);
  type PendingRow = { signed: Buffer; signature: string; last_valid_height: bigint };
  const select = ledger.prepare<[string], PendingRow>(
    'SELECT signed, signature, last_valid_height FROM sweeper WHERE owner = ? AND signature IS NOT NULL',
  );
  const store = ledger.prepare(`UPDATE sweeper SET signed = ?, signature = ?, last_valid_height = ?
    WHERE owner = ? AND signature IS NULL`);
  const clear = ledger.prepare(`UPDATE sweeper SET signed = NULL, signature = NULL, last_valid_height = NULL
    WHERE signature = ?`);
  const leave = ledger.prepare('UPDATE sweeper SET owner = NULL WHERE owner = ?');
  return {
    take: (others) => take.run({ owner, others: JSON.stringify(others) }).changes === 1,
    pending() {
      const row = select.get(owner);
      return row ? { bytes: row.signed, signature: row.signature, lastValidHeight: row.last_valid_height } : null;
    },
    store({ bytes, signature, lastValidHeight }) {
      return store.run(Buffer.from(bytes), signature, lastValidHeight, owner).changes === 1;
    },
    clear: (signature) => void clear.run(signature),
    leave: () => void leave.run(owner),
  };
}
