/** The table of probes: the last one of each listing that was refused. */
import type { Kysely } from 'kysely';
import type { LedgerTables } from './tables.ts';

/** When the last probe of a listing that passed was begun, unix ms; 0 where none has. */
export async function readPassedMs(ledger: Kysely<LedgerTables>, listing: string): Promise<number> {
  const row = await ledger.selectFrom('probes').select('passed_ms').where('listing', '=', listing).executeTakeFirst();
  return Number(row?.passed_ms ?? 0n);
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
