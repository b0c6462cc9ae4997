/** Calls the agent from here: the request, its cost, the payer, and then the result. */
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { SpendButton } from '../../parts/badges.tsx';
import { NewToThis, RECEIVER_WORDS } from '../../parts/explained.tsx';
import type { SchemaFormHandle } from '../../parts/form/jsonField.tsx';
import { missingIn } from '../../parts/form/schema.ts';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { Input, LINK, Note, TextArea } from '../../parts/ui.tsx';
import { formatAmount, formatList, formatSpan } from '../../parts/values.tsx';
import { request } from '../../service.ts';
import { useShared } from '../../wallet/wallets.ts';
import { isTitled } from './example.tsx';
import { type Draft, EMPTY, isExample, useDraft } from './run/draft.ts';
import { keep, type Opened, readKept } from './run/kept.ts';
import { Money, MoneyPath, PayerChoice, runFree } from './run/money.tsx';
import { RunOutcome } from './run/outcome.tsx';
import { Parameters } from './run/parameters.tsx';
import { PayByWallet } from './run/payByWallet.tsx';
import { RunProgress } from './run/progress.tsx';
import { useRun } from './run/useRun.ts';

export default function RunTab({ agent }: { agent: AgentFull }) {
  const [kept] = useState(() => readKept(agent.agent_id));
  const draft = useDraft(agent, kept);
  const { payer, inputs } = draft;
  // Stored only until the first effect, so a reload does not pay again.
  const isAtOnce = kept?.isAtOnce ?? false;
  const [isPaying, setPaying] = useState(isAtOnce);
  const [isStarted, setStarted] = useState(kept?.call?.isStarted ?? false);
  const shown = useRef<HTMLDivElement>(null);
  const running = useRun(agent, kept?.call ?? null);
  const { run } = running;

  const { task, parameters, timeout } = draft;
  const { executionId = null, opened: escrow = null, isHeld = false, begunAt = 0, endedAt = null } = run ?? {};
  // A refused call is not kept.
  const isCalled = run !== null && (executionId !== null || run.error === null);
  useEffect(() => {
    const call = isCalled ? { executionId, opened: escrow, isHeld, isStarted, begunAt, endedAt } : null;
    keep(agent.agent_id, { task, parameters, timeout, call });
  }, [agent.agent_id, task, parameters, timeout, isCalled, executionId, escrow, isHeld, isStarted, begunAt, endedAt]);

  // A dialog keeps the focus while it is open.
  const isRunFocused = run !== null && !isPaying;
  useEffect(() => {
    if (isRunFocused) shown.current?.focus();
  }, [isRunFocused]);

  // When the call ends, the focused element may disappear: a link to follow the call, or the "Retry now" button.
  const { hasEnded = false, isSilent = false, error = null } = run ?? {};
  useEffect(() => {
    if (isRunFocused && document.activeElement === document.body) shown.current?.focus();
  }, [isRunFocused, hasEnded, isSilent, error]);

  const isUnstarted = run?.opened != null && !isStarted && !run.hasEnded && run.execution?.status !== 'running';

  function pay() {
    if (payer === 'wallet') setPaying(true);
    else void running.byKey(draft.apiKey.trim(), inputs);
  }

  function again() {
    setStarted(false);
    running.clear();
    focusFirstField();
  }

  // A call that has begun is shown to its end.
  if (agent.status === 'paused' && !run) {
    return <p className="text-sm text-faint">You can run it here once it accepts calls again.</p>;
  }
  const opened: Opened | null = run?.opened ?? null;
  return (
    <>
      <AskBeforeLeaving when={isUnstarted} title="Leave before the work starts?">
        The price is in escrow, but the work has not started. If you leave, the price is refunded later.
      </AskBeforeLeaving>
      {!run && <Stopped />}
      {isPaying && (
        <PayByWallet
          isAtOnce={isAtOnce}
          onClose={() => setPaying(false)}
          agent={agent}
          inputs={inputs}
          opened={opened}
          onOpened={running.opened}
          onStarted={() => {
            // Closes at once. On a slow connection, the dialog could otherwise still be open when a failure arrives.
            setStarted(true);
            setPaying(false);
            running.again();
          }}
          onAnswer={running.answered}
          onDelta={running.wrote}
          onError={(error) => {
            setStarted(false);
            running.failed(error);
          }}
        />
      )}
      {run ? (
        <div
          ref={shown}
          tabIndex={-1}
          className="grid items-start gap-x-12 gap-y-8 outline-none lg:grid-cols-[20rem_minmax(0,1fr)]"
        >
          <RunProgress
            run={notStarted(run, isStarted || isPaying)}
            agent={agent}
            timeoutSeconds={inputs.timeoutSeconds ?? agent.timeout_seconds}
          />
          <RunOutcome run={notStarted(run, isStarted || isPaying)} onStart={() => setPaying(true)} onAgain={again} />
        </div>
      ) : (
        <RunForm agent={agent} draft={draft} onRun={pay} />
      )}
    </>
  );
}

function focusFirstField(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>('main form :is(textarea, input, select)')?.focus());
}

/** Id of the reason why it cannot be paid yet. */
const WHY_NOT = 'why-not';

