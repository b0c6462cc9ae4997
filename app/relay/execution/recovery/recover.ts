/**
 * Recovery regularly continues unfinished rows that nobody works on, and adopts open records without a row.
 */
import type { Logger } from 'pino';
import type { Journal } from '../../ledger/journal.ts';
import type { Leadership } from '../../ledger/leadership.ts';
import { runEvery } from '../../waiting.ts';
import type { Beginning } from '../begin/begin.ts';
import { type EngineDeps, newProgress } from '../deps.ts';
import type { Work } from '../work.ts';

/** Interval of the search for unfinished rows: two statements in our own ledger. */
const RECOVERY_INTERVAL_MS = 500;
/** Interval of the search for orphans. */
const ORPHANS_INTERVAL_MS = 10 * 60_000;
/** Interval of the search for rents that came back, which can then be lent again. */
export const RENTS_SECONDS = 60;
/** Rows of one batch of unfinished rows. */
const RECOVERED_AT_ONCE = 500;

type UnfinishedRow = Awaited<ReturnType<Journal['unfinished']>>[number];

/** Takes the rows of dead relays, and continues every unfinished row that nobody works on. */
export async function recover(
  { journal, leases, authorities }: Pick<EngineDeps, 'journal' | 'leases' | 'authorities'>,
  work: Pick<Work, 'on' | 'isOn' | 'noticeTaken'>,
  beginning: Pick<Beginning, 'isBeginning'>,
): Promise<void> {
  const unfinished = (after?: UnfinishedRow) => journal.unfinished(Date.now(), RECOVERED_AT_ONCE, after);
  if (!authorities.isOurs()) return journal.handOver();
  const others = await leases.alive(Date.now());
  await journal.takeRowsOfOthersThan(others);
  if (others.length > 0) await work.noticeTaken();
  for (let page = await unfinished(); page.length > 0; page = await unfinished(page.at(-1))) {
    for (const row of page) {
      const id = row.execution_id;
      if (work.isOn(id) || beginning.isBeginning(id)) continue;
      work.on(id, newProgress({ isFresh: false }));
    }
  }
}

/**
 * Runs all of it now and regularly until the returned function is called. `leads` elects one relay for the work that
 * must run only once. A leader that fails resigns, because another relay's node may answer.
 */
export function startRecovery(
  tasks: { recover(): Promise<void>; adoptUnknown(): Promise<unknown>; countRents(): Promise<void> },
  { leads, leave }: Leadership,
  log: Logger,
): () => void {
  const asLeader = (name: string, run: () => Promise<unknown>) => async () => {
    if (!(await leads(name))) return;
    await run().catch(async (error) => {
      await leave(name);
      throw error;
    });
  };
  const ends = [
    runEvery(
      RECOVERY_INTERVAL_MS,
      tasks.recover,
      (error) => log.error({ error }, 'recovery failed; it will be retried'),
      0,
    ),
    runEvery(
      ORPHANS_INTERVAL_MS,
      asLeader('orphans', tasks.adoptUnknown),
      (error) => log.warn({ error }, 'cannot look for open records without a row'),
      0,
    ),
    runEvery(
      RENTS_SECONDS * 1_000,
      asLeader('rents', tasks.countRents),
      (error) => log.warn({ error }, 'cannot read the refundable deposits that are lent'),
      0,
    ),
  ];
  return () => {
    for (const end of ends) void end();
  };
}
