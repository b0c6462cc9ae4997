/**
 * Decides if new executions may begin. Running executions always continue: the gate only refuses calls that would add
 * to an existing problem, before any money moves.
 */
import type { Problem } from '../../sdk/wire/wire.ts';
import { ApiError } from '../errors.ts';
import type { Engine } from '../execution/contract.ts';

interface Closing {
  /** For the caller whose call is refused. */
  message: string;
  retryAfterSeconds: number;
  /** What an operator must do, in a sentence or two; null if it ends by itself. */
  advice: string | null;
}

/** The problems that close the gate. */
const CLOSING = {
  clock_wrong: {
    message: 'The clock of the service is wrong. The operator must set it. Nothing was charged.',
    retryAfterSeconds: 30,
    advice: 'The clock of this machine is wrong. Set it by NTP.',
  },
  chain_behind: {
    message: 'The Solana node shows no recent final block. Nothing was charged. Retry in a few seconds.',
    retryAfterSeconds: 5,
    advice:
      'The newest final block of the node is old. Check the node and the status of the cluster. New executions are accepted again when the node has caught up.',
  },
  chain_restarted: {
    message:
      'The Solana cluster was restarted. The service compares its records with the chain first. Nothing was charged.',
    retryAfterSeconds: 60,
    advice:
      'The cluster was restarted. New executions are accepted again when the indexer has rebuilt its tables and the ledger was compared with the chain. The log then names each execution that the restart has changed.',
  },
  ledger_unreconciled: {
    message: 'The service is starting and compares its ledger with the chain. Retry in a few seconds.',
    retryAfterSeconds: 5,
    advice: null,
  },
  authority_changed: {
    message:
      'This relay’s authority is no longer registered with the marketplace. The operator must register it or use another one.',
    retryAfterSeconds: 60,
    advice:
      'The marketplace does not list this relay’s authority. Add it with `npm run cli -- admin propose-change --add-relay-authority ADDRESS`, or start the relay with a listed key.',
  },
  opens_paused: {
    message: 'The marketplace’s admin or guardian has paused new calls. Calls in progress go on.',
    retryAfterSeconds: 30,
    advice:
      'New executions are paused. `npm run cli -- admin config` shows whose pause it is; that key ends it with `npm run cli -- admin resume-opens`.',
  },
  fees_low: {
    message: 'The service has too little SOL for network fees. The operator must fund it.',
    retryAfterSeconds: 300,
    advice: 'Send SOL to the relay authority.',
  },
  storage_low: {
    message: 'The service has too little storage for new calls. Retry in a few seconds.',
    retryAfterSeconds: 30,
    advice:
      'The ledger has too little disk space. Free or add space; new executions are accepted again without a restart.',
  },
  stopping: { message: 'The service is stopping. Retry in a few seconds.', retryAfterSeconds: 5, advice: null },
} as const satisfies Partial<Record<Problem, Closing>>;

export type Obstacle = keyof typeof CLOSING;
/** The most serious one first. */
export const OBSTACLES = Object.keys(CLOSING) as Obstacle[];

export type Gate = ReturnType<typeof createGate>;

/** Creates a gate that is closed until the ledger has been compared with the chain. */
export function createGate() {
  let reconciledMs: number | null = null;
  const present = new Map<Obstacle, string | null>([['ledger_unreconciled', null]]);
  const announced = new Set<Obstacle>();
  const general: string[] = [];
  /** In the order of the table, so that callers get the message of the most serious one. */
  const inOrder = (isThere: (obstacle: Obstacle) => boolean) => OBSTACLES.filter(isThere);
  function requireOpen(passable?: Obstacle): void {
    for (const obstacle of inOrder((one) => present.has(one))) {
      if (obstacle === passable) continue;
      const { message, retryAfterSeconds } = CLOSING[obstacle];
      throw new ApiError('service_unavailable', message, { retryAfterSeconds });
    }
  }

  return {
    /** `advice` replaces that of the table, to name more. */
    set(obstacle: Obstacle, isThere: boolean, advice?: string): void {
      if (isThere) present.set(obstacle, advice ?? CLOSING[obstacle].advice);
      else present.delete(obstacle);
      if (obstacle === 'ledger_unreconciled') reconciledMs = isThere ? null : Date.now();
    },
    /** When the ledger was compared with the chain, unix milliseconds; null while it is not. */
    reconciledMs: () => reconciledMs,
    /** Announces an obstacle: `obstacles` lists it already, and executions still begin. */
    announce: (obstacle: Obstacle): void => void announced.add(obstacle),
    /** Adds advice that belongs to no obstacle. */
    advise: (advice: string): void => void general.push(advice),
    /** Current and announced obstacles; empty while the gate is open. */
    obstacles: () => inOrder((one) => present.has(one) || announced.has(one)),
    /** Advice to the operator, first about the current obstacles. */
    advice: (): string[] =>
      inOrder((one) => present.has(one))
        .flatMap((one) => present.get(one) ?? [])
        .concat(general),
    /** The engine behind the gate: 503 for new executions while it is closed. */
    guard: (engine: Engine): Engine => ({
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