interface RunFormProps {
  agent: AgentFull;
  draft: Draft;
  /** Called when all input is valid. */
  onRun(): void;
}

function RunForm({ agent, draft, onRun }: RunFormProps) {
  const form = useRef<SchemaFormHandle>(null);
  const { errors, errorOf } = draft;
  const { task, parameters, timeoutSeconds } = draft.inputs;
  const timeout = errors.timeout === null && timeoutSeconds !== null ? timeoutSeconds : agent.timeout_seconds;
  const missing = draft.isReading
    ? []
    : [...missingIn(agent.input_schema, parameters), ...(task.trim() === '' ? ['the task'] : [])];
  const isShared = useShared();
  const isFree = draft.payer === 'wallet' && isShared;
  const whyNot = missing.length > 0 ? `Fill in ${formatList(missing)}.` : null;

  function submit(event: FormEvent) {
    event.preventDefault();
    draft.setChecked(true);
    const isValid = form.current?.validate() ?? true;
    if (!isValid || Object.values(errors).some(Boolean)) {
      // After React has marked the invalid fields.
      requestAnimationFrame(() => document.querySelector<HTMLElement>('main form [aria-invalid]')?.focus());
      return;
    }
    onRun();
  }

  const taskField = (
    <TextArea
      label="Task"
      hint={
        isTitled(agent)
          ? 'The title of this call in your lists. The agent gets it too, but may not read it.'
          : 'Sent to the agent, and the title of this call in your lists.'
      }
      value={draft.task}
      onChange={({ target }) => draft.change({ task: target.value })}
      error={errorOf('task')}
      aria-required
      {...(isTitled(agent) && { rows: 1, className: 'field-sizing-content min-h-10!' })}
    />
  );
  return (
    <form
      noValidate
      onSubmit={submit}
      className="grid items-start gap-x-12 gap-y-8 lg:grid-cols-[minmax(0,1fr)_20rem] lg:grid-rows-[auto_1fr]"
    >
      <div className="grid min-w-0 gap-6">
        {isExample(draft) && (
          <p className="-mb-2 text-sm text-faint">
            Filled in with the creator’s example. Change it, or{' '}
            <button
              type="button"
              onClick={() => {
                draft.change(EMPTY);
                // This button disappears while it has the focus.
                focusFirstField();
              }}
              className={LINK}
            >
              empty the form
            </button>
            .
          </p>
        )}
        {isFree && <Note>Others who use this test wallet see what you enter and the result, and can delete both.</Note>}
        {!isTitled(agent) && taskField}
        <Parameters agent={agent} draft={draft} form={form} />
        {isTitled(agent) && taskField}
        <details className="text-sm">
          <summary className="py-1">Timeout: {formatSpan(timeout)}</summary>
          <div className="mt-2">
            <Input
              label="Timeout in seconds"
              hint={`${agent.min_timeout_seconds} to ${agent.timeout_seconds}. Without a result by then you are refunded.`}
              inputMode="numeric"
              value={draft.timeout}
              onChange={({ target }) => draft.setTimeoutText(target.value)}
              error={errorOf('timeout')}
            />
          </div>
        </details>
      </div>
      <aside className="grid gap-4 lg:sticky lg:top-24 lg:row-span-2" aria-label="Payment">
        <PayerChoice
          payer={draft.payer}
          onPayer={draft.setPayer}
          apiKey={draft.apiKey}
          onApiKey={draft.setApiKey}
          error={errorOf('apiKey')}
        />
        <Money agent={agent} payer={draft.payer} />
        <p className="text-sm">
          <NewToThis />
        </p>
        <p className="text-sm">{RECEIVER_WORDS}</p>
        <SpendButton type="submit" disabled={whyNot !== null || draft.isReading} aria-describedby={WHY_NOT}>
          {isFree ? runFree(agent) : `Pay ${formatAmount(agent.price_per_call_usdc)} and run`}
        </SpendButton>
        <p id={WHY_NOT} className="-mt-2 min-h-5 text-sm text-faint">
          {whyNot}
        </p>
      </aside>
      <MoneyPath agent={agent} seconds={timeout} />
    </form>
  );
}

/** Adds an error to an escrow whose start was never signed, because the service reports none. */
function notStarted(run: NonNullable<ReturnType<typeof useRun>['run']>, isStarted: boolean) {
  const isWaiting = run.opened !== null && !isStarted && !run.hasEnded && run.error === null;
  return isWaiting ? { ...run, error: new Error('Your wallet has not signed the start.') } : run;
}

const REFRESH_MS = 15_000;

function Stopped() {
  const { data } = useQuery({
    queryKey: ['health'],
    queryFn: () => request('getHealth'),
    refetchInterval: REFRESH_MS,
  });
  if (!data || data.problems.length === 0) return null;
  return (
    <div className="mb-6">
      {data.problems.includes('opens_paused') ? (
        <Note tone="warn" title="New calls are paused on the whole marketplace">
          Its admin or guardian has paused them. Calls in progress go on. New ones are refused, and nothing is paid.
        </Note>
      ) : (
        <Note tone="warn" title="The marketplace takes no calls at the moment">
          It cannot pay or show them safely. New calls are refused, and nothing is paid. Try again in a few minutes.
        </Note>
      )}
    </div>
  );
}
