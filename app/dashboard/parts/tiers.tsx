/** The collateral by price, as a table. The unit is in its caption or heads, so that no amount breaks on a phone. */
import type { MarketplaceConfig } from '../../sdk/wire/procedures.ts';
import { formatNumber } from './values.tsx';

type Tier = MarketplaceConfig['collateral_tiers'][number];

interface TierTableProps {
  tiers: readonly Tier[];
  caption: string;
  /** The head of each column, and its amount in USDC. */
  columns: readonly (readonly [head: string, amount: (tier: Tier) => number])[];
}

export function TierTable({ tiers, caption, columns }: TierTableProps) {
  return (
    <table className="w-full table-fixed text-sm tabular-nums">
      <caption className="mb-1 text-left text-faint">{caption}</caption>
      <thead className="border-b border-line align-bottom text-xs text-faint">
        <tr>
          {columns.map(([head]) => (
            <th key={head} scope="col" className="py-1.5 pl-3 text-right font-medium first:pl-0 first:text-left">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="divide-y divide-line text-right">
        {tiers.map((tier) => (
          <tr key={tier.max_price_usdc}>
            {columns.map(([head, amount]) => (
              <td key={head} className="py-1.5 first:text-left">
                {formatNumber(amount(tier))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
