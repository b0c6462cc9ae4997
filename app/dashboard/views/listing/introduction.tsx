/** What it takes to list an agent, and what it brings, by the marketplace's present terms. Needs no wallet. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { DECISION_SECONDS, HEARING_SECONDS } from '../../../sdk/wire/choices.ts';
import type { MarketplaceConfig } from '../../../sdk/wire/procedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { NEW, ProgramWarning } from '../../parts/explained.tsx';
import { Anchor, ContactOperator, TextLink } from '../../parts/links.tsx';
import { TierTable } from '../../parts/tiers.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Card, Figure, LINK, Strong } from '../../parts/ui.tsx';
import { formatAmount, formatLamports, formatSpan } from '../../parts/values.tsx';
import { configQuery, developmentWalletsPath } from '../../service.ts';
import { DISPUTE_LAPSE_SECONDS, SLASH_MULTIPLE } from '../../wallet/programTerms.ts';
import { AccountDeposits } from './costs.tsx';
import { feeLimit, priceRange, shareOf, tierOf } from './own.ts';

export function Introduction() {
  const query = useQuery(configQuery);
  const { data: config } = query;
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
            signature. Optional: the admin checks who owns your wallet, for the badge “Verified wallet”.{' '}
            <ContactOperator className={LINK} />
          </p>
        </Answer>
        <Answer title="What you earn and deposit">
          <p>
            You set the price, from {priceRange(config)}. The marketplace keeps {config.fee_bps / 100} %.{' '}
            {feeLimit(config.fee_bps)} Your wallet is paid the moment the program has your signature over the result.
          </p>
          <p>
            The{' '}
            <TextLink to="/terms" hash="listings">
              collateral
            </TextLink>{' '}
            grows with the price. If you raise the price, you first deposit what is missing. If you lower it, no
            collateral comes back.
          </p>
          <TierTable
            tiers={config.collateral_tiers}
            caption="Minimum by price, USDC"
            columns={[
              ['Price up to', ({ max_price_usdc }) => max_price_usdc],
              ['Collateral', ({ deposit_usdc }) => deposit_usdc],
            ]}
          />
          <p>
            To get the collateral back, delist the agent for good, and press “Return collateral” at the earliest{' '}
            {formatSpan(config.longest_span_seconds, { units: 3 })} later. Until then a call could still be paid and
            disputed. An open dispute delays it, at worst until you end it {formatSpan(DISPUTE_LAPSE_SECONDS)} after it
            was opened.
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
            <li>
              The admin can stop all new calls at once, and change these terms:{' '}
              <TextLink to="/terms" hash="changes">
                what waits
              </TextLink>{' '}
              and{' '}
              <TextLink to="/terms" hash="effects">
                what it does to your agent
              </TextLink>
              .
            </li>
          </ul>
        </Answer>
        <Answer title="If a caller disputes">
          <p className={READABLE}>
            Only the caller who paid for a call can dispute it, once, within {formatSpan(config.dispute_window_seconds)}{' '}
            after it was paid, with a bond of {formatLamports(config.dispute_bond_lamports)}. A{' '}
            <TextLink to="/webhooks">webhook</TextLink> tells you at once. Reply within {formatSpan(HEARING_SECONDS)}:
            the admin alone decides, can do so earlier, and should within {formatSpan(DECISION_SECONDS)}. It compares
            the answer with what your agent’s page promises: tagline, description and output.
          </p>
          <ul className={POINTS}>
            <li>
              <Strong>Rejected:</Strong> you keep everything, and get the caller’s bond.
            </li>
            <li>
              <Strong>Upheld:</Strong> the admin takes an amount of its choice from the agent’s collateral, at most{' '}
              {SLASH_MULTIPLE} times the price. You keep what you earned, but the call counts as failed. If less than
              the minimum of collateral is left, the agent is paused until you top up and resume it: with only the
              minimum, any award does that.
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
              <Strong>Not decided:</Strong> {formatSpan(DISPUTE_LAPSE_SECONDS)} after it was opened, anybody, you too,
              can end it. The caller gets the bond back, and you lose nothing.
            </li>
          </ul>
        </Answer>
      </div>
    </div>
  );
}

/** A usual price, USDC; the nearest one that the marketplace accepts is the example. */
const USUAL_PRICE = 0.25;

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
        value={formatAmount(Math.min(tier.deposit_usdc, toUsdc(parseUsdc(price) * BigInt(SLASH_MULTIPLE))))}
        about="of the collateral; what you earned stays yours"
      />
    </section>
  );
}

/** At most so wide that no line is too long to read. */
const READABLE = 'max-w-[72ch]';
const POINTS = `grid list-disc gap-1.5 pl-5 ${READABLE}`;

function Answer({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card className="grid content-start gap-3">
      <h2 className="text-lg font-semibold">{title}</h2>
      {children}
    </Card>
  );
}
