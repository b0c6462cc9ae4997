/** The marketplace's terms for everybody: fee and limits, who can change them, and the pending changes. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { WALLET_CALL_FEES } from '../../sdk/wallet/usualAmounts.ts';
import { DECISION_SECONDS } from '../../sdk/wire/choices.ts';
import type { MarketplaceConfig } from '../../sdk/wire/procedures.ts';
import { formatShortSol } from '../parts/amount.ts';
import { DATA_WORDS, NewToThis, USDC_WORDS } from '../parts/explained.tsx';
import { OnThisPage } from '../parts/onThisPage.tsx';
import { TierTable } from '../parts/tiers.tsx';
import { Unread } from '../parts/trouble.tsx';
import { Card, Facts, PageHead, Skeleton } from '../parts/ui.tsx';
import { formatAmount, formatLamports, formatList, formatSpan } from '../parts/values.tsx';
import { changesQuery, configQuery } from '../service.ts';
import { depositsQuery } from '../wallet/deposits.ts';
import { DISPUTE_LAPSE_SECONDS, SLASH_MULTIPLE } from '../wallet/programTerms.ts';
import { useSession } from '../wallet/session.ts';
import { Fold } from './disputes/fold.tsx';
import { awardPayment, depositReturn, EXCESS, excessEnd } from './disputes/payouts.ts';
import { feeLimit, priceRange } from './listing/own.ts';
import { Changes } from './terms/changes.tsx';
import { EFFECTS, LABELS, LONGER } from './terms/effects.ts';
import { Roles } from './terms/roles.tsx';
import { Summary } from './terms/summary.tsx';

// It reads the chain, which needs large modules.
const Guardian = lazy(() => import('./terms/guardian.tsx'));

const SECTIONS = {
  calls: 'If you call',
  roles: 'Who can do what',
  disputes: 'Disputes',
  listings: 'If you list an agent',
  changes: 'Pending changes',
  effects: 'Effect of changes',
};

/** Of a deposit: its exact amount is shown where it is paid. */
const rounded = (lamports: bigint): string => formatShortSol(lamports, { up: true });

export default function View() {
  const query = useQuery(configQuery);
  const { data: config } = query;
  const { data: pending } = useQuery(changesQuery);
  const { wallet } = useSession();
  return (
    <>
      <PageHead
        title="Fees and rules"
        about={
          <>
            The prices and terms of this marketplace, who can change them, and pending changes. {USDC_WORDS}{' '}
            <NewToThis />
          </>
        }
      />
      <OnThisPage sections={SECTIONS} isRead={config !== undefined} className="-mt-2 mb-6" />
      <div className="grid gap-6">
        {config ? (
          <Summary config={config} pending={pending} />
        ) : (
          <Unread query={query} what="The settings" className="h-84" />
        )}
        {/* In pairs of about the same height; beside the disputes is the rest. */}
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[repeat(2,minmax(0,1fr))]">
          {config && (
            <>
              <Calls config={config} />
              <Roles config={config} pending={pending} />
              <Disputes config={config} />
            </>
          )}
          <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
            {config && <Listings config={config} />}
            {wallet && wallet === pending?.guardian && (
              <Suspense fallback={<Skeleton className="h-48" />}>
                <Guardian />
              </Suspense>
            )}
            <Changes />
            <Effects />
          </div>
        </div>
      </div>
    </>
  );
}

/** Settings whose changes have the same effect share a point. */
function Effects() {
  const names = Object.keys(EFFECTS) as (keyof typeof EFFECTS)[];
  return (
    <Fold id="effects" title={SECTIONS.effects} gist="On calls in progress and listed agents">
      <ul className="grid list-disc gap-1.5 pl-5 text-sm">
        {[...new Set(Object.values(EFFECTS))].map((effect) => {
          const same = names.filter((name) => EFFECTS[name] === effect);
          return (
            <li key={effect}>
              <strong className="font-medium">{formatList(same.map((name) => LABELS[name]))}:</strong> {effect}
            </li>
          );
        })}
        <li>{LONGER}</li>
      </ul>
    </Fold>
  );
}

function Calls({ config }: { config: MarketplaceConfig }) {
  const service = config.x402_service_fee_usdc;
  const { data: deposits } = useQuery(depositsQuery);
  return (
    <Card id="calls" className="grid gap-4">
      <h2 className="font-semibold">{SECTIONS.calls}</h2>
      <Facts
        rows={[
          [
            'Refund',
            `If a call fails or is late, its caller gets the whole price back. The marketplace sends the refund. If it does not, the caller or anyone else can trigger it, from ${formatSpan(config.refund_grace_seconds)} after the call’s timeout. It goes only to the caller.`,
          ],
          [
            'Network fees',
            <Lines
              key="fees"
              texts={[
                `By wallet: about ${formatLamports(WALLET_CALL_FEES)} a call, which the caller pays.`,
                keyFees(config),
              ]}
            />,
          ],
          [
            'Refundable deposit',
            <Lines
              key="deposit"
              texts={[
                deposits
                  ? `By wallet: about ${rounded(deposits.token + deposits.record)} a call. About ${rounded(deposits.token)} of it comes back when the call ends, the rest about ${formatSpan(config.record_seconds)} later, when the call’s account on the chain is closed.`
                  : `By wallet: one part comes back when the call ends, the other about ${formatSpan(config.record_seconds)} later, when the call’s account on the chain is closed.`,
                `By API key: at most ${deposits ? rounded(deposits.token) : 'one part'} a call, from the gas balance. It comes back there when the call ends. The marketplace lends the rest.${config.is_sponsored ? ' While the gas balance does not cover it, it is 0 SOL: the marketplace lends all of it.' : ''}`,
                `For the key itself: ${deposits ? `about ${rounded(deposits.grant)}` : 'a deposit'}, paid once. When the key has ended, the wallet that paid it gets it back from the key’s menu, with one signature.`,
              ]}
            />,
          ],
          ['Your data', DATA_WORDS],
          service !== null && [
            'Calls by x402',
            `x402 is a standard for programs that pay per web request. Such calls need no account and no SOL. On top of the price, the caller pays a service fee of ${formatAmount(service)}. It goes to the marketplace’s account for fees, the treasury, also if the call fails. The marketplace pays network fees and deposits.`,
          ],
        ]}
      />
    </Card>
  );
}

