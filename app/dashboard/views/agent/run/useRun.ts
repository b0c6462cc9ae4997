/** The state of one call from this page: how it started, and what the service reports until it has ended. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type Client, createClient, type RouteAnswer } from '../../../../sdk/client/client.ts';
import { APIStatusError } from '../../../../sdk/client/error.ts';
import { PATIENCE } from '../../../../sdk/client/repeat.ts';
import type { AgentFull, ExecuteCompleted } from '../../../../sdk/wire/wire.ts';
import { BASE_URL, request } from '../../../service.ts';
import { useSession } from '../../../wallet/session.ts';
import { marketplaceErrorIn } from './failure.ts';
import type { KeptCall, Opened } from './kept.ts';

const POLL_MS = 700;
/** Characters of streamed output; the result is shown whole. */
const SHOWN_OUTPUT = 100_000;
/** After this time without an answer, the page reports it. */
const SILENCE_MS = 10_000;
/** Refusals after which the agent is read again. */
const CHANGED = ['price_changed', 'agent_paused'];

export interface Inputs {
  task: string;
  parameters: Record<string, unknown>;
  timeoutSeconds: number | null;
}

interface Run {
  /** When the user requested it, milliseconds. */
  begunAt: number;
  endedAt: number | null;
  executionId: string | null;
  /** Null: paid by a key. */
  opened: Opened | null;
  /** The service has said that a key's price is in escrow. */
  isHeld: boolean;
  /** A client that may read it; null if only the wallet's cookie may. */
  client: Client | null;
  /** The service's complete answer. */
  answer: ExecuteCompleted | null;
  error: unknown;
  /** What the agent has streamed so far. */
  output: string;
  /** Repeats the same call, which never pays twice; null for a wallet's call. */
  repeat: (() => void) | null;
}

const NEW: Omit<Run, 'begunAt'> = {
  endedAt: null,
  executionId: null,
  opened: null,
  isHeld: false,
  client: null,
  answer: null,
  error: null,
  output: '',
  repeat: null,
};

export type RunState = NonNullable<ReturnType<typeof useRun>['run']>;
export type ExecutionNow = RouteAnswer<'getExecution'>;

/** `kept`: a call that this tab showed before a reload. */
export function useRun(agent: AgentFull, kept: KeptCall | null) {
  const [run, setRun] = useState<Run | null>(() => kept && { ...NEW, ...kept });
  const { wallet } = useSession();
  const queries = useQueryClient();
  const change = (part: Partial<Run>) => setRun((before) => before && { ...before, ...part });

  const id = run?.executionId ?? null;
  const {
    data: execution = null,
    dataUpdatedAt,
    error: refusal,
    errorUpdatedAt,
    refetch,
  } = useQuery({
    queryKey: ['run', id],
    queryFn: () => (run?.client?.request ?? request)('getExecution', { execution_id: id ?? '' }),
    enabled: id !== null && (run?.client != null || wallet != null),
    refetchInterval: ({ state: { data } }) => (isEnded(data) && data?.refund !== 'pending' ? false : POLL_MS),
    // The next poll is the retry.
    retry: false,
    staleTime: 0,
  });
  // A poll may be older than the answer of the start, so a running execution decides nothing.
  const ended = isEnded(execution) ? execution : null;
  const outcome = outcomeOf(ended, run);
  const hasEnded = outcome !== null;
  // An opening that is not confirmed has no cost yet, and may still fail.
  const wasOpened =
    run?.opened != null ||
    run?.isHeld === true ||
    (execution?.cost_usdc ?? 0) > 0 ||
    outcome === 'completed' ||
    ended?.refund != null;

  // The service's own error is an answer too.
  const heardAt = Math.max(run?.begunAt ?? 0, dataUpdatedAt, refusal instanceof APIStatusError ? errorUpdatedAt : 0);
  // A key is not kept over a reload, and a cookie reads the calls of its wallet only.
  const isForeign = wallet === null || (refusal instanceof APIStatusError && refusal.status === 404);
  const isUnreadable = run !== null && run.client === null && run.opened === null && (id === null || isForeign);
  const isSilent = useSilence(run !== null && run.error === null && !hasEnded, heardAt);

  useEffect(() => {
    if (!hasEnded) return;
    setRun((before) => before && { ...before, endedAt: before.endedAt ?? Date.now() });
    for (const key of ['agent', 'agents', 'executions', 'balance']) void queries.invalidateQueries({ queryKey: [key] });
  }, [hasEnded, queries]);

  const begin = (part: Partial<Run>): Run => ({ ...NEW, begunAt: Date.now(), ...part });

  /**
   * Calls with a key, which is kept as long as this page shows the call. The same idempotency key always means the same
   * call.
   */
  async function byKey(apiKey: string, inputs: Inputs, idempotencyKey: string = crypto.randomUUID()): Promise<void> {
    const client = createClient({ baseUrl: BASE_URL, apiKey, maxRetries: 0 });
    setRun(begin({ client, repeat: () => void byKey(apiKey, inputs, idempotencyKey) }));
    // The stream may outlive the run that is shown.
    const changeOwn: Change = (part) =>
      setRun((before) => (before?.client === client ? { ...before, ...part(before) } : before));
    await callByKey(client, agent, inputs, idempotencyKey, changeOwn).catch((error: unknown) => {
      if (CHANGED.some((code) => code === marketplaceErrorIn(error)?.code))
        void queries.invalidateQueries({ queryKey: ['agent'] });
    });
  }

  return {
    run: run && {
      ...run,
      execution,
      ended,
      outcome,
      hasEnded,
      wasOpened,
      isAtWork: wasOpened && execution?.status === 'running',
      isSilent,
      isUnreadable,
      ask: id === null ? null : () => void refetch(),
    },
    byKey,
    /** The wallet's own signature has put the price into escrow. */
    opened: (opened: Opened) => setRun(begin({ opened, executionId: opened.executionId })),
    answered: (answer: RouteAnswer<'executeAgent'>) => answer.status === 'completed' && change({ answer }),
    /** The agent streams its output, which nobody has verified. */
    wrote: (text: string) => setRun((before) => before && { ...before, output: longer(before.output, text) }),
    failed: (error: unknown) => change({ error }),
    /** Retries a failed start. */
    again: () => change({ error: null, endedAt: null, output: '' }),
    clear: () => setRun(null),
  };
}

