/** For its creator: the most that a dispute can take of the agent's collateral, and what a deposit before the decision does. */
import { useQuery } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatAmount } from '../../parts/values.tsx';
import { TopUp } from '../listing/topUp.tsx';
import { isPausedBy, mostSlashed, mostToCaller, stakesQuery } from './stakes.ts';

const usdc = (amount: bigint): string => formatAmount(toUsdc(amount));

/** Nothing until it is read. */
export function MostAtStake({ dispute }: { dispute: DisputeSummary }) {
  const { data: stakes } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  if (!stakes) return null;
  const price = parseUsdc(dispute.price_usdc);
  const most = mostSlashed(stakes, price);
  /** What the limit leaves: a decision can take as much of a deposit that is made before it. */
  const rest = price * stakes.multiple - most;
  const share = rest === 0n ? `${stakes.multiple} × the price` : 'all of it';
  const toCaller = mostToCaller(stakes, price);
  return (
    <>
      At most {usdc(most)} of the collateral can be taken ({share}); the caller gets at most {usdc(toCaller)}.
      {isPausedBy(stakes, toCaller) &&
        (stakes.required === null ? (
          ' Any award pauses the agent.'
        ) : (
          <>
            {' '}
            With less than {usdc(stakes.required)} left, the agent is paused. Add{' '}
            {usdc(stakes.required + price * stakes.multiple - stakes.left)} so that no decision pauses it:{' '}
            <TopUp agentId={dispute.agent_id} />. This dispute{' '}
            {rest === 0n ? 'cannot take it' : `can take up to ${usdc(rest)} of it`}; it comes back when you delist.
          </>
        ))}
    </>
  );
}
