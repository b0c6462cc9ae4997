/** What each outcome of an open dispute means for both sides and the agent. Folded for those who read the case first. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { Trouble } from '../../parts/trouble.tsx';
import { Skeleton } from '../../parts/ui.tsx';
import { Time } from '../../parts/values.tsx';
import { Fold } from './fold.tsx';
import { meanwhile, Outcomes, type Reader } from './outcomes.tsx';
import { type Stakes, stakesQuery } from './stakes.ts';

interface AtStakeProps {
  dispute: DisputeSummary;
  reader: Reader;
}

export function AtStake({ dispute, reader }: AtStakeProps) {
  const { data: stakes, error, refetch } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
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
        stakes={stakes}
        unread={error}
        onRetry={refetch}
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
  /** Undefined until they are read. */
  stakes: Stakes | undefined;
  unread: Error | null;
  onRetry(): void;
  /** Price of the call, USDC. */
  price: number;
  reader: Reader;
  lapse: ReactNode;
}

/** What each outcome does, and what is so until then. */
export function StakesFor({ stakes, unread, onRetry, price, reader, lapse }: StakesForProps) {
  if (!stakes) {
    return unread ? (
      <Trouble error={unread} what="The collateral on the chain" onRetry={onRetry} />
    ) : (
      <Skeleton className={reader === 'caller' ? 'h-33 sm:h-28' : 'h-128'} />
    );
  }
  return (
    <>
      <Outcomes stakes={stakes} price={parseUsdc(price)} reader={reader} lapse={lapse} />
      {/* A caller decides nothing by it. */}
      {reader !== 'caller' && <p className="text-sm text-faint">{meanwhile(stakes, reader)}</p>}
    </>
  );
}