const longer = (output: string, text: string): string => (output + text).slice(0, SHOWN_OUTPUT);

type Change = (part: (before: Run) => Partial<Run>) => void;

/** Calls the agent with the client's key, and reports what happens. Throws what the call throws. */
async function callByKey(
  client: Client,
  agent: AgentFull,
  { task, parameters, timeoutSeconds }: Inputs,
  idempotencyKey: string,
  change: Change,
): Promise<void> {
  const body = {
    task,
    parameters,
    max_cost_usdc: agent.price_per_call_usdc,
    stream: true,
    ...(timeoutSeconds !== null && { timeout_seconds: timeoutSeconds }),
  };
  try {
    const call = { agent_id: agent.agent_id, body };
    const answer = await client.request('executeAgent', call, {
      idempotencyKey,
      // If the service asks for a longer pause, the user reads its answer.
      patience: { repeats: PATIENCE.repeats, pauseMs: PATIENCE.pauseMs },
      onExecution: (executionId) => change(() => ({ executionId })),
      // Only a call whose price is in escrow reaches its agent.
      onDelta: (text) => change((before) => ({ isHeld: true, output: longer(before.output, text) })),
    });
    change(() => ({ executionId: answer.execution_id, ...(answer.status === 'completed' && { answer }) }));
  } catch (error) {
    const found = marketplaceErrorIn(error)?.executionId ?? null;
    // Once the call has an id, the polls say how it ends.
    change(({ executionId }) =>
      executionId !== null && !isFinal(error) ? {} : { error, endedAt: Date.now(), executionId: found ?? executionId },
    );
    throw error;
  }
}

/** True if nothing was received for so long that the page must report it. */
function useSilence(isAwaited: boolean, heardAt: number): boolean {
  const [silentSince, setSilentSince] = useState(0);
  useEffect(() => {
    if (!isAwaited) return;
    const timer = setTimeout(() => setSilentSince(heardAt), heardAt + SILENCE_MS - Date.now());
    return () => clearTimeout(timer);
  }, [isAwaited, heardAt]);
  return isAwaited && silentSince === heardAt;
}

function outcomeOf(ended: ExecutionNow | null, run: Run | null): 'completed' | 'failed' | null {
  if (ended) return ended.status === 'failed' ? 'failed' : 'completed';
  if (run?.answer) return 'completed';
  return run?.error != null && isFinal(run.error) ? 'failed' : null;
}

function isEnded(execution: ExecutionNow | null | undefined): boolean {
  return execution != null && execution.status !== 'pending' && execution.status !== 'running';
}

/** True if an error of a start means that the execution has ended. */
function isFinal(error: unknown): boolean {
  const code = marketplaceErrorIn(error)?.code;
  return code === 'execution_failed' || code === 'execution_timeout';
}
