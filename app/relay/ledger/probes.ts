/** The table of probes: the last probe of each listing with refused calls. */
import type { Kysely } from 'kysely';
import type { LedgerTables } from './tables.ts';

/** Start of a listing's last passed probe, unix ms; 0 if none has passed. */
export async function readPassedMs(ledger: Kysely<LedgerTables>, listing: string): Promise<number> {
  const row = await ledger.selectFrom('probes').select('passed_ms').where('listing', '=', listing).executeTakeFirst();
  return Number(row?.passed_ms ?? 0n);
}

/** Records a probe that began at `begunMs`, unix ms. A failed probe keeps the time of the last passed one. */
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
