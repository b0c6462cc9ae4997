/** What each outcome of an open dispute means for both sides and the agent. Folded for the admin, who reads the case first. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { Trouble } from '../../parts/trouble.tsx';
import { Card, cx, Skeleton } from '../../parts/ui.tsx';
import { Time } from '../../parts/values.tsx';
import { Deadline } from './deadline.tsx';
import { Fold } from './fold.tsx';
import { meanwhile, Outcomes, type Reader } from './outcomes.tsx';
import { type Stakes, stakesQuery } from './stakes.ts';

interface AtStakeProps {
  dispute: DisputeSummary;
  reader: Reader;
}

export function AtStake({ dispute, reader }: AtStakeProps) {
  if (reader === 'admin') {
    return (
      <Fold title="What each outcome does" gist="for the caller, the creator and the agent">
        <OfDispute dispute={dispute} reader={reader} />
      </Fold>
    );
  }
  return (
    <Card className="grid gap-4" aria-label="What is at stake">
      <Deadline dispute={dispute} as="h2" />
      <OfDispute dispute={dispute} reader={reader} />
    </Card>
  );
}

function OfDispute({ dispute, reader }: AtStakeProps) {
  const { data: stakes, error, refetch } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  return (
    <StakesFor
      stakes={stakes}
      unread={error}
      onRetry={refetch}
      price={dispute.price_usdc}
      reader={reader}
      isNarrow={reader === 'admin'}
      lapse={
        <>
          Anybody can end it here from <Time at={dispute.lapses_at} /> on, if there is no decision by then.
        </>
      }
    />
  );
}

interface StakesForProps {
  /** Undefined until they are read. */
  stakes: Stakes | undefined;
  unread: Error | null;
  onRetry(): void;
  /** Price of the call, USDC. */
  price: number;
  reader: Reader;
  lapse: ReactNode;
  isNarrow: boolean;
}

/** What each outcome does, and what is so until then. */
export function StakesFor({ stakes, unread, onRetry, price, reader, lapse, isNarrow }: StakesForProps) {
  if (!stakes) {
    return unread ? (
      <Trouble error={unread} what="The collateral on the chain" onRetry={onRetry} />
    ) : (
      <Skeleton className={cx('h-128', !isNarrow && 'md:h-80')} />
    );
  }
  return (
    <>
      <Outcomes stakes={stakes} price={parseUsdc(price)} reader={reader} isNarrow={isNarrow} lapse={lapse} />
      <p className="max-w-3xl text-sm text-faint">{meanwhile(stakes, reader)}</p>
    </>
  );
}
