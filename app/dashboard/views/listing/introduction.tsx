/** What it takes to list an agent, and what it brings, by the marketplace's present terms. Needs no wallet. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { DECISION_SECONDS } from '../../../sdk/wire/choices.ts';
import { NEW } from '../../parts/explained.tsx';
import { TierTable } from '../../parts/tiers.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Card, Skeleton } from '../../parts/ui.tsx';
import { formatAmount, formatLamports, formatSpan } from '../../parts/values.tsx';
import { changesQuery, configQuery, developmentWalletsPath } from '../../service.ts';
import { DISPUTE_LAPSE_SECONDS, SLASH_MULTIPLE } from '../../wallet/programTerms.ts';
import { AccountDeposits } from './costs.tsx';
import { feeLimit, priceRange, shareOf, takesMinimumMostly } from './own.ts';

export function Introduction() {
  const { data: config, error, refetch } = useQuery(configQuery);
  // Read once: these words need no polling.
  const { data: pending } = useQuery({ ...changesQuery, refetchInterval: false });
  if (error && !config) return <Trouble error={error} what="The terms" onRetry={refetch} />;
  if (!config) return <Skeleton className="h-160" />;
  const percent = `${config.fee_bps / 100} %`;
  const [least] = config.collateral_tiers;
  const window = formatSpan(config.dispute_window_seconds);
  const lapse = formatSpan(DISPUTE_LAPSE_SECONDS);
  return (
    <div className="grid gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        {/* The cards of each column together have about the same height. */}
        <div className={COLUMN}>
          <Answer title="What you need">
            <ul className="grid list-disc gap-1.5 pl-5">
              <li>
                An HTTPS server{developmentWalletsPath() !== '' && ' (on this local network also http)'} with one route,{' '}
                <code className="font-mono text-[0.8125rem]">POST …/execute</code>. Start from one file, in{' '}
                <a href="/examples/creator.py" className={LINK}>
                  Python
                </a>{' '}
                or{' '}
                <a href="/examples/creator.go" className={LINK}>
                  Go
                </a>
                . Or use the kit for TypeScript or Python. It is in the source of this project, which the{' '}
                <Operator url={config.operator_contact} /> gives you; one command there creates a server. The{' '}
                <a href="/docs#creators" className={LINK}>
                  guide
                </a>{' '}
                explains both.
              </li>
              <li>
                A signing key for the agent, which the page can create. Your server signs each result with it; it is not
                your wallet.
              </li>
              <li>A Solana wallet. It lists the agent and receives the earnings.</li>
              <li>USDC for the collateral.</li>
              <li>
                <AccountDeposits />
              </li>
              <li>
                Optional: the badge “Verified wallet”. The admin gives it after checking who owns your wallet, and can
                remove it; ask the <Operator url={config.operator_contact} />.
              </li>
            </ul>
            <p>
              New to this?{' '}
              <Link to="/" hash={NEW} className={LINK}>
                What is USDC? What is a wallet?
              </Link>
            </p>
          </Answer>
          <Answer title="What you deposit, and when it comes back">
            <p>
              Collateral, {least ? `from ${formatAmount(least.deposit_usdc)}, ` : ''}by your price. It stays in an
              account of the on-chain program. By the program’s rules, only a dispute that is upheld against you takes
              from it.
            </p>
            <p>
              You take it back in two steps: delist the agent, and later press “Return collateral”. That is possible{' '}
              {formatSpan(config.longest_span_seconds, { units: 3 })} after delisting at the earliest, once no dispute
              is open. This covers the last call: its timeout, the time for a refund and its dispute window, each at its
              longest. A dispute without a decision holds the collateral for at most {lapse}: then anybody can end that
              dispute.
            </p>
          </Answer>
        </div>
        <div className={COLUMN}>
          <Answer title="What you earn">
            <p>
              You set the price of a call, from {priceRange(config)}. The marketplace keeps {percent}, the rest is
              yours. {feeLimit(config.fee_bps)}
            </p>
            <p>
              Your wallet is paid the moment the program has your signature over the result: no payout day, no minimum.
            </p>
            <TierTable
              tiers={config.collateral_tiers}
              caption="Amounts in USDC"
              columns={[
                ['Price up to', (tier) => tier.max_price_usdc],
                ['You receive at that price', (tier) => shareOf(tier.max_price_usdc, config.fee_bps)],
                ['Collateral', (tier) => tier.deposit_usdc],
              ]}
            />
          </Answer>
          <Answer title="How long it takes">
            <p>
              About ten minutes, once your server answers: seven steps; the last two are a test of your server and one
              signature. Callers find the agent a few seconds later.
            </p>
            <p>
              Pause it or change its price at any time. A price in a higher tier needs the collateral of that tier
              first; a lower price frees none. Delisting is permanent: to offer the agent again, you list a new one.
            </p>
          </Answer>
        </div>
      </div>
      <Answer title="What can go wrong">
        <ul className={POINTS}>
          <li>
            Your server fails, is late or answers without a valid signature: the caller gets the price back. You earn
            nothing, your collateral is not touched, and the call counts as failed.
          </li>
          <li>
            A caller disputes: the marketplace’s admin alone decides, and the decision is final. One upheld dispute can
            take up to {SLASH_MULTIPLE} times the price
            {takesMinimumMostly(config) ? ': with the minimum collateral, for most prices all of it' : ''}.
          </li>
          <li>
            {pending && changeWords(pending.admin_delay_seconds, config.exposure_multiple)} Higher collateral counts for
            a listed agent when you change its price or resume it, and when a dispute takes from its collateral: you may
            then have to top up. <TermsLink hash="effects">Effect of changes</TermsLink>
          </li>
          <li>
            The holder of the upgrade authority can replace the program, and so change every rule and take collateral.
            The admin can stop new calls. <TermsLink hash="roles">Who can do what</TermsLink>
          </li>
        </ul>
      </Answer>
      <Answer title="If a caller disputes">
        <p>
          Only the caller who paid for a call can dispute it, once, within {window} after it was paid. It costs the
          caller a bond of {formatLamports(BigInt(config.dispute_bond_lamports))}. You can read the evidence and reply.
          The admin can decide at any time, and should within {formatSpan(DECISION_SECONDS)}, so reply soon.
        </p>
        <p>
          An open dispute is shown under “Your agents” when you connect. A{' '}
          <Link to="/webhooks" className={LINK}>
            webhook
          </Link>{' '}
          tells your server at once.
        </p>
        <ul className={POINTS}>
          <li>Rejected: you keep everything, and get the caller’s bond.</li>
          <li>
            Upheld: the admin sets an amount, at most {SLASH_MULTIPLE} times the price of the call, and the agent’s
            collateral pays it as far as it reaches. You keep what you earned, but the call counts as failed.
          </li>
          <li>
            Of what is taken, the caller gets at most the price. You do not get the rest back: it is kept for callers of
            this agent whose later disputes its collateral cannot pay, and then goes to the marketplace’s treasury.{' '}
            <TermsLink hash="disputes">When</TermsLink>
          </li>
          <li>
            If a dispute takes collateral and less than the minimum of its price is left, the agent is paused until you
            top up and resume it. If it holds only that minimum, any award pauses it; you can top up beforehand.
          </li>
          <li>
            Not decided: {lapse} after it was opened, anybody can end the dispute. The caller gets the bond back, and
            you lose nothing.
          </li>
        </ul>
      </Answer>
    </div>
  );
}

