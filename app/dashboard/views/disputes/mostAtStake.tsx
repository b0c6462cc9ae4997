/** For its creator: the most of an agent's collateral that a dispute can take. */
import { useQuery } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatAmount } from '../../parts/values.tsx';
import { TopUp } from '../listing/topUp.tsx';
import { isPausedBy, mostSlashed, stakesQuery } from './stakes.ts';

interface MostAtStakeProps {
  dispute: DisputeSummary;
  /** False beside the words "At stake". */
  isNamed?: boolean;
}

/** Nothing until it is read. */
export function MostAtStake({ dispute, isNamed = true }: MostAtStakeProps) {
  const { data: stakes } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  if (!stakes) return null;
  const most = mostSlashed(stakes, parseUsdc(dispute.price_usdc));
  const amount = formatAmount(toUsdc(most));
  const isAll = most > 0n && most === stakes.left;
  const share = isAll ? `All of the agent’s collateral, ${amount},` : `Up to ${amount} of the agent’s collateral`;
  const words = isNamed ? `${share} is at stake` : share.replace(/,$/, '');
  if (!isPausedBy(stakes, 1n)) return `${words}.`;
  return (
    <>
      {words}
      {isNamed ? ', and any' : '. Any'} award pauses the agent.
      {stakes.required !== null && (
        <>
          {' '}
          <TopUp agentId={dispute.agent_id} />.
        </>
      )}
    </>
  );
}
