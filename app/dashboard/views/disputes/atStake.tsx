/** What each outcome of an open dispute means for both sides and the agent. Folded for the admin, who reads the case first. */
import { useQuery } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { Trouble } from '../../parts/trouble.tsx';
import { Card, Skeleton } from '../../parts/ui.tsx';
import { Time } from '../../parts/values.tsx';
import { Due } from '../admin/due.tsx';
import { excessEnd } from './excess.ts';
import { Fold } from './fold.tsx';
import { depositWords, meanwhile, Outcomes, type Reader } from './outcomes.tsx';
import { stakesQuery } from './stakes.ts';

interface AtStakeProps {
  dispute: DisputeSummary;
  reader: Reader;
}

export function AtStake({ dispute, reader }: AtStakeProps) {
  if (reader === 'admin') {
    return (
      <Fold title="What each outcome does" gist="for the caller, the creator and the agent">
        <Stakes dispute={dispute} reader={reader} />
      </Fold>
    );
  }
  return (
    <Card className="grid gap-4" aria-label="What is at stake">
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
        <h2 className="font-semibold">
          The admin should decide by <Time at={dispute.answer_due_at} />
        </h2>
        <Due dispute={dispute} />
      </div>
      <Stakes dispute={dispute} reader={reader} />
    </Card>
  );
}

function Stakes({ dispute, reader }: AtStakeProps) {
  const { data: stakes, error, refetch } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  if (!stakes) {
    return error ? (
      <Trouble error={error} what="The collateral on the chain" onRetry={refetch} />
    ) : (
      <Skeleton className="h-128 md:h-80" />
    );
  }
  return (
    <>
      <Outcomes
        stakes={stakes}
        price={parseUsdc(dispute.price_usdc)}
        reader={reader}
        isNarrow={reader === 'admin'}
        lapse={
          <>
            Anybody can end it here from <Time at={dispute.lapses_at} /> on, if there is no decision by then.
          </>
        }
      />
      <p className="max-w-3xl text-sm text-faint">
        {meanwhile(stakes)} {excessEnd(stakes.keptSeconds)} {reader !== 'creator' && depositWords(stakes, reader)}
      </p>
    </>
  );
}
