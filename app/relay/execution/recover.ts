/**
 * Recovery: the journal's unfinished rows that nobody works on are carried on like any other, again and again, and those
 * that have ended are proven.
 */
import type { Logger } from 'pino';
import type { Journal } from '../ledger/journal.ts';
import type { Leadership } from '../ledger/leadership.ts';
import type { Beginning } from './begin.ts';
import { type EngineDeps, newLive } from './step.ts';
import type { Work } from './work.ts';

/** How often unfinished rows that nobody works on are looked for: two statements in our own file. */
const RECOVERY_INTERVAL_MS = 500;
/** How often ended rows are proven: a few calls to the node for up to 99 of them. */
const PROVING_INTERVAL_MS = 10_000;
/** How often it is asked which of the rents lent are back: they are out for three days at least. */
const RENTS_INTERVAL_MS = 10 * 60_000;
/** Rows of one look for what is unfinished. */
const RECOVERED_AT_ONCE = 500;

type UnfinishedRow = Awaited<ReturnType<Journal['unfinished']>>[number];

/** Takes what dead relays have left, and carries on every unfinished row that nobody works on. */
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
      work.on(id, newLive({ isFresh: false }));
    }
  }
}

/**
 * All of it now and regularly from then on; the returned function ends it. What one relay does for all, `leads` decides; where
 * it fails, as with a node that is away, another one may have more luck.
 */
export function startRecovery(
  engine: { recover(): Promise<void>; proveEnds(): Promise<void>; countRents(): Promise<void> },
  { leads, leave }: Leadership,
  log: Logger,
): () => void {
  const asLeader = (name: string, run: () => Promise<void>) => async () => {
    if (!(await leads(name))) return;
    await run().catch(async (error) => {
      await leave();
      throw error;
    });
  };
  const ends = [
    repeat(RECOVERY_INTERVAL_MS, engine.recover, (error) =>
      log.error({ error }, 'recovery failed; it will be tried again'),
    ),
    repeat(PROVING_INTERVAL_MS, asLeader('proving', engine.proveEnds), (error) =>
      log.warn({ error }, 'ended executions could not be proven'),
    ),
    repeat(RENTS_INTERVAL_MS, asLeader('rents', engine.countRents), (error) =>
      log.warn({ error }, 'rents that are lent could not be read'),
    ),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** Now and from then on, never twice at once. */
function repeat(everyMs: number, run: () => Promise<void>, onError: (error: string) => void): () => void {
  let running = false;
  const look = async () => {
    if (running) return;
    running = true;
    await run()
      .catch((error) => onError(String(error)))
      .finally(() => {
        running = false;
      });
  };
  look();
  const timer = setInterval(look, everyMs);
  return () => clearInterval(timer);
}
