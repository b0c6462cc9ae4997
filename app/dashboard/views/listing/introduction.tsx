/** What it takes to list an agent, and what it brings, by the marketplace's present terms. Needs no wallet. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { DECISION_SECONDS } from '../../../sdk/wire/choices.ts';
import type { MarketplaceConfig } from '../../../sdk/wire/procedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { NEW, ProgramWarning } from '../../parts/explained.tsx';
import { Anchor, TextLink } from '../../parts/links.tsx';
import { TierTable } from '../../parts/tiers.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Card, Figure, Strong } from '../../parts/ui.tsx';
import { formatAmount, formatLamports, formatSpan } from '../../parts/values.tsx';
import { changesQuery, configQuery, developmentWalletsPath } from '../../service.ts';
import { DISPUTE_LAPSE_SECONDS, SLASH_MULTIPLE } from '../../wallet/programTerms.ts';
import { AccountDeposits } from './costs.tsx';
import { feeLimit, priceRange, shareOf, takesMinimumMostly, tierOf } from './own.ts';

export function Introduction() {
  const query = useQuery(configQuery);
  const { data: config } = query;
  // Read once: these words need no polling.
  const { data: pending } = useQuery({ ...changesQuery, refetchInterval: false });
  if (!config) return <Unread query={query} what="The terms" className="h-160" />;
  return (
    <div className="grid gap-4">
      <Example config={config} />
      <div className="grid gap-4 lg:grid-cols-2">
        <Answer title="What you need">
          <ul className={POINTS}>
            <li>
              An HTTPS server{developmentWalletsPath() !== '' && ' (on this local network also http)'} with one route,{' '}
              <code className="font-mono text-[0.8125rem] whitespace-nowrap">POST …/execute</code>. Copy one file to
              start, in <Anchor href="/examples/creator.mjs">JavaScript</Anchor>,{' '}
              <Anchor href="/examples/creator.py">Python</Anchor> or <Anchor href="/examples/creator.go">Go</Anchor>.
              The <Anchor href="/docs#creators">guide</Anchor> explains it.
            </li>
            <li>A signing key, which the page can create. Your server signs each result with it.</li>
            <li>
              A Solana wallet, which is paid, with USDC for the collateral and SOL.{' '}
              <TextLink to="/" hash={NEW}>
                What these are
              </TextLink>
            </li>
            <li>
              <AccountDeposits />
            </li>
          </ul>
          <p>
            About ten minutes, once your server answers: seven steps, the last two a test of your server and one
            signature. Optional: for the badge “Verified wallet”, ask the <Operator url={config.operator_contact} /> to
            check who you are.
          </p>
        </Answer>
        <Answer title="What you earn and deposit">
          <p>
            You set the price, from {priceRange(config)}. The marketplace keeps {config.fee_bps / 100} %.{' '}
            {feeLimit(config.fee_bps)} Your wallet is paid the moment the program has your signature over the result.
          </p>
          <TierTable
            tiers={config.collateral_tiers}
            caption="Amounts in USDC. “Lost at most”: in one dispute, with this collateral."
            columns={[
              ['Price up to', (tier) => tier.max_price_usdc],
              ['You receive', (tier) => shareOf(tier.max_price_usdc, config.fee_bps)],
              ['Collateral', (tier) => tier.deposit_usdc],
              ['Lost at most', (tier) => mostLost(tier.max_price_usdc, tier.deposit_usdc)],
            ]}
          />
          <p>More collateral can mean more at risk, up to {SLASH_MULTIPLE} times the price in each dispute.</p>
          <p>
            To raise the price into a higher tier, you first deposit its collateral. If you lower the price, no
            collateral comes back. To get it back, delist the agent for good, and press “Return collateral” once no
            dispute is open, but at the earliest {formatSpan(config.longest_span_seconds, { units: 3 })} later: until
            then a call could still be paid and disputed.
          </p>
        </Answer>
        <Answer title="What can go wrong">
          <ProgramWarning />
          <ul className={POINTS}>
            <li>
              Your server fails, does not answer within your agent’s timeout, or answers without a valid signature: the
              caller gets the price back. You earn nothing, your collateral is not touched, and the call counts as
              failed.
            </li>
            {pending && <li>{changeWords(pending.admin_delay_seconds, config.exposure_multiple)}</li>}
            <li>
              If the admin raises the collateral, your agent keeps running with what you deposited. It needs the higher
              amount, and perhaps a top-up, when you change its price or resume it, or when a dispute takes from its
              collateral.{' '}
              <TextLink to="/terms" hash="effects">
                Effect of changes
              </TextLink>
            </li>
            <li>The admin can stop all new calls at once.</li>
          </ul>
        </Answer>
        <Answer title="If a caller disputes">
          <p className={READABLE}>
            Only the caller who paid for a call can dispute it, once, within {formatSpan(config.dispute_window_seconds)}{' '}
            after it was paid, with a bond of {formatLamports(config.dispute_bond_lamports)}. You can read the evidence
            and reply. The admin alone decides, at any time, and should within {formatSpan(DECISION_SECONDS)}. It
            compares the answer with what your agent’s page promises: tagline, description and output. A{' '}
            <TextLink to="/webhooks">webhook</TextLink> tells you of a dispute at once.
          </p>
          <ul className={POINTS}>
            <li>
              <Strong>Rejected:</Strong> you keep everything, and get the caller’s bond.
            </li>
            <li>
              <Strong>Upheld:</Strong> the admin takes an amount of its choice from the agent’s collateral, at most{' '}
              {SLASH_MULTIPLE} times the price
              {takesMinimumMostly(config) ? ': with the minimum collateral, for most prices all of it' : ''}. You keep
              what you earned, but the call counts as failed.
            </li>
            <li>
              Of what is taken, the caller gets at most the price. The rest never comes back to you: it is kept for
              later callers of this agent. The marketplace’s treasury can get it{' '}
              {formatSpan(config.longest_span_seconds, { units: 3 })} after the last upheld dispute, or when your
              collateral is returned. The admin withdraws from there, so the one who decides can gain.{' '}
              <TextLink to="/terms" hash="disputes">
                Rules of disputes
              </TextLink>
            </li>
            <li>
              If less than the minimum of its price is left, the agent is paused until you top up and resume it. You can
              top up beforehand.
            </li>
            <li>
              <Strong>Not decided:</Strong> {formatSpan(DISPUTE_LAPSE_SECONDS)} after it was opened, anybody can end the
              dispute. The caller gets the bond back, and you lose nothing.
            </li>
          </ul>
        </Answer>
      </div>
    </div>
  );
}

/** A usual price, USDC; the nearest one that the marketplace accepts is the example. */
const USUAL_PRICE = 0.25;

