/** What the Test Execution tool found: each check with what is right, what came, and how long it took. */
import type { ListingCheck } from '../../sdk/wire/procedures.ts';
import { cx, Spinner } from './ui.tsx';
import { formatDuration } from './values.tsx';

const CHECKS: readonly (readonly [ListingCheck['name'], title: string, expected: string])[] = [
  ['metadata', 'Description', 'stored, and the parameters fit its input schema'],
  ['reachable', 'Endpoint', 'answers in time'],
  ['json', 'Answer', 'is JSON'],
  ['execution_id', 'Execution id', 'is that of the request'],
  ['status', 'Status', '"completed", with a result'],
  ['result_hash', 'Result hash', '"sha256:" and the SHA-256 of the result'],
  ['signature', 'Signature', "the signing key's, over the result hash"],
];

/** `checks` null: none were made yet. */
export function Checks({ checks, isRunning }: { checks: readonly ListingCheck[] | null; isRunning: boolean }) {
  return (
    <ol
      className="divide-y divide-line rounded-xl border border-line bg-raised"
      aria-label="Checks"
      aria-busy={isRunning}
    >
      {CHECKS.map(([name, title, expected]) => {
        const found = checks?.find((check) => check.name === name);
        return (
          <li key={name} className="flex items-start gap-3 px-4 py-3 text-sm">
            <Mark state={isRunning ? 'running' : found ? (found.ok ? 'ok' : 'failed') : 'open'} />
            <div className="min-w-0 flex-1">
              <p>
                <span className="font-medium">{title}</span> <span className="text-faint">{expected}</span>
              </p>
              {found && (
                <p className={cx('mt-0.5', found.ok ? 'text-faint' : 'text-bad')}>
                  <span className="font-medium">Got:</span> {found.detail}
                </p>
              )}
              {!found && checks && !isRunning && <p className="mt-0.5 text-faint">Not reached.</p>}
            </div>
            {found && <span className="shrink-0 text-faint tabular-nums">{formatDuration(found.duration_ms)}</span>}
          </li>
        );
      })}
    </ol>
  );
}

const MARKS = {
  ok: ['bg-good-soft text-good', 'm4 8.5 2.8 2.6L12 5', 'passed'],
  failed: ['bg-bad-soft text-bad', 'm5 5 6 6m0-6-6 6', 'failed'],
  open: ['bg-sunken text-faint', 'M5 8h6', 'not made'],
} as const;

function Mark({ state }: { state: keyof typeof MARKS | 'running' }) {
  if (state === 'running') {
    return (
      <span className="grid size-6 shrink-0 place-items-center">
        <Spinner />
      </span>
    );
  }
  const [look, path, word] = MARKS[state];
  return (
    <span className={cx('grid size-6 shrink-0 place-items-center rounded-full', look)}>
      <svg
        viewBox="0 0 16 16"
        className="size-4"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        aria-hidden="true"
      >
        <path d={path} strokeLinecap="round" strokeLinejoin="round" />
      </svg>
      <span className="sr-only">{word}: </span>
    </span>
  );
}
