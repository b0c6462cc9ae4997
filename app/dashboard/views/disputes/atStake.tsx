/** What each outcome of an open dispute means for both sides and the agent. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { Unread } from '../../parts/trouble.tsx';
import { Time } from '../../parts/values.tsx';
import { Fold } from './fold.tsx';
import { Outcomes, type Party } from './outcomes.tsx';
import { type Stakes, stakesQuery } from './stakes.ts';

interface AtStakeProps {
  dispute: DisputeSummary;
  reader: Party;
}

export function AtStake({ dispute, reader }: AtStakeProps) {
  const query = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  const outcomes = (
    <StakesFor
      query={query}
      price={dispute.price_usdc}
      reader={reader}
      lapse={
        <>
          Anybody can end it here from <Time at={dispute.lapses_at} /> on, if there is no decision by then.
        </>
      }
    />
  );
  // The creator has it below the reply.
  if (reader === 'creator') return <section aria-label="What can happen">{outcomes}</section>;
  return (
    <Fold title="What can happen" open>
      {outcomes}
    </Fold>
  );
}

interface StakesForProps {
  query: UseQueryResult<Stakes>;
  /** Price of the call, USDC. */
  price: number;
  reader: Party;
  lapse: ReactNode;
}

/** What each outcome does. */
export function StakesFor({ query, price, reader, lapse }: StakesForProps) {
  const { data: stakes } = query;
  if (!stakes) {
    const height = reader === 'caller' ? 'h-43 sm:h-33' : 'h-180';
    return <Unread query={query} what="The collateral on the chain" className={height} />;
  }
  return <Outcomes stakes={stakes} price={parseUsdc(price)} reader={reader} lapse={lapse} />;
}