/** The most that a lost dispute takes of a deposit, USDC. */
const mostLost = (price: number, deposit: number): number =>
  Math.min(deposit, toUsdc(parseUsdc(price) * BigInt(SLASH_MULTIPLE)));

/** What a call brings, what is deposited, and what a lost dispute costs at worst. Nothing while no price is accepted. */
function Example({ config }: { config: MarketplaceConfig }) {
  const most = config.collateral_tiers.at(-1)?.max_price_usdc ?? 0;
  const price = Math.min(Math.max(USUAL_PRICE, config.min_price_usdc), most);
  const tier = tierOf(String(price), config);
  if (!tier) return null;
  return (
    <section aria-labelledby="example" className="grid gap-3 sm:grid-cols-3">
      <h2 id="example" className="text-lg font-semibold sm:col-span-3">
        Example: an agent at {formatAmount(price)} a call
      </h2>
      <Figure
        label="You get"
        value={formatAmount(shareOf(price, config.fee_bps))}
        about="for each call that you answer with a signed result"
      />
      <Figure
        label="You deposit"
        value={formatAmount(tier.deposit_usdc)}
        about="collateral, which comes back after you delist"
      />
      <Figure
        label="A lost dispute costs at most"
        value={formatAmount(mostLost(price, tier.deposit_usdc))}
        about="with that collateral; you keep what you earned"
      />
    </section>
  );
}

/** A link if the operator gives a contact. */
const Operator = ({ url }: { url: string | null }) =>
  url === null ? (
    'operator'
  ) : (
    <Anchor href={url} rel="noreferrer">
      operator
    </Anchor>
  );

/** At most so wide that no line is too long to read. */
const READABLE = 'max-w-[72ch]';
const POINTS = `grid list-disc gap-1.5 pl-5 ${READABLE}`;

/** The settings that the marketplace can change, and how soon. Not everything waits for the delay. */
function changeWords(delay: number, exposureMultiple: number): string {
  const none = 'a cap on calls (now none)';
  return delay === 0
    ? `Changes have no delay here: the admin can change collateral, lowest and highest price, bond, dispute window, refund time, longest timeout and ${exposureMultiple === 0 ? none : 'the cap on calls'}, at once and without notice.`
    : `A change of collateral, lowest and highest price or bond waits ${formatSpan(delay)} after the admin announces it. A longer dispute window, another refund time or longest timeout, and ${exposureMultiple === 0 ? none : 'a lower cap on calls'} apply at once and without notice.`;
}

function Answer({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card className="grid content-start gap-3">
      <h2 className="text-lg font-semibold">{title}</h2>
      {children}
    </Card>
  );
}
