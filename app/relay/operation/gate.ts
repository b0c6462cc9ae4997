/**
 * Whether new executions may begin. What has begun is carried on whatever the gate says: it only keeps out what would
 * add to a trouble that is there already, before any money moves.
 */
import type { Problem } from '../../sdk/wire/wire.ts';
import { ApiError } from '../errors.ts';
import type { Engine } from '../execution/contract.ts';

/** The problems that shut the gate: what callers are told, and when to come back (seconds). */
const OBSTACLES = {
  authority_shared: ['Another deployment signs with this relay’s authority', 30],
  ledger_unreconciled: ['The service has just started and is comparing its journal with the chain', 5],
  authority_changed: ['This relay is no longer the marketplace’s relay authority', 60],
  opens_paused: ['The marketplace takes no new executions for now', 30],
  fees_low: ['The service is short of funds for network fees', 300],
  storage_low: ['The service is short of room for new executions', 30],
  stopping: ['The service is stopping', 5],
} as const satisfies Partial<Record<Problem, readonly [message: string, retryAfterSeconds: number]>>;

export type Obstacle = keyof typeof OBSTACLES;

export interface Gate {
  set(obstacle: Obstacle, isThere: boolean): void;
  /** It is about to be there: `obstacles` has it already, and executions still begin. */
  announce(obstacle: Obstacle): void;
  /** What shuts it now, or is announced; nothing while it is open. */
  obstacles(): Obstacle[];
  /** The engine behind the gate: 503 for what would begin while it is shut. */
  guard(engine: Engine): Engine;
}

/** Shut until the ledger has been compared with the chain. */
export function createGate(): Gate {
  const present = new Set<Obstacle>(['ledger_unreconciled']);
  const announced = new Set<Obstacle>();
  /** In the order of the table, so that the callers' message is of the gravest. */
  const inOrder = (isThere: (obstacle: Obstacle) => boolean) => (Object.keys(OBSTACLES) as Obstacle[]).filter(isThere);
  function requireOpen(passable?: Obstacle): void {
    for (const obstacle of inOrder((one) => present.has(one))) {
      if (obstacle === passable) continue;
      const [message, retryAfterSeconds] = OBSTACLES[obstacle];
      throw new ApiError('service_unavailable', message, { retryAfterSeconds });
    }
  }

  return {
    set(obstacle, isThere) {
      if (isThere) present.add(obstacle);
      else present.delete(obstacle);
    },
    announce: (obstacle) => void announced.add(obstacle),
    obstacles: () => inOrder((one) => present.has(one) || announced.has(one)),
    guard: (engine) => ({
      ...engine,
      async execute(principal, agent, input) {
        requireOpen();
        return engine.execute(principal, agent, input);
      },
      async start(agent, input) {
        // Its escrow is open already.
        requireOpen('opens_paused');
        return engine.start(agent, input);
      },
    }),
  };
}
