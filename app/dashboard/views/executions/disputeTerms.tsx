/** What a dispute costs and brings its caller, before it is opened. */
import { useQuery } from '@tanstack/react-query';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { Skeleton } from '../../parts/ui.tsx';
import { formatAmount, formatSpan } from '../../parts/values.tsx';
import { mostToCaller, stakesQuery } from '../disputes/stakes.ts';

/** `price`: of the call, base units. Empty if the terms cannot be read. */
export function DisputeTerms({ agentId, price }: { agentId: string; price: bigint }) {
  const { data: stakes, error } = useQuery(stakesQuery(agentId, null));
  if (!stakes) return !error && <Skeleton className="mt-1 h-20" />;
  return (
    <>
      You pay a bond of {formatSol(stakes.bond)} SOL, which you lose if the dispute is rejected, and a deposit of{' '}
      {formatSol(stakes.deposit)} SOL, which comes back {formatSpan(stakes.depositSeconds)} after it ends. If it is
      upheld, you get up to {formatAmount(toUsdc(mostToCaller(stakes, price)))} from the creator's collateral, and the
      bond back.
    </>
  );
}
