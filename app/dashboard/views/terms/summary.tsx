/** The rules in short: the cost of a call, the fee, the outcomes of a dispute, and what can change. */
import { useQuery } from '@tanstack/react-query';
import { WALLET_CALL_FEES } from '../../../sdk/wallet/usualAmounts.ts';
import type { MarketplaceConfig, PendingChanges } from '../../../sdk/wire/procedures.ts';
import { formatShortSol } from '../../parts/amount.ts';
import { Card, Facts, Strong } from '../../parts/ui.tsx';
import { formatLamports } from '../../parts/values.tsx';
import { depositsQuery } from '../../wallet/deposits.ts';
import { SLASH_MULTIPLE } from '../../wallet/programTerms.ts';
import { delayWords } from './changes.tsx';

interface SummaryProps {
  config: MarketplaceConfig;
  pending: PendingChanges | undefined;
}

export function Summary({ config, pending }: SummaryProps) {
  const { data: deposits } = useQuery(depositsQuery);
  const bond = formatLamports(config.dispute_bond_lamports);
  return (
    <Card aria-label="In short" className="[&_dl]:text-base">
      <Facts
        rows={[
          [
            'A call costs',
            `Its price. By wallet also about ${formatLamports(WALLET_CALL_FEES)} of network fees, and a deposit${deposits ? ` of about ${formatShortSol(deposits.token + deposits.record, { up: true })}` : ' in SOL'}, which comes back. Without a signed result the price comes back.`,
          ],
          [
            'A creator pays',
            <span key="fee">
              <Strong>{config.fee_bps / 100} %</Strong> of each paid price, to the marketplace.
            </span>,
          ],
          [
            'A rejected dispute',
            <span key="rejected">
              Costs its caller the bond of <Strong>{bond}</Strong>, which can be worth more than the call.
            </span>,
          ],
          [
            'An upheld dispute',
            <span key="upheld">
              Pays its caller <Strong>at most the price</Strong>, from the creator’s collateral. The admin can take up
              to {SLASH_MULTIPLE} times the price: the rest is kept for later upheld disputes against the agent, and can
              then go to the marketplace.
            </span>,
          ],
          ['What can change', pending ? delayWords(pending.admin_delay_seconds) : '…'],
        ]}
      />
    </Card>
  );
}
