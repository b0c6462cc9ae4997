/** For its creator: what a lost dispute costs at most. */
import { useQuery } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { formatUnits } from '../../parts/values.tsx';
import { pauseGist } from './outcomes.tsx';
import { mostSlashed, mostToCaller, stakesQuery } from './stakes.ts';

/** Nothing until it is read. */
export function MostAtStake({ dispute }: { dispute: DisputeSummary }) {
  const { data: stakes } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  if (!stakes) return null;
  const price = parseUsdc(dispute.price_usdc);
  const most = mostSlashed(stakes, price);
  const toCaller = mostToCaller(stakes, price);
  const facts = [
    most === price * stakes.multiple && `${stakes.multiple} times the price`,
    most > toCaller && `at most ${formatUnits(toCaller)} of it for the caller`,
  ].filter(Boolean);
  const inBrackets = facts.length > 0 ? ` (${facts.join(', ')})` : '';
  return `If you lose: up to ${formatUnits(most)} of collateral${inBrackets}${pauseGist(stakes, price)}.`;
}
