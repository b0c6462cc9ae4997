/** The table of probes: the last one of each listing that was refused. */
import type { Database } from 'better-sqlite3';
import type { Kysely } from 'kysely';
import type { LedgerTables } from './tables.ts';

/** When the last probe of a listing that passed was begun, unix ms; 0 where none has. */
export function createPassedReader(ledger: Database): (listing: string) => number {
  const statement = ledger.prepare<[string], { passed_ms: bigint | null }>(
    'SELECT passed_ms FROM probes WHERE listing = ?',
  );
  return (listing) => Number(statement.get(listing)?.passed_ms ?? 0n);
}

/** Writes down a probe that was begun then, unix ms. One that has not passed leaves the last that has. */
export async function writeProbe(
  ledger: Kysely<LedgerTables>,
  { listing, begunMs, isPassed }: { listing: string; begunMs: number; isPassed: boolean },
): Promise<void> {
  const probed_ms = BigInt(begunMs);
  const passed = isPassed ? { passed_ms: probed_ms } : {};
  await ledger
    .insertInto('probes')
    .values({ listing, probed_ms, passed_ms: null, ...passed })
    .onConflict((conflict) => conflict.column('listing').doUpdateSet({ probed_ms, ...passed }))
    .execute();
}
