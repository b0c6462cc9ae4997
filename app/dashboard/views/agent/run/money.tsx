/** The cost of a call and where the money goes, shown before signing. */
import { useQuery } from '@tanstack/react-query';
import { formatSol } from '../../../../sdk/wire/sol.ts';
import type { AgentFull } from '../../../../sdk/wire/wire.ts';
import { Card } from '../../../parts/ui.tsx';
import { formatAmount, formatSpan } from '../../../parts/values.tsx';
import { configQuery } from '../../../service.ts';

export function Money({ agent, seconds }: { agent: AgentFull; seconds: number }) {
  const { data: config } = useQuery(configQuery);
  const fee = config ? `, less the marketplace's ${config.fee_bps / 100} %` : '';
  return (
    <Card>
      <h2 className="text-sm text-faint">This call costs</h2>
      <p className="mt-1 text-2xl font-semibold tabular-nums">{formatAmount(agent.price_per_call_usdc)}</p>
      <ol className="mt-4 grid list-decimal gap-2 pl-4 text-sm text-faint marker:text-strong">
        <li>The price goes into an escrow on Solana.</li>
        <li>A result that the creator has signed releases it to the creator{fee}.</li>
        <li>Without one within {formatSpan(seconds)}, the whole price is refunded to you.</li>
      </ol>
      {config && (
        <p className="mt-4 border-t border-line pt-3 text-sm text-faint">
          Result wrong? You can dispute it for {formatSpan(config.dispute_window_seconds)}. That locks a refundable
          deposit and a bond of {formatSol(BigInt(config.dispute_bond_lamports))} SOL, which goes to the creator if the
          dispute is rejected.
        </p>
      )}
    </Card>
  );
}
