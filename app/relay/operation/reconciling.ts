/** The start's look for open records that the ledger has lost. New executions wait for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { RunningEngine } from '../execution/engine.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { readUnknownOpen } from '../ledger/unfinished.ts';
import type { Gate } from './gate.ts';
import { isIndexCurrent } from './health.ts';

const PAUSE_MS = 2_000;

export interface ReconcilingDeps {
  engine: Pick<RunningEngine, 'adoptOrphans'>;
  gate: Pick<Gate, 'set' | 'obstacles'>;
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  log: Logger;
}

/**
 * Opens the gate, once the ledger has been compared with an index that is current, or else with all records of the chain, of
 * which there may be so many that a node takes minutes. They are searched in any case, for what the index does not have yet;
 * a node that is slow or gone does not end the start. Resolves when the gate is open, or `stop` was given.
 */
export async function reconcileLedger(deps: ReconcilingDeps, stop: AbortSignal): Promise<void> {
  const { engine, gate, log } = deps;
  const isOpen = () => !gate.obstacles().includes('ledger_unreconciled');
  async function repeat(attempt: () => Promise<boolean>, what: string): Promise<void> {
    while (!stop.aborted) {
      try {
        if (await attempt()) return gate.set('ledger_unreconciled', false);
      } catch (error) {
        log.error({ error: String(error) }, `the ledger could not be compared with ${what}; it will be tried again`);
      }
      await sleep(PAUSE_MS, undefined, { signal: stop }).catch(() => undefined);
    }
  }

  const byChain = async () => {
    await engine.adoptOrphans();
    return true;
  };
  const byIndex = async () => {
    if (isOpen()) return true;
    if (!(await isIndexCurrent(deps.views, Date.now()))) return false;
    await engine.adoptOrphans(await readUnknownOpen(deps.views));
    return true;
  };
  await Promise.race([repeat(byIndex, 'the index'), repeat(byChain, 'the chain')]);
}
