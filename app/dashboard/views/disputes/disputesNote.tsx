/** Open disputes that wait for the reader: each in a sentence, with its button. */
import type { ReactNode } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { Note } from '../../parts/ui.tsx';

interface DisputesNoteProps {
  title: string;
  disputes: readonly DisputeSummary[];
  wordsOf(dispute: DisputeSummary): ReactNode;
  buttonOf(dispute: DisputeSummary): ReactNode;
  /** Below the list. */
  children?: ReactNode;
}

export function DisputesNote({ title, disputes, wordsOf, buttonOf, children }: DisputesNoteProps) {
  const isOne = disputes.length === 1;
  return (
    <Note tone="warn" title={isOne ? undefined : title}>
      <ul className="grid gap-3">
        {disputes.map((dispute) => (
          <li
            key={dispute.execution_id}
            className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 sm:flex-nowrap"
          >
            <div className="min-w-0">
              {/* The button of the only one stands beside the title, too. */}
              {isOne && <p className="mb-1 font-semibold text-warn">{title}</p>}
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