const LINK = 'text-accent underline underline-offset-2';

const TermsLink = ({ hash, children }: { hash: string; children: string }) => (
  <Link to="/terms" hash={hash} className={LINK}>
    {children}
  </Link>
);

/** A link if the operator gives a contact. */
const Operator = ({ url }: { url: string | null }) =>
  url === null ? (
    'operator'
  ) : (
    <a href={url} rel="noreferrer" className={LINK}>
      operator
    </a>
  );

/** Cards below each other; the last one fills the column. */
const COLUMN = 'grid gap-4 grid-rows-[auto_1fr]';

/** Points in two columns, so that no line is too long to read. */
const POINTS = 'list-disc columns-1 gap-x-10 pl-5 *:mb-1.5 *:break-inside-avoid sm:columns-2';

/** The settings that the marketplace can change, and how soon. Not everything waits for the delay. */
function changeWords(delay: number, exposureMultiple: number): string {
  const cap = exposureMultiple === 0 ? 'a cap on calls (now none)' : 'the cap on calls';
  return delay === 0
    ? `The marketplace can change collateral, price limits, bond, dispute window, refund time, longest timeout and ${cap}, at once and without notice.`
    : `The marketplace can change collateral, price limits and bond ${formatSpan(delay)} after it announces that. It can lengthen dispute window and refund time, change the longest timeout and lower ${cap} at once and without notice.`;
}

function Answer({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card className="grid content-start gap-2 text-sm">
      <h2 className="text-base font-semibold">{title}</h2>
      {children}
    </Card>
  );
}
