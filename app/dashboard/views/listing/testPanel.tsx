/** The Test Execution tool: one synthetic call to the endpoint, and its checks. Nothing goes on-chain. */
import { useMutation } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { CONFORMANCE_CHECKS, isUnsent } from '../../../sdk/wire/conformance.ts';
import { encodeMetadata } from '../../../sdk/wire/metadata.ts';
import type { ListingCheck } from '../../../sdk/wire/procedures.ts';
import { isFormable } from '../../parts/form/schema.ts';
import { Mark } from '../../parts/mark.tsx';
import { useNow } from '../../parts/now.ts';
import { Button, Card, Checkbox, cx, Input, Note, Skeleton, Spinner } from '../../parts/ui.tsx';
import { Code, formatDuration } from '../../parts/values.tsx';
import { call, explain, request } from '../../service.ts';
import { loadChainModules } from '../../wallet/chain.ts';
import { type Draft, readSchema, toInput } from './draft.ts';
import { useSchemaErrors } from './schemaErrors.ts';

const SchemaForm = lazy(() => import('../../parts/form/schemaForm.tsx'));

export interface TestOutcome {
  ok: boolean;
  checks: ListingCheck[];
  /** The beginning of the server's unchanged answer; null if there was none. */
  answer: string | null;
}

interface TestPanelProps {
  draft: Draft;
  onChange(part: Partial<Draft>): void;
  /** Base58; null until there is one. */
  signingKey: string | null;
  outcome: TestOutcome | null;
  onOutcome(outcome: TestOutcome | null): void;
  /** Shown if the test cannot run yet: the obstacle, with a link to correct it. */
  blocked?: ReactNode;
}

/** Posts the document to the marketplace, which keeps it for a day, and lets it call the endpoint. */
export async function runTest(draft: Draft, signingKey: string): Promise<TestOutcome> {
  const { parseListingDraft } = await loadChainModules();
  const { metadata, timeoutSeconds } = parseListingDraft(toInput(draft), 'The draft');
  const { metadata_hash } = await request('postMetadata', { body: encodeMetadata(metadata) });
  return call('listings.test', {
    metadata_hash,
    signing_key: signingKey,
    task: draft.test_task,
    parameters: draft.test_parameters,
    timeout_seconds: timeoutSeconds,
    full: true,
    publish: draft.test_publish ?? false,
  });
}

export function TestPanel({ draft, onChange, signingKey, outcome, onOutcome, blocked }: TestPanelProps) {
  // Reports to the draft that was tested, even if it is changed meanwhile.
  const test = useMutation({
    mutationFn: async (report: TestPanelProps['onOutcome']) => report(await runTest(draft, signingKey!)),
    networkMode: 'always',
  });
  const isRunning = test.isPending;
  const [asJson, setAsJson] = useState(false);
  const schema = readSchema(draft.input_schema);
  const fault = useSchemaErrors(draft)?.test_parameters;
  function run() {
    onOutcome(null);
    test.mutate(onOutcome);
  }

  return (
    <div className="grid items-start gap-6 lg:grid-cols-2">
      <Card className="grid gap-5">
        <h3 className="font-medium">What is sent</h3>
        <Input
          label="Task"
          value={draft.test_task}
          error={draft.test_task.trim() === '' ? 'is missing' : null}
          onChange={({ target }) => onChange({ test_task: target.value })}
        />
        {schema && (
          <div className="grid gap-3">
            {isFormable(schema) && (
              <Button small className="justify-self-end" aria-pressed={asJson} onClick={() => setAsJson(!asJson)}>
                {asJson ? 'Edit as a form' : 'Edit as JSON'}
              </Button>
            )}
            <Suspense fallback={<Skeleton className="h-40" />}>
              <SchemaForm
                schema={schema}
                value={draft.test_parameters}
                onChange={(test_parameters) => onChange({ test_parameters })}
                asJson={asJson}
                live
              />
            </Suspense>
          </div>
        )}
        <Checkbox
          checked={draft.test_publish ?? false}
          onChange={({ target }) => onChange({ test_publish: target.checked })}
          label="Show it as the example"
          hint="If the test passes, the agent’s page shows the task, the parameters and the result of the test to everybody."
        />
        {blocked}
        <div className="flex flex-wrap items-center gap-4">
          <Button
            kind="primary"
            busy={isRunning}
            disabled={Boolean(blocked) || !signingKey || draft.test_task.trim() === '' || fault !== undefined}
            onClick={run}
          >
            {outcome ? 'Test again' : 'Run the test'}
          </Button>
          {isRunning ? (
            <Elapsed most={Number(draft.timeout_seconds)} />
          ) : (
            <span className="text-sm text-faint">
              {fault === undefined ? 'No transaction and no money.' : `Correct the parameters first: ${fault}.`}
            </span>
          )}
        </div>
      </Card>
      <TestResult error={test.error} outcome={outcome} isRunning={isRunning} />
    </div>
  );
}

