/** The most of an agent's collateral that a dispute can take. */
import { useQuery } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatAmount } from '../../parts/values.tsx';
import { isPausedBy, mostSlashed, stakesQuery } from './stakes.ts';

/** Nothing until it is read. */
export function MostAtStake({ dispute, whose }: { dispute: DisputeSummary; whose: string }) {
  const { data: stakes } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  if (!stakes) return null;
  const most = mostSlashed(stakes, parseUsdc(dispute.price_usdc));
  const amount = formatAmount(toUsdc(most));
  const share =
    most > 0n && most === stakes.left
      ? `All of ${whose} collateral, ${amount}, is`
      : `Up to ${amount} of ${whose} collateral is`;
  return `${share} at stake${isPausedBy(stakes, 1n) ? ', and any award pauses the agent' : ''}.`;
}
