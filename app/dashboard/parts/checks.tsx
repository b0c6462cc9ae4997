/** Results of the Test Execution tool: each check with the expected and received value, and its duration. */
import type { ListingCheck } from '../../sdk/wire/procedures.ts';
import { Mark } from './mark.tsx';
import { cx, Spinner } from './ui.tsx';
import { formatDuration } from './values.tsx';

const CHECKS: readonly (readonly [ListingCheck['name'], title: string, expected: string])[] = [
  ['metadata', 'Description', 'stored; the parameters fit its input schema'],
  ['reachable', 'Endpoint', 'answers in time'],
  ['json', 'Answer', 'is JSON'],
  ['execution_id', 'Execution id', 'equals the request'],
  ['status', 'Status', '"completed", with a result'],
  ['result_hash', 'Result hash', '"sha256:" and the SHA-256 of the result'],
  ['signature', 'Signature', 'of the signing key over the result hash'],
];

/** `checks` is null if none were made yet. */
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
            <State state={isRunning ? 'running' : found ? (found.ok ? 'ok' : 'failed') : 'open'} />
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

const STATES = { ok: 'passed', failed: 'failed', open: 'not_checked' } as const;
const WORDS = { ok: 'passed', failed: 'failed', open: 'not made' } as const;

function State({ state }: { state: keyof typeof STATES | 'running' }) {
  if (state !== 'running') return <Mark state={STATES[state]} word={WORDS[state]} />;
  return (
    <span className="grid size-6 shrink-0 place-items-center">
      <Spinner />
    </span>
  );
}
