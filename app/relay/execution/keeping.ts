/** Drops old results. Several relays may do it, because each step is idempotent. */
import type { Logger } from 'pino';
import { dropFailedBodies } from '../ledger/failedAnswers.ts';
import { dropResult, readExpired } from '../ledger/results.ts';
import type { Databases } from '../ledger/tables.ts';
import { type Now, runEvery } from '../waiting.ts';

const EVERY_MS = 10_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

interface KeepingDeps extends Databases, Now {
  settings: { retentionDays: number };
  log: Logger;
}

/** Drops old results until the returned function is called. That function resolves when the current run has finished. */
export function startKeeping(deps: KeepingDeps): () => Promise<void> {
  let isEnded = false;
  const run = () => dropExpired(deps, () => isEnded);
  const end = runEvery(EVERY_MS, run, (error) => deps.log.error({ error }, 'cannot delete stored results'));
  return () => {
    isEnded = true;
    return end();
  };
}

/** Drops old results until none is left, a few at a time, so that nobody waits for it. */
export async function dropExpired(
  { ledger, views, settings, now }: Omit<KeepingDeps, 'log'>,
  isEnded: () => boolean = () => false,
): Promise<void> {
  const oldestMs = now() - settings.retentionDays * DAY_MS;
  await dropFailedBodies(ledger, oldestMs);
  for (let rows = await readExpired(views, oldestMs); rows.length > 0; rows = await readExpired(views, oldestMs)) {
    for (const { execution_id } of rows) {
      if (isEnded()) return;
      await dropResult(ledger, execution_id);
    }
  }
}
