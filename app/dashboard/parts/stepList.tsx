/** What happens to something, step by step, one below the other: a call that runs, or the history of one. */
import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';
import { cx, Spinner } from './ui.tsx';
import { Time } from './values.tsx';

export type StepState = 'waiting' | 'active' | 'done' | 'failed';

export interface Step {
  name: string;
  /** ISO 8601. */
  at?: string | null;
  about?: ReactNode;
  state: StepState;
  /** Of its mark once it is done; `good` without one. */
  tone?: 'good' | 'warn' | 'plain';
}

const SPOKEN: Record<StepState, string> = {
  waiting: 'to come',
  active: 'in progress',
  done: 'done',
  failed: 'failed',
};

/** `isLive`: each change is read aloud. */
export function StepList({ steps, isLive = false }: { steps: readonly Step[]; isLive?: boolean }) {
  return (
    <ol aria-live={isLive ? 'polite' : undefined}>
      {steps.map(({ name, at, about, state, tone }, index) => (
        <li key={name} className="grid grid-cols-[1.5rem_1fr] gap-x-3">
          <div className="flex flex-col items-center">
            <Mark state={state} tone={tone} />
            {index < steps.length - 1 && <span className={cx('w-px flex-1', lineTo(steps[index + 1]!))} />}
          </div>
          <div className={cx('pb-4 text-sm', isLive && 'min-h-16', state === 'waiting' && 'text-faint')}>
            <p className="font-medium">
              <span>{name}</span>
              <span className="sr-only">: {SPOKEN[state]}</span>
            </p>
            {at && (
              <p className="mt-0.5 text-faint tabular-nums">
                <Time at={at} hasSeconds />
              </p>
            )}
            {about && <div className="mt-0.5 text-faint">{about}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** The number of a step, in a circle. */
export const NumberMark = ({ number }: { number: number }) => (
  <span
    aria-hidden="true"
    className="grid size-7 shrink-0 place-items-center rounded-full bg-accent-soft text-sm font-semibold text-accent"
  >
    {number}
  </span>
);

/** The line to a step has the colour of its mark, once that has one. */
function lineTo({ state, tone = 'good' }: Step): string {
  if (state === 'failed') return 'bg-bad';
  return state === 'done' ? TONES[tone] : 'bg-line';
}

const TONES = { good: 'bg-good', warn: 'bg-warn', plain: 'bg-strong' };

function Mark({ state, tone = 'good' }: Pick<Step, 'state'> & { tone: Step['tone'] | undefined }) {
  if (state === 'active') return <Spinner />;
  const look = { waiting: 'border border-strong', done: TONES[tone], failed: 'bg-bad' }[state];
  return (
    <span
      aria-hidden="true"
      className={cx('mt-0.5 grid size-4 shrink-0 place-items-center rounded-full text-raised', look)}
    >
      {state !== 'waiting' && (
        <Icon size="size-3" strokeWidth="2.5" strokeLinejoin="miter">
          <path d={state === 'done' ? 'm3.5 8.5 3 2.8L12.5 5' : 'm4.5 4.5 7 7m0-7-7 7'} />
        </Icon>
      )}
    </span>
  );
}
