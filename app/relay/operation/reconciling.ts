/** Looks for orphans at start. New executions wait for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RunningEngine } from '../execution/engine.ts';
import { readUnknownOpen } from '../ledger/indexed.ts';
import type { Databases } from '../ledger/tables.ts';
import type { ChainWatch } from './chainWatch.ts';
import type { Gate } from './gate.ts';
import { isIndexCurrent } from './health.ts';

const PAUSE_MS = 2_000;

interface ReconcilingDeps extends Pick<Databases, 'views'> {
  engine: Pick<RunningEngine, 'adoptOrphans'>;
  gate: Pick<Gate, 'set'>;
  chainWatch: Pick<ChainWatch, 'poll' | 'start'>;
  log: Logger;
}

/**
 * Opens the gate when the ledger has been compared: with a current index, or with all records of the chain, which may
 * take a node minutes. The chain is searched in any case, for records that the index lacks. A slow or dead node does not
 * abort the start. Resolves when the gate is open, or when `stop` aborts.
 */
export async function reconcileLedger(deps: ReconcilingDeps, stop: AbortSignal): Promise<void> {
  const { engine, gate, log } = deps;
  const pollChain = async () => {
    await deps.chainWatch.poll();
    return true;
  };
  let isCompared = false;
  async function repeat(attempt: () => Promise<boolean>, failure: string): Promise<void> {
    while (!stop.aborted) {
      try {
        if (await attempt()) return;
      } catch (error) {
        log.error({ error }, `${failure}; it will be retried`);
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
  await repeat(pollChain, 'cannot read the state of the cluster');
  if (stop.aborted) return;
  deps.chainWatch.start();
  await Promise.race([
    repeat(byIndex, 'cannot compare the ledger with the index'),
    repeat(byChain, 'cannot compare the ledger with the chain'),
  ]);
  isCompared = true;
  if (!stop.aborted) gate.set('ledger_unreconciled', false);
}
