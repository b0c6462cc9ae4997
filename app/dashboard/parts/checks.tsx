/** Results of the conformance test: each check with what was sent, what came back and what was expected. */
import { CONFORMANCE_CHECKS } from '../../sdk/wire/conformance.ts';
import type { ListingCheck } from '../../sdk/wire/procedures.ts';
import { Mark } from './mark.tsx';
import { cx, Spinner } from './ui.tsx';
import { Code, formatDuration } from './values.tsx';

/** `checks` is null if none were made yet. */
export function Checks({ checks, isRunning }: { checks: readonly ListingCheck[] | null; isRunning: boolean }) {
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
