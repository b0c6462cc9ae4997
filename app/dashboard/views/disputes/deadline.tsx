/** Until when the admin should decide an open dispute, and what can be done until then or without a decision. */
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { Day, Time } from '../../parts/values.tsx';
import { Due, DueWords } from '../admin/due.tsx';
import type { Reader } from './outcomes.tsx';

interface DeadlineProps {
  dispute: DisputeSummary;
  as: 'h2' | 'p';
  reader: Reader;
}

export function Deadline({ dispute, as: Tag, reader }: DeadlineProps) {
  const isCreator = reader === 'creator';
  const mustReply = isCreator && dispute.reply === null;
  const due = (
    <>
      The admin should decide by <Time at={dispute.answer_due_at} />
      {isCreator && (
        <>
          , <DueWords dispute={dispute} />
        </>
      )}
    </>
  );
  return (
    <div>
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-2">
        <Tag className={Tag === 'h2' ? 'font-semibold' : 'text-sm font-medium'}>
          {mustReply ? 'Reply now: the decision can come at any time' : due}
        </Tag>
        {/* A creator would take it for the time to reply. */}
        {!isCreator && <Due dispute={dispute} />}
      </div>
      <p className="mt-2 text-sm text-faint">
        {mustReply ? (
          <>{due}.</>
        ) : (
          <>
            Later than that it stays open and can still be decided; from <Day at={dispute.lapses_at} />{' '}
            {isCreator
              ? 'anybody can end it here'
              : 'you can end it here: you get the bond back, and the price stays paid'}
            .
          </>
        )}
      </p>
    </div>
  );
}
