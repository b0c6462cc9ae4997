/** The most of an agent's collateral that a dispute can take. */
import { useQuery } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatAmount } from '../../parts/values.tsx';
import { mostSlashed, stakesQuery } from './stakes.ts';

/** Nothing until it is read. */
export function MostAtStake({ dispute, whose }: { dispute: DisputeSummary; whose: string }) {
  const { data: stakes } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  return (
    stakes &&
    `Up to ${formatAmount(toUsdc(mostSlashed(stakes, parseUsdc(dispute.price_usdc))))} of ${whose} collateral is at stake.`
  );
}
