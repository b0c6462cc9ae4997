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
  return (
    <Note tone="warn" title={title}>
      <ul className="grid gap-3">
        {disputes.map((dispute) => (
          <li
            key={dispute.execution_id}
            className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 sm:flex-nowrap"
          >
            <p className="min-w-0">{wordsOf(dispute)}</p>
            {buttonOf(dispute)}
          </li>
        ))}
      </ul>
      {children}
    </Note>
  );
}
