/** What each outcome of an open dispute means for both sides and the agent. Folded, because everybody reads the case first. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { Trouble } from '../../parts/trouble.tsx';
import { cx, Skeleton } from '../../parts/ui.tsx';
import { formatLamports, Time } from '../../parts/values.tsx';
import { Fold } from './fold.tsx';
import { callerGist, meanwhile, Outcomes, type Reader } from './outcomes.tsx';
import { type Stakes, stakesQuery } from './stakes.ts';

interface AtStakeProps {
  dispute: DisputeSummary;
  reader: Reader;
}

export function AtStake({ dispute, reader }: AtStakeProps) {
  const { data: stakes, error, refetch } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  const gists = {
    caller: callerGist(BigInt(dispute.bond_lamports), dispute.price_usdc),
    creator: stakes && `Rejected: you get ${formatLamports(stakes.bond)}.`,
    admin: 'for the caller, the creator and the agent',
  };
  return (
    <Fold title={reader === 'admin' ? 'What each outcome does' : 'What can happen'} gist={gists[reader]}>
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
  isNarrow: boolean;
}

/** What each outcome does, and what is so until then. */
export function StakesFor({ stakes, unread, onRetry, price, reader, lapse, isNarrow }: StakesForProps) {
  const isFolded = isNarrow && reader === 'caller';
  if (!stakes) {
    return unread ? (
      <Trouble error={unread} what="The collateral on the chain" onRetry={onRetry} />
    ) : (
      <Skeleton className={isFolded ? 'h-33 sm:h-28' : cx('h-128', !isNarrow && 'md:h-80')} />
    );
  }
  return (
    <>
      <Outcomes stakes={stakes} price={parseUsdc(price)} reader={reader} isNarrow={isNarrow} lapse={lapse} />
      {/* A caller who is about to open a dispute decides nothing by it. */}
      {!isFolded && <p className="max-w-3xl text-sm text-faint">{meanwhile(stakes, reader)}</p>}
    </>
  );
}
