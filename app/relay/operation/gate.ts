/**
 * Decides if new executions may begin. Running executions always continue: the gate only refuses calls that would add
 * to an existing problem, before any money moves.
 */
import type { Problem } from '../../sdk/wire/wire.ts';
import { ApiError } from '../errors.ts';
import type { Engine } from '../execution/contract.ts';

/** The problems that close the gate, with the callers' message and the retry delay (seconds). */
const OBSTACLES = {
  authority_shared: [
    'Another deployment uses the key of this relay’s authority. The operator must stop one of them.',
    30,
  ],
  chain_behind: ['The Solana node shows no recent final block. Nothing was charged. Retry in a few seconds.', 5],
  chain_restarted: [
    'The Solana cluster was restarted. The service compares its records with the chain first. Nothing was charged.',
    60,
  ],
  ledger_unreconciled: ['The service is starting and compares its ledger with the chain. Retry in a few seconds.', 5],
  authority_changed: [
    'This relay’s authority is no longer registered with the marketplace. The operator must register it or use another one.',
    60,
  ],
  opens_paused: ['The marketplace’s admin or guardian has paused new executions. Executions in progress go on.', 30],
  fees_low: ['The service has too little SOL for network fees. The operator must fund it.', 300],
  storage_low: ['The service has too little storage for new executions. Retry in a few seconds.', 30],
  stopping: ['The service is stopping. Retry in a few seconds.', 5],
} as const satisfies Partial<Record<Problem, readonly [message: string, retryAfterSeconds: number]>>;

export type Obstacle = keyof typeof OBSTACLES;

export interface Gate {
  /** `advice`: what an operator must do, in a sentence or two, if the obstacle does not end by itself. */
  set(obstacle: Obstacle, isThere: boolean, advice?: string): void;
  /** Announces an obstacle: `obstacles` lists it already, and executions still begin. */
  announce(obstacle: Obstacle): void;
  /** Adds advice that belongs to no obstacle. */
  advise(advice: string): void;
  /** Current and announced obstacles; empty while the gate is open. */
  obstacles(): Obstacle[];
  /** Advice to the operator, first about the current obstacles. */
  advice(): string[];
  /** The engine behind the gate: 503 for new executions while it is closed. */
  guard(engine: Engine): Engine;
}

/** Creates a gate that is closed until the ledger has been compared with the chain. */
export function createGate(): Gate {
  const present = new Map<Obstacle, string | undefined>([['ledger_unreconciled', undefined]]);
  const announced = new Set<Obstacle>();
  const general: string[] = [];
  /** In the order of the table, so that callers get the message of the most serious one. */
  const inOrder = (isThere: (obstacle: Obstacle) => boolean) => (Object.keys(OBSTACLES) as Obstacle[]).filter(isThere);
  function requireOpen(passable?: Obstacle): void {
    for (const obstacle of inOrder((one) => present.has(one))) {
      if (obstacle === passable) continue;
      const [message, retryAfterSeconds] = OBSTACLES[obstacle];
      throw new ApiError('service_unavailable', message, { retryAfterSeconds });
    }
  }

  return {
    set(obstacle, isThere, advice) {
      if (isThere) present.set(obstacle, advice);
      else present.delete(obstacle);
    },
    announce: (obstacle) => void announced.add(obstacle),
    advise: (advice) => void general.push(advice),
    obstacles: () => inOrder((one) => present.has(one) || announced.has(one)),
    advice: () =>
      inOrder((one) => present.has(one))
        .flatMap((one) => present.get(one) ?? [])
        .concat(general),
    guard: (engine) => ({
      ...engine,
      async execute(principal, agent, input) {
        requireOpen();
        return engine.execute(principal, agent, input);
      },
      async buy(agent, input) {
        requireOpen();
        return engine.buy(agent, input);
      },
      async start(agent, input) {
        // The escrow is open already.
        requireOpen('opens_paused');
        return engine.start(agent, input);
      },
    }),
  };
}
