/**
 * GET /health: that this process answers, for whoever restarts it. GET /ready: whether it can take and read executions
 * now, for load balancers and people; it says what is in the way.
 */
import { attachedIndex, type IndexProgress, readProgress } from '../../../indexer/read.ts';
import type { Health, Problem, Ready } from '../../sdk/wire/wire.ts';
import type { RelayDeps } from '../deps.ts';
import { shareReading } from '../shareReading.ts';

/** An indexer that has not looked for so long is not running; it looks every few seconds. */
const MAX_LAG_MS = 30_000;
const PROBE_TIMEOUT_MS = 2_000;

export function readHealth(deps: Pick<RelayDeps, 'config'>): Health {
  return { status: 'ok', environment: deps.config.environment, uptime_seconds: Math.floor(process.uptime()) };
}

/** What is in the way now, of the chain at most 2 s ago. The reader never throws: what cannot be read is a problem. */
export function createReadiness(deps: RelayDeps): () => Promise<Ready> {
  const isChainReachable = shareReading(() => probeChain(deps), deps.now);
  return async () => readinessOf(deps, ...(await Promise.all([isChainReachable(), tryProgress(deps)])));
}

function readinessOf(deps: RelayDeps, chainReachable: boolean, progress: IndexProgress | undefined): Ready {
  const lagMs = progress ? Math.max(0, deps.now() - Number(progress.checked_at)) : null;
  const problems: Problem[] = [];
  if (!chainReachable) problems.push('chain_unreachable');
  if (lagMs === null || lagMs > MAX_LAG_MS) problems.push('index_behind');
  problems.push(...deps.gate.obstacles());
  return {
    status: problems.length === 0 ? 'ready' : 'not_ready',
    problems,
    environment: deps.config.environment,
    indexer: { slot: progress ? Number(progress.slot) : null, lag_ms: lagMs },
    executions_in_flight: deps.engine.inFlight(),
  };
}

/** How far the indexer is; undefined before it has looked or where the index cannot be read. */
function tryProgress(deps: Pick<RelayDeps, 'views' | 'log'>): Promise<IndexProgress | undefined> {
  return readProgress(attachedIndex(deps.views)).catch((error: unknown) => {
    deps.log.error({ error: String(error) }, 'the index cannot be read');
    return undefined;
  });
}

async function probeChain(deps: RelayDeps): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PROBE_TIMEOUT_MS, false);
  });
  const answer = deps.accounts.isReachable().catch(() => false);
  const reachable = await Promise.race([answer, silence]);
  clearTimeout(timer);
  return reachable;
}
