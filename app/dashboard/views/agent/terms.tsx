/** What a call of the agent costs, and what happens without a result or with a wrong one. */
import { useQuery } from '@tanstack/react-query';
import type { MarketplaceConfig } from '../../../sdk/wire/procedures.ts';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { bondWorth } from '../../parts/amount.ts';
import { DATA_WORDS, Explained, NewToThis, USDC_WORDS } from '../../parts/explained.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Facts } from '../../parts/ui.tsx';
import { formatAmount, formatLamports, formatSpan } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { besidesText, type WalletCost, walletCostQuery } from './run/cost.ts';

export function Terms({ agent }: { agent: AgentFull }) {
  const { data: config } = useQuery(configQuery);
  const { data: cost } = useQuery(walletCostQuery);
  const price = formatAmount(agent.price_per_call_usdc);
  return (
    <>
      <div className="grid gap-1 text-sm">
        <p>
          <strong className="font-semibold">{price}</strong> a call.
        </p>
        <p>Without a signed result you get the price back.</p>
        <p className="text-faint">
          {USDC_WORDS} <NewToThis />
        </p>
      </div>
      <Facts
        rows={[
          agent.status === 'active' &&
            config !== undefined && ['Ways to pay', <WaysToPay key="ways" agent={agent} config={config} cost={cost} />],
          ['Timeout', timeouts(agent)],
          ['Wrong result', config ? <DisputeWords key="disputes" agent={agent} config={config} /> : 'Reading …'],
        ]}
      />
      <Explained term="Your data" className="text-sm">
        {DATA_WORDS}
      </Explained>
    </>
  );
}

interface DisputeWordsProps {
  agent: AgentFull;
  config: MarketplaceConfig;
}

export function DisputeWords({ agent: { price_per_call_usdc: price }, config }: DisputeWordsProps) {
  const { dispute_window_seconds, dispute_bond_lamports: bond } = config;
  return (
    <>
      {`Dispute it within ${formatSpan(dispute_window_seconds)}. The marketplace’s admin decides. Upheld, you get back at most ${formatAmount(price)}. Rejected, you lose a bond of ${formatLamports(bond)}, ${bondWorth(bond, price)}. `}
      <TextLink to="/terms" hash="disputes">
        Rules of disputes
      </TextLink>
    </>
  );
}

interface WaysToPayProps {
  agent: AgentFull;
  config: MarketplaceConfig;
  cost: WalletCost | undefined;
}

/** What a call costs in all by each. */
function WaysToPay({ agent, config, cost }: WaysToPayProps) {
  const price = formatAmount(agent.price_per_call_usdc);
  const service = config.x402_service_fee_usdc;
  return (
    <ul className="grid gap-1">
      <li>
        Wallet: {price} and {besidesText(cost)}.
      </li>
      <li>
        API key: {price}
        {!config.is_sponsored && ', and network fees from your gas balance'}.
      </li>
      {service !== null && (
        <li>
          x402, for programs without an account: {formatAmount(agent.price_per_call_usdc + service)}. The service fee of{' '}
          {formatAmount(service)} in it never comes back.
        </li>
      )}
    </ul>
  );
}

function timeouts({ timeout_seconds: most, min_timeout_seconds: least }: AgentFull): string {
  return `At most ${formatSpan(most)}${least === most ? '' : `; you can choose less, from ${formatSpan(least)}`}`;
}
