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
  return (
    <Fold title="What can happen" open>
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
  if (!stakes) return <Unread query={query} what="The collateral on the chain" className="h-43 sm:h-33" />;
  return <Outcomes stakes={stakes} price={parseUsdc(price)} reader={reader} lapse={lapse} />;
}
