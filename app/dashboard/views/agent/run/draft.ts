/** The visitor's input to a call: the creator's example until it is changed. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AgentFull } from '../../../../sdk/wire/wire.ts';
import { faultOfLength } from '../../../parts/reading.ts';
import { exampleQuery } from '../../../service.ts';
import { isApiKey, type Payer } from './cost.ts';
import { isFilled, type Kept } from './kept.ts';
import type { Inputs } from './useRun.ts';

export type Draft = ReturnType<typeof useDraft>;
type Input = Pick<Kept, 'task' | 'parameters'>;

export const EMPTY: Input = { task: '', parameters: {} };

const TASK_LENGTH = 100_000;

/** Stays while a run is shown. */
export function useDraft(agent: AgentFull, kept: Kept | null) {
  // Failed reads leave the form empty.
  const { data: example, isLoading, failureCount } = useQuery(exampleQuery(agent.agent_id));
  const unchanged = example ?? EMPTY;
  // Null until the visitor changes or empties the form.
  const [own, setOwn] = useState<Input | null>(isFilled(kept) ? kept : null);
  const { task, parameters } = own ?? unchanged;
  const change = (part: Partial<Input>) => setOwn((before) => ({ ...(before ?? unchanged), ...part }));
  const [timeout, setTimeoutText] = useState(kept?.timeout ?? '');
  const [payer, setPayer] = useState<Payer>('wallet');
  const [apiKey, setApiKey] = useState('');
  const [asJson, setAsJson] = useState(false);
  const [isChecked, setChecked] = useState(false);

  const seconds = timeout.trim() === '' ? null : Number(timeout);
  const inputs: Inputs = { task, parameters: withoutEmpty(parameters), timeoutSeconds: seconds };
  const errors = {
    task: task.trim() === '' ? 'Enter a task for the agent.' : faultOfLength(task, TASK_LENGTH),
    timeout: isTimeout(seconds, agent)
      ? null
      : `A whole number of seconds, ${agent.min_timeout_seconds} to ${agent.timeout_seconds}.`,
    apiKey: payer === 'wallet' || isApiKey(apiKey) ? null : 'A key begins with crtx_test_ or crtx_live_.',
  };
  const errorOf = (name: keyof typeof errors) => (isChecked ? errors[name] : null);
  return {
    task,
    parameters,
    change,
    example,
    isReading: isLoading && failureCount === 0,
    timeout,
    setTimeoutText,
    payer,
    setPayer,
    apiKey,
    setApiKey,
    asJson,
    setAsJson,
    setChecked,
    inputs,
    errors,
    errorOf,
  };
}

/** True while the form has what the creator's example has. */
export const isExample = ({ example, task, parameters }: Draft): boolean =>
  example != null &&
  task === example.task &&
  Object.entries(example.parameters).every(
    ([name, value]) => JSON.stringify(parameters[name]) === JSON.stringify(value),
  );

function isTimeout(seconds: number | null, { min_timeout_seconds, timeout_seconds }: AgentFull): boolean {
  if (seconds === null) return true;
  return Number.isInteger(seconds) && seconds >= min_timeout_seconds && seconds <= timeout_seconds;
}

/** The parameters as sent: empty fields are absent. */
const withoutEmpty = (parameters: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(parameters));
