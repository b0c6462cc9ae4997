/** GET /health: whether executions can be taken and read now, for load balancers and people. */
import type { Health } from '../sdk/wire.ts';
import type { RelayDeps } from './deps.ts';

/** An indexer that has not looked for so long is not running; it looks every few seconds. */
const MAX_LAG_MS = 30_000;
const PROBE_TIMEOUT_MS = 2_000;

/** Never throws: what cannot be read is unavailable. */
export async function readHealth(deps: RelayDeps): Promise<Health> {
  const [chainReachable, progress] = await Promise.all([probeChain(deps), readProgress(deps)]);
  const lagMs = progress ? Math.max(0, deps.now() - Number(progress.checked_at)) : null;
  return {
    status: chainReachable && lagMs !== null && lagMs <= MAX_LAG_MS ? 'ok' : 'unavailable',
    environment: deps.config.environment,
    chain_reachable: chainReachable,
    indexer: { slot: progress ? Number(progress.slot) : null, lag_ms: lagMs },
    executions_in_flight: deps.engine.inFlight(),
  };
}

function readProgress(deps: RelayDeps) {
  return deps.views
    .selectFrom('chain.progress')
    .select(['slot', 'checked_at'])
    .executeTakeFirst()
    .catch((error: unknown) => {
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
