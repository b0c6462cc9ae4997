/** What each outcome of an open dispute means for both sides and the agent. Folded for those who read the case first. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { Unread } from '../../parts/trouble.tsx';
import { Time } from '../../parts/values.tsx';
import { Fold } from './fold.tsx';
import { meanwhile, Outcomes, type Reader } from './outcomes.tsx';
import { type Stakes, stakesQuery } from './stakes.ts';

interface AtStakeProps {
  dispute: DisputeSummary;
  reader: Reader;
}

export function AtStake({ dispute, reader }: AtStakeProps) {
  const query = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  const gists = {
    caller: null,
    creator: 'for you, the caller and the agent',
    admin: 'for the caller, the creator and the agent',
  };
  return (
    <Fold
      title={reader === 'admin' ? 'What each outcome does' : 'What can happen'}
      gist={gists[reader]}
      open={reader === 'caller'}
    >
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
  reader: Reader;
  lapse: ReactNode;
}

/** What each outcome does, and what is so until then. */
export function StakesFor({ query, price, reader, lapse }: StakesForProps) {
  const { data: stakes } = query;
  if (!stakes) {
    const height = reader === 'caller' ? 'h-43 sm:h-33' : 'h-128';
    return <Unread query={query} what="The collateral on the chain" className={height} />;
  }
  return (
    <>
      <Outcomes stakes={stakes} price={parseUsdc(price)} reader={reader} lapse={lapse} />
      {/* A caller decides nothing by it. */}
      {reader !== 'caller' && <p className="text-sm text-faint">{meanwhile(stakes, reader)}</p>}
    </>
  );
}