function Listings({ config }: { config: MarketplaceConfig }) {
  const { data: deposits } = useQuery(depositsQuery);
  return (
    <Fold
      id="listings"
      title={SECTIONS.listings}
      gist={`Fee ${config.fee_bps / 100} %, and collateral by the price`}
      open
    >
      <Facts
        rows={[
          [
            'Fee',
            `${config.fee_bps / 100} % of each price that is paid. The creator pays it, out of the price. ${feeLimit(config.fee_bps)}`,
          ],
          ['Price', priceRange(config)],
          ['Longest timeout', formatSpan(config.max_timeout_seconds)],
          [
            'Listing',
            deposits
              ? `About ${rounded(deposits.kept)}, not returned; about ${rounded(deposits.token)}, returned with the collateral`
              : 'The network’s deposits for its accounts',
          ],
          [
            'Collateral',
            `By the price, see below. It does not return automatically: from ${formatSpan(config.longest_span_seconds, { units: 3 })} after delisting, once no dispute is open, the creator can take it back with “Return collateral”.`,
          ],
          ['Change of price', 'At any time. A higher tier needs a top-up first; a lower price frees no collateral.'],
          ['Delisting', 'Permanent. Calls in progress end normally.'],
          [
            'Cap on calls',
            config.exposure_multiple === 0
              ? 'None. The admin can set one: in one dispute window an agent then takes calls for at most a set multiple of its collateral, without refunded ones. Further calls are refused until the next window.'
              : `In one dispute window an agent takes calls for at most ${config.exposure_multiple} times its collateral, without refunded ones. Further calls are refused until the next window.`,
          ],
        ]}
      />
      <TierTable
        tiers={config.collateral_tiers}
        caption="Collateral of an agent, by its price"
        columns={[
          ['Price up to, USDC', (tier) => tier.max_price_usdc],
          ['Collateral, USDC', (tier) => tier.deposit_usdc],
        ]}
      />
    </Fold>
  );
}

/** Who pays the network fees of calls by API key. */
const keyFees = ({ is_sponsored }: MarketplaceConfig): string =>
  `By API key: the gas balance, which is SOL that the wallet sets aside for its keys.${is_sponsored ? ' The marketplace pays what it does not cover, so it may stay empty.' : ''}`;

const Lines = ({ texts }: { texts: readonly string[] }) => (
  <span className="grid gap-2">
    {texts.map((text) => (
      <span key={text}>{text}</span>
    ))}
  </span>
);

function Disputes({ config }: { config: MarketplaceConfig }) {
  const { data: deposits } = useQuery(depositsQuery);
  return (
    <Fold
      id="disputes"
      title={SECTIONS.disputes}
      gist={`Within ${formatSpan(config.dispute_window_seconds)}, for a bond of ${formatLamports(config.dispute_bond_lamports)}`}
      open
    >
      <Facts
        rows={[
          ['Dispute window', `${formatSpan(config.dispute_window_seconds)} after the creator is paid`],
          ['Bond', `${formatLamports(config.dispute_bond_lamports)}, which the caller pays, held until the end`],
          [
            'Refundable deposit',
            deposits
              ? depositReturn(deposits.dispute, 'The caller’s')
              : 'The network’s deposit of an account, which the caller pays.',
          ],
          [
            'Decision',
            `The admin can decide at any time and should within ${formatSpan(DECISION_SECONDS)}, and tells both sides the reason. The decision is final.`,
          ],
          [
            'Reply',
            'The creator can read the evidence, and reply or replace the reply until the decision. If there is none, the admin is advised to wait until a day before the decision is due.',
          ],
          [
            'If upheld',
            <Lines
              key="upheld"
              texts={[
                `The admin sets the amount: at most ${SLASH_MULTIPLE} times the price, as far as the agent’s collateral reaches. The caller gets at most the price, and the bond back.`,
                awardPayment(false),
                'The call counts as failed, but its creator keeps what it earned. The agent is paused if its collateral falls below the minimum for its price.',
              ]}
            />,
          ],
          ['If more is taken', `${EXCESS} ${excessEnd(config.longest_span_seconds)}`],
          ['If rejected', 'The creator gets the bond, and the price stays paid. Nothing else changes.'],
          [
            'If undecided',
            `Anybody can end it ${formatSpan(DISPUTE_LAPSE_SECONDS)} after it was opened. The caller gets the bond back, and the price stays paid.`,
          ],
        ]}
      />
    </Fold>
  );
}
