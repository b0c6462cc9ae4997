/** For its creator: what a lost dispute costs at most. */
import { useQuery } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { formatUnits } from '../../parts/values.tsx';
import { pauseGist } from './outcomes.tsx';
import { mostSlashed, stakesQuery } from './stakes.ts';

/** Nothing until it is read. */
export function MostAtStake({ dispute }: { dispute: DisputeSummary }) {
  const { data: stakes } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  if (!stakes) return null;
  const price = parseUsdc(dispute.price_usdc);
  const most = mostSlashed(stakes, price);
  const times = most === price * stakes.multiple ? ` (${stakes.multiple} times the price)` : '';
  return `If you lose: up to ${formatUnits(most)} of collateral${times}${pauseGist(stakes, price)}.`;
}
