/** Open disputes, each in a sentence, with its button: those that wait for the reader, or `isCalm`. */
import type { ReactNode } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { cx, Note } from '../../parts/ui.tsx';

interface DisputesNoteProps {
  title: ReactNode;
  isCalm?: boolean;
  disputes: readonly DisputeSummary[];
  wordsOf(dispute: DisputeSummary): ReactNode;
  buttonOf(dispute: DisputeSummary): ReactNode;
  /** Below the list. */
  children?: ReactNode;
}

export function DisputesNote({ title, isCalm = false, disputes, wordsOf, buttonOf, children }: DisputesNoteProps) {
  const isOne = disputes.length === 1;
  return (
    <Note tone={isCalm ? 'plain' : 'warn'} title={isOne ? undefined : title}>
      <ul className="grid gap-3">
        {disputes.map((dispute) => (
          <li
            key={dispute.execution_id}
            className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 sm:flex-nowrap"
          >
            <div className="min-w-0">
              {/* The button of the only one stands beside the title, too. */}
              {isOne && <p className={cx('mb-1 font-semibold', isCalm ? 'text-ink' : 'text-warn')}>{title}</p>}
              <p>{wordsOf(dispute)}</p>
            </div>
            {buttonOf(dispute)}
          </li>
        ))}
      </ul>
      {children}
    </Note>
  );
}
