/** Until when the admin should decide an open dispute, and what can be done until then or without a decision. */
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { Day, Time } from '../../parts/values.tsx';
import { Due } from '../admin/due.tsx';

interface DeadlineProps {
  dispute: DisputeSummary;
  as: 'h2' | 'p';
  /** For a creator without a reply, who must not take it for the time to reply. */
  mustReply?: boolean;
}

export function Deadline({ dispute, as: Tag, mustReply = false }: DeadlineProps) {
  return (
    <div>
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
        <Tag className={Tag === 'h2' ? 'font-semibold' : 'text-sm font-medium'}>
          The admin should decide by <Time at={dispute.answer_due_at} />
        </Tag>
        <Due dispute={dispute} />
      </div>
      <p className="mt-1 text-sm text-faint">
        {mustReply ? (
          <>
            <strong className="font-semibold text-ink">Reply now:</strong> the admin can decide at any time.
          </>
        ) : (
          <>
            Later than that it stays open and can still be decided; from <Day at={dispute.lapses_at} /> you can end it
            here.
          </>
        )}
      </p>
    </div>
  );
}