/** A mistake in the form is no failure of the endpoint, to which nothing was sent. */
export function failureOf(checks: readonly ListingCheck[]): { title: string; about: string } {
  const detail = checks.find((check) => !check.ok && check.required)?.detail ?? '';
  return isUnsent(checks)
    ? { title: 'The request does not fit your description', about: `Nothing was sent to the endpoint: ${detail}.` }
    : { title: 'The endpoint failed the test', about: 'A paid call like this would have been refunded.' };
}

interface TestResultProps {
  /** Why the test could not be run; null if it could. */
  error: unknown;
  outcome: TestOutcome | null;
  isRunning: boolean;
}

function TestResult({ error, outcome, isRunning }: TestResultProps) {
  const advised = outcome?.checks.filter((check) => !check.ok && !check.required).length ?? 0;
  return (
    <div className="grid gap-3" aria-live="polite">
      {error !== null && (
        <Note tone="bad" title="The test could not be run">
          <p className="whitespace-pre-line">{explain(error)}</p>
        </Note>
      )}
      {outcome?.ok && (
        <Note tone="good" title="The endpoint passed">
          A paid call would have been settled.
          {advised > 0 && ` ${advised} of the advised checks failed: you can list the agent, but should correct them.`}
        </Note>
      )}
      {outcome && !outcome.ok && (
        <Note tone={isUnsent(outcome.checks) ? 'warn' : 'bad'} title={failureOf(outcome.checks).title}>
          {failureOf(outcome.checks).about} Correct it and test again; your draft is kept.
        </Note>
      )}
      <Checks checks={outcome?.checks ?? null} isRunning={isRunning} />
      {outcome && outcome.answer !== null && (
        <details open={!outcome.ok}>
          <summary className="mb-2 text-sm">The answer of your server</summary>
          <Code text={outcome.answer || '(empty)'} label="The answer of your server" />
        </details>
      )}
    </div>
  );
}

function Elapsed({ most }: { most: number }) {
  const [begunAt] = useState(Date.now);
  const seconds = Math.round((useNow(1_000) - begunAt) / 1_000);
  return (
    <span className="text-sm text-faint tabular-nums">
      {formatDuration(seconds * 1_000)} of at most {formatDuration(most * 1_000)}
    </span>
  );
}

/** `checks` is null if none were made yet. */
function Checks({ checks, isRunning }: { checks: readonly ListingCheck[] | null; isRunning: boolean }) {
  return (
    <ol
      className="divide-y divide-line rounded-xl border border-line bg-raised"
      aria-label="Checks"
      aria-busy={isRunning}
    >
      {CONFORMANCE_CHECKS.map(({ name, title, expected, required }) => {
        const found = checks?.find((check) => check.name === name);
        return (
          <li key={name} className="flex items-start gap-3 px-4 py-3 text-sm">
            <State state={isRunning ? 'running' : found ? (found.ok ? 'ok' : 'failed') : 'open'} />
            <div className="min-w-0 flex-1">
              <p>
                <span className="font-medium">{title}</span> <span className="text-faint">{expected}</span>
                {!required && <span className="text-faint"> (advised)</span>}
              </p>
              {found && (
                <p className={cx('mt-0.5', found.ok ? 'text-faint' : 'text-bad')}>
                  <span className="font-medium">Got:</span> {found.detail}
                </p>
              )}
              {found && found.sent !== null && (
                <details className="mt-1">
                  <summary className="text-sm">Sent and received</summary>
                  <div className="mt-2 grid gap-2">
                    <Code text={found.sent} label={`${title}: what was sent`} />
                    <Code text={found.received ?? '(no answer)'} label={`${title}: what came back`} />
                  </div>
                </details>
              )}
              {!found && checks && !isRunning && <p className="mt-0.5 text-faint">Not run.</p>}
            </div>
            {found && <span className="shrink-0 text-faint tabular-nums">{formatDuration(found.duration_ms)}</span>}
          </li>
        );
      })}
    </ol>
  );
}

const STATES = { ok: 'passed', failed: 'failed', open: 'not_checked' } as const;
const WORDS = { ok: 'passed', failed: 'failed', open: 'not run' } as const;

function State({ state }: { state: keyof typeof STATES | 'running' }) {
  if (state !== 'running') return <Mark state={STATES[state]} word={WORDS[state]} />;
  return (
    <span className="grid size-6 shrink-0 place-items-center">
      <Spinner />
    </span>
  );
}
