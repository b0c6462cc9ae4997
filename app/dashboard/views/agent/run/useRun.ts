/** One call of an agent from this page: how it was begun, and what the service says of it until it has ended. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { createClient, type ExecuteAnswer, type MarketplaceClient } from '../../../../sdk/client/client.ts';
import { MarketplaceError } from '../../../../sdk/client/error.ts';
import type { AgentFull, ExecuteCompleted } from '../../../../sdk/wire/wire.ts';
import { BASE_URL, rest } from '../../../service.ts';
import { useSession } from '../../../wallet/session.ts';
import { marketplaceErrorIn } from './failure.ts';

const POLL_MS = 700;
/** After so long without an answer a person is told that nothing is known. */
const SILENCE_MS = 10_000;

export interface Inputs {
  task: string;
  parameters: Record<string, unknown>;
  timeoutSeconds: number | null;
}

/** What a wallet has put into escrow. */
export interface Opened {
  executionId: string;
  /** Of the transaction. */
  signature: string;
}

interface Run {
  /** When the person asked for it, milliseconds. */
  begunAt: number;
  endedAt: number | null;
  executionId: string | null;
  /** Null: paid by a key. */
  opened: Opened | null;
  /** Who may read it: null where only the wallet's cookie may. */
  client: MarketplaceClient | null;
  /** The service's whole answer to a wallet's start. */
  answer: ExecuteCompleted | null;
  error: unknown;
  /** Asks for the very same call again, which never pays twice; null for a wallet's. */
  repeat: (() => void) | null;
}

export type RunState = NonNullable<ReturnType<typeof useRun>['run']>;
export type ExecutionNow = Awaited<ReturnType<MarketplaceClient['getExecution']>>;

export function useRun(agent: AgentFull) {
  const [run, setRun] = useState<Run | null>(null);
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
    queryFn: () => (run?.client ?? rest).getExecution(id ?? ''),
    enabled: id !== null && (run?.client != null || wallet != null),
    refetchInterval: ({ state }) => (isEnded(state.data) ? false : POLL_MS),
    // The next poll is the next try.
    retry: false,
    staleTime: 0,
  });
  const hasEnded = isEnded(execution) || run?.answer != null || (run?.error != null && isFinal(run.error));

  // An error of the service's own is an answer as well.
  const heardAt = Math.max(run?.begunAt ?? 0, dataUpdatedAt, refusal instanceof MarketplaceError ? errorUpdatedAt : 0);
  const isSilent = useSilence(run !== null && run.error === null && !hasEnded, heardAt);

  useEffect(() => {
    if (!hasEnded) return;
    setRun((before) => before && { ...before, endedAt: before.endedAt ?? Date.now() });
    for (const key of ['agent', 'agents', 'outcomes', 'executions'])
      void queries.invalidateQueries({ queryKey: [key] });
  }, [hasEnded, queries]);

  const begin = (part: Partial<Run>): Run => ({
    begunAt: Date.now(),
    endedAt: null,
    executionId: null,
    opened: null,
    client: null,
    answer: null,
    error: null,
    repeat: null,
    ...part,
  });

  /** By a key, which lives as long as this page shows the call. The same name is the same call, however often. */
  async function byKey(apiKey: string, inputs: Inputs, idempotencyKey: string = crypto.randomUUID()): Promise<void> {
    const client = createClient({ baseUrl: BASE_URL, apiKey });
    setRun(begin({ client, repeat: () => void byKey(apiKey, inputs, idempotencyKey) }));
    const { task, parameters, timeoutSeconds } = inputs;
    try {
      const body = {
        task,
        parameters,
        async: true,
        max_cost_usdc: agent.price_per_call_usdc,
        ...(timeoutSeconds !== null && { timeout_seconds: timeoutSeconds }),
      };
      const { execution_id } = await client.execute(agent.agent_id, body, { idempotencyKey });
      change({ executionId: execution_id });
    } catch (error) {
      change({ error, endedAt: Date.now(), executionId: marketplaceErrorIn(error)?.executionId ?? null });
      if (marketplaceErrorIn(error)?.code === 'price_changed') void queries.invalidateQueries({ queryKey: ['agent'] });
    }
  }

  return {
    run: run && { ...run, execution, hasEnded, isSilent, ask: id === null ? null : () => void refetch() },
    byKey,
    /** The price is in escrow by the wallet's own signature. */
    opened: (opened: Opened) => setRun(begin({ opened, executionId: opened.executionId })),
    answered: (answer: ExecuteAnswer) => answer.status === 'completed' && change({ answer }),
    failed: (error: unknown) => change({ error }),
    /** A start that failed is tried again. */
    again: () => change({ error: null, endedAt: null }),
    clear: () => setRun(null),
  };
}

/** Whether nothing has been heard since then for so long that it must be said. */
function useSilence(isAwaited: boolean, heardAt: number): boolean {
  const [silentSince, setSilentSince] = useState(0);
  useEffect(() => {
    if (!isAwaited) return;
    const timer = setTimeout(() => setSilentSince(heardAt), heardAt + SILENCE_MS - Date.now());
    return () => clearTimeout(timer);
  }, [isAwaited, heardAt]);
  return isAwaited && silentSince === heardAt;
}

function isEnded(execution: ExecutionNow | null | undefined): boolean {
  return execution != null && execution.status !== 'pending' && execution.status !== 'running';
}

/** Whether an error of a start says that the execution itself has ended. */
function isFinal(error: unknown): boolean {
  const code = marketplaceErrorIn(error)?.code;
  return code === 'execution_failed' || code === 'execution_timeout';
}
