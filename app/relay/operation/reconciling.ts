/** The start's look for another deployment, and then for open records that the ledger has lost. New executions wait for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { AuthorityWatch } from '../execution/authorityWatch.ts';
import type { RunningEngine } from '../execution/engine.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { readUnknownOpen } from '../ledger/unfinished.ts';
import type { Gate } from './gate.ts';
import { isIndexCurrent } from './health.ts';

const PAUSE_MS = 2_000;

export interface ReconcilingDeps {
  engine: Pick<RunningEngine, 'adoptOrphans'>;
  gate: Pick<Gate, 'set'>;
  watch: Pick<AuthorityWatch, 'look'>;
  /** Once nobody else signs with our authority: before that, our own rows too may be another's, of a ledger that was copied. */
  onAlone(): void;
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  log: Logger;
}

/**
 * Opens the gate, once no other deployment signs with our authority, and the ledger has then been compared with an index that
 * is current, or else with all records of the chain, of which there may be so many that a node takes minutes. They are searched
 * in any case, for what the index does not have yet; a node that is slow or gone does not end the start. Resolves when the gate
 * is open, or `stop` was given.
 */
export async function reconcileLedger(deps: ReconcilingDeps, stop: AbortSignal): Promise<void> {
  const { engine, gate, log } = deps;
  let isCompared = false;
  async function repeat(attempt: () => Promise<boolean>, failure: string): Promise<void> {
    while (!stop.aborted) {
      try {
        if (await attempt()) return;
      } catch (error) {
        log.error({ error: String(error) }, `${failure}; it will be tried again`);
      }
      await sleep(PAUSE_MS, undefined, { signal: stop }).catch(() => undefined);
    }
  }

  const byChain = async () => {
    await engine.adoptOrphans();
    return true;
  };
  const byIndex = async () => {
    if (isCompared) return true;
    if (!(await isIndexCurrent(deps.views, Date.now()))) return false;
    await engine.adoptOrphans(await readUnknownOpen(deps.views));
    return true;
  };
  await repeat(deps.watch.look, 'it is not known whether another deployment has our relay authority');
  if (stop.aborted) return;
  deps.onAlone();
  await Promise.race([
    repeat(byIndex, 'the ledger could not be compared with the index'),
    repeat(byChain, 'the ledger could not be compared with the chain'),
  ]);
  isCompared = true;
  if (!stop.aborted) gate.set('ledger_unreconciled', false);
}
