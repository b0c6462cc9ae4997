/** For its creator: what a lost dispute costs at most, and what a deposit before the decision does. */
import { useQuery } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { formatUnits } from '../../parts/values.tsx';
import { TopUp } from '../listing/tabLink.tsx';
import { pauseGist } from './outcomes.tsx';
import { isPausedBy, mostSlashed, mostTaken, mostToCaller, stakesQuery } from './stakes.ts';

interface MostAtStakeProps {
  dispute: DisputeSummary;
}

/** Nothing until it is read. */
export function MostAtStake({ dispute }: MostAtStakeProps) {
  const { data: stakes } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  if (!stakes) return null;
  const price = parseUsdc(dispute.price_usdc);
  const most = mostSlashed(stakes, price);
  const times = most === price * stakes.multiple ? ` (${stakes.multiple} times the price)` : '';
  return `If you lose: up to ${formatUnits(most)} of collateral${times}${pauseGist(stakes, price)}.`;
}

/** Who gets it, and how to keep the agent active. Nothing until it is read. */
export function AfterLoss({ dispute }: MostAtStakeProps) {
  const { data: stakes } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  if (!stakes) return null;
  const price = parseUsdc(dispute.price_usdc);
  const most = mostSlashed(stakes, price);
  const { required, multiple, left } = stakes;
  const toCaller = mostToCaller(stakes, price);
  /** A decision can take as much of a deposit that is made before it. */
  const rest = price * multiple - most;
  return (
    <>
      If you lose, the caller gets at most {formatUnits(toCaller)}
      {most > toCaller && '; the rest is kept for later callers, then for the treasury, and never comes back to you'}.
      {required !== null && isPausedBy(stakes, mostTaken(stakes, price)) && (
        <>
          {' '}
          To stay active even then, top up {formatUnits(required + price * multiple - left)}: this dispute{' '}
          {rest === 0n ? 'cannot take that money' : `can take up to ${formatUnits(rest)} of that money`}.{' '}
          <TopUp agentId={dispute.agent_id} />
        </>
      )}
    </>
  );
}
