/**
 * GET /health tells process supervisors that this process answers, and names the reasons why it refuses new executions.
 * It asks neither the node nor a database. GET /ready tells load balancers and people if the relay can accept and read
 * executions now, and lists the problems if not.
 */
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { attachedIndex, type IndexProgress, isBehind, lagOf, readProgress } from '../../../indexer/queries/read.ts';
import { BUILD } from '../../process/build.ts';
import type { Health, Problem, Ready } from '../../sdk/wire/wire.ts';
import type { Engine } from '../execution/contract.ts';
import type { Databases, LedgerDatabase } from '../ledger/tables.ts';
import { shareReading } from '../shareReading.ts';
import { type Now, within } from '../waiting.ts';
import type { Gate } from './gate.ts';

const PROBE_TIMEOUT_MS = 2_000;
const UNREADABLE =
  'The index cannot be read; the log says why. If the database is down, bring it back: nothing is lost.';

interface Reading {
  /** Undefined before the indexer has read the chain. */
  progress: IndexProgress | undefined;
  isUnreadable: boolean;
}

interface HealthDeps {
  config: { environment: 'live' | 'test' };
  gate: Pick<Gate, 'obstacles'>;
}

export interface ReadyDeps extends HealthDeps, Pick<Databases, 'views'>, Now {
  accounts: { isReachable(): Promise<boolean> };
  engine: Pick<Engine, 'inFlight'>;
  gate: Pick<Gate, 'obstacles' | 'advice'>;
  log: Logger;
}

export function readHealth({ config, gate }: HealthDeps): Health {
  const { environment } = config;
  const uptime_seconds = Math.floor(process.uptime());
  return { status: 'ok', environment, ...BUILD, uptime_seconds, problems: gate.obstacles() };
}

/**
 * The current problems; the chain's answer is at most 2 s old. The reader never throws: an unreadable source is a
 * problem.
 */
export function createReadiness(deps: ReadyDeps): () => Promise<Ready> {
  const isChainReachable = shareReading(() => probeChain(deps), deps.now);
  return async () => readinessOf(deps, ...(await Promise.all([isChainReachable(), tryProgress(deps)])));
}

function readinessOf(deps: ReadyDeps, chainReachable: boolean, { progress, isUnreadable }: Reading): Ready {
  const lagMs = lagOf(progress, deps.now());
  const problems: Problem[] = [];
  if (!chainReachable) problems.push('chain_unreachable');
  const obstacles = deps.gate.obstacles();
  // By a wrong clock, the lag says nothing.
  if (isBehind(lagMs) && !obstacles.includes('clock_wrong')) problems.push('index_behind');
  problems.push(...obstacles);
  return {
    status: problems.length === 0 ? 'ready' : 'not_ready',
    problems,
    advice: [...(isUnreadable ? [UNREADABLE] : []), ...deps.gate.advice()],
    environment: deps.config.environment,
    indexer: { slot: progress ? Number(progress.slot) : null, lag_ms: lagMs },
    executions_in_flight: deps.engine.inFlight(),
  };
}

/** True if the indexer has read the chain recently. Throws if the index cannot be read. */
export async function isIndexCurrent(views: Kysely<LedgerDatabase>, nowMs: number): Promise<boolean> {
  return !isBehind(lagOf(await readProgress(attachedIndex(views)), nowMs));
}

async function tryProgress(deps: Pick<ReadyDeps, 'views' | 'log'>): Promise<Reading> {
  try {
    return { progress: await readProgress(attachedIndex(deps.views)), isUnreadable: false };
  } catch (error) {
    deps.log.error({ error }, 'cannot read the index');
    return { progress: undefined, isUnreadable: true };
  }
}

async function probeChain({ accounts }: Pick<ReadyDeps, 'accounts'>): Promise<boolean> {
  let isReachable = false;
  const asked = accounts.isReachable().then((answer) => {
    isReachable = answer;
  });
  await within(asked, PROBE_TIMEOUT_MS);
  return isReachable;
}
