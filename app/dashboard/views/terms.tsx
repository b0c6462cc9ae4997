/** The marketplace's terms for everybody: fee and limits, who can change them, and the pending changes. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { MarketplaceConfig, PendingChanges } from '../../sdk/wire/procedures.ts';
import { formatSol } from '../../sdk/wire/sol.ts';
import { Trouble } from '../parts/trouble.tsx';
import { Card, Facts, PageHead, Skeleton } from '../parts/ui.tsx';
import { formatAmount, formatSpan, Id } from '../parts/values.tsx';
import { configQuery } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import { Changes, changesQuery, guardRows } from './terms/changes.tsx';

// It reads the chain, which needs large modules.
const Guardian = lazy(() => import('./terms/guardian.tsx'));

export default function View() {
  const { data: config, error, refetch } = useQuery(configQuery);
  const { data: pending } = useQuery(changesQuery);
  const { wallet } = useSession();
  return (
    <>
      <PageHead
        title="Fees and rules"
        about="The prices and terms of this marketplace, who can change them, and pending changes."
      />
      <div className="grid gap-6">
        {!config &&
          (error ? <Trouble error={error} what="The settings" onRetry={refetch} /> : <Skeleton className="h-72" />)}
        {config && (
          <div className="grid items-start gap-6 lg:grid-cols-2">
            <Terms config={config} />
            <Roles config={config} pending={pending} />
          </div>
        )}
        {wallet && wallet === pending?.guardian && (
          <Suspense fallback={<Skeleton className="h-48" />}>
            <Guardian />
          </Suspense>
        )}
        <Changes />
      </div>
    </>
  );
}

function Terms({ config }: { config: MarketplaceConfig }) {
  return (
    <Card className="grid gap-4">
      <h2 className="font-semibold">Terms</h2>
      <Facts
        rows={[
          ['Fee', `${config.fee_bps / 100} % of each settled price`],
          ['Lowest price', formatAmount(config.min_price_usdc)],
          ['Longest timeout', formatSpan(config.max_timeout_seconds)],
          ['Dispute window', `${formatSpan(config.dispute_window_seconds)} after settlement`],
          ['Time to the archive', `${formatSpan(config.record_seconds)} after settlement`],
          ['Dispute bond', `${formatSol(BigInt(config.dispute_bond_lamports))} SOL, locked until the decision`],
          ['Disputes', 'The admin decides them. The reason is shown to both sides.'],
        ]}
      />
      <table className="w-full text-left text-sm tabular-nums">
        <caption className="mb-1 text-left text-faint">Collateral of an agent, by its price</caption>
        <thead className="border-b border-line text-xs text-faint">
          <tr>
            <th scope="col" className="py-1.5 font-medium">
              Price up to
            </th>
            <th scope="col" className="py-1.5 font-medium">
              Collateral
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {config.collateral_tiers.map(({ max_price_usdc, deposit_usdc }) => (
            <tr key={max_price_usdc}>
              <td className="py-1.5">{formatAmount(max_price_usdc)}</td>
              <td className="py-1.5">{formatAmount(deposit_usdc)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function Roles({ config, pending }: { config: MarketplaceConfig; pending: PendingChanges | undefined }) {
  const { admin, relay_authorities: relays } = config;
  return (
    <Card className="grid gap-4">
      <h2 className="font-semibold">Who can change them</h2>
      <Facts
        rows={[
          ['Admin', <Id key="admin" value={admin} kind="address" />],
          ...(pending ? guardRows(pending) : []),
          [
            'Relay authorities',
            <span key="relays" className="grid gap-1">
              {relays.map((key) => (
                <Id key={key} value={key} kind="address" />
              ))}
              {relays.length === 0 && 'none: nothing is settled'}
            </span>,
          ],
        ]}
      />
    </Card>
  );
}
