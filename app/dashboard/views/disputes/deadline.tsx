/** Until when the admin should decide an open dispute, and what can be done until then or without a decision. */
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { useChainClock } from '../../parts/chainClock.ts';
import { Strong } from '../../parts/ui.tsx';
import { Day, formatCounted, Time } from '../../parts/values.tsx';
import { Due, DueWords, useWaitUntil } from '../admin/due.tsx';
import type { Reader } from './outcomes.tsx';

interface DeadlineProps {
  dispute: DisputeSummary;
  as: 'h2' | 'p';
  reader: Reader;
}

export function Deadline({ dispute, as: Tag, reader }: DeadlineProps) {
  const isCreator = reader === 'creator';
  const mustReply = isCreator && dispute.reply === null;
  const until = useWaitUntil(dispute);
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
          {!mustReply ? (
            due
          ) : until === null ? (
            'Reply now: the decision can come at any time'
          ) : (
            <>
              Reply by <Time at={until} />
            </>
          )}
        </Tag>
        {/* A creator would take it for the time to reply. */}
        {!isCreator && <Due dispute={dispute} />}
      </div>
      <p className="mt-2 text-sm text-faint">
        {mustReply ? (
          until === null ? (
            <>{due}.</>
          ) : (
            <>
              <TimeLeft until={until} /> left. The admin is advised to wait that long for you, can decide earlier, and
              should by <Time at={dispute.answer_due_at} />.
            </>
          )
        ) : isCreator ? (
          'Later than that it stays open and can still be decided.'
        ) : (
          <>
            Later than that it stays open and can still be decided; from <Day at={dispute.lapses_at} /> you can end it
            here: you get the bond back, and the price stays paid.
          </>
        )}
        {isCreator && (
          <>
            {' '}
            If nobody decides, anybody, you too, can end it here from <Day at={dispute.lapses_at} /> on, and you lose
            nothing. Until then the collateral cannot be returned.
          </>
        )}
      </p>
    </div>
  );
}

/** In hours, so that its length stays the same. */
function TimeLeft({ until }: { until: string }) {
  const now = useChainClock(true) ?? Date.now();
  return formatCounted(Math.ceil((Date.parse(until) - now) / 3_600_000), 'hour');
}

/** For the creator, before what is at stake: until when to reply. */
export function ReplyWords({ dispute }: { dispute: DisputeSummary }) {
  const until = useWaitUntil(dispute);
  if (dispute.reply !== null) return 'You have replied; the decision can come at any time.';
  if (until === null)
    return (
      <>
        <Strong>Reply now</Strong>; the decision can come at any time.
      </>
    );
  return (
    <>
      <Strong>
        Reply by <Time at={until} />
      </Strong>
      ; the decision can come earlier.
    </>
  );
}
