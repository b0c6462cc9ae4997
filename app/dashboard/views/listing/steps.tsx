/** The current step, and which steps are complete. On a phone: "Step 2 of 7: Schemas" above a row of bars. */
import { useState } from 'react';
import { ActDialog } from '../../parts/act.tsx';
import { Button, cx, Note } from '../../parts/ui.tsx';

interface StepsProps {
  titles: readonly string[];
  current: number;
  isDone(index: number): boolean;
  isLeft(index: number): boolean;
  onGo(index: number): void;
}

export function Steps({ titles, current, isDone, isLeft, onGo }: StepsProps) {
  return (
    <nav aria-label="Steps" className="lg:sticky lg:top-24">
      <p className="mb-2 text-sm text-faint lg:hidden">
        Step {current + 1} of {titles.length}: {titles[current]}
      </p>
      <ol className="flex gap-1.5 lg:grid lg:gap-1">
        {titles.map((title, index) => {
          const isHere = index === current;
          const state = isDone(index) ? 'done' : isLeft(index) ? 'not complete' : 'open';
          return (
            <li key={title} className="max-lg:flex-1">
              <button
                type="button"
                aria-current={isHere ? 'step' : undefined}
                onClick={() => onGo(index)}
                className={cx(
                  'flex w-full items-center gap-3 rounded-lg text-left text-sm lg:min-h-10 lg:px-2.5',
                  'max-lg:h-8 max-lg:items-center',
                  isHere ? 'font-medium lg:bg-sunken' : 'text-faint hover:text-ink',
                )}
              >
                <span
                  aria-hidden="true"
                  className={cx(
                    'grid shrink-0 place-items-center text-xs tabular-nums max-lg:w-full max-lg:rounded-full',
                    'lg:size-6 lg:rounded-full',
                    state === 'done'
                      ? 'bg-fill text-white'
                      : state === 'not complete'
                        ? 'bg-warn-soft text-warn max-lg:bg-warn'
                        : isHere
                          ? 'bg-accent-soft text-accent max-lg:bg-accent'
                          : 'bg-sunken max-lg:bg-line',
                    isHere ? 'max-lg:h-3' : 'max-lg:h-1.5',
                  )}
                >
                  <span className="max-lg:hidden">{state === 'done' ? '✓' : index + 1}</span>
                </span>
                <span className="max-lg:sr-only">{title}</span>
                {state !== 'open' && <span className="sr-only">, {state}</span>}
              </button>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

export interface OpenStep {
  title: string;
  go(): void;
}

/** Links to the incomplete steps. */
export function OpenSteps({ title, steps }: { title: string; steps: readonly OpenStep[] }) {
  return (
    <Note tone="warn" title={title}>
      <ul className="mt-2 flex flex-wrap gap-2 text-ink">
        {steps.map((step) => (
          <li key={step.title}>
            <Button small onClick={step.go}>
              {step.title}
            </Button>
          </li>
        ))}
      </ul>
    </Note>
  );
}

export function StartOver({ onConfirm }: { onConfirm(): void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        Start over
      </Button>
      {isOpen && (
        <ActDialog
          title="Start over?"
          about="The draft is deleted. Agents that are already listed do not change."
          confirm="Delete the draft"
          danger
          cancel="Keep the draft"
          failed="It was not deleted"
          work={async () => onConfirm()}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
