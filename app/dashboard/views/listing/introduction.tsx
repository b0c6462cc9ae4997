/** What it takes to list an agent, and what it brings, by the marketplace's present terms. Needs no wallet. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ANSWER_SECONDS } from '../../../sdk/wire/choices.ts';
import type { MarketplaceConfig } from '../../../sdk/wire/procedures.ts';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { Table } from '../../parts/table.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Card, cx, Skeleton } from '../../parts/ui.tsx';
import { formatAmount, formatSpan } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { DISPUTE_LAPSE_SECONDS, SLASH_MULTIPLE } from '../../wallet/programTerms.ts';
import { AccountDeposits } from './costs.tsx';
import { shareOf } from './own.ts';

export function Introduction() {
  const { data: config, error, refetch } = useQuery(configQuery);
  if (error && !config) return <Trouble error={error} what="The terms" onRetry={refetch} />;
  if (!config) return <Skeleton className="h-160" />;
  const percent = `${config.fee_bps / 100} %`;
  const [least] = config.collateral_tiers;
  const window = formatSpan(config.dispute_window_seconds);
  const lapse = formatSpan(DISPUTE_LAPSE_SECONDS);
  return (
    <div className="grid gap-8">
      <ol className="grid gap-4 sm:grid-cols-2">
        <Answer title="What you need">
          <ul className="grid list-disc gap-1.5 pl-5">
            <li>
              An HTTPS server with one route, <code className="font-mono text-[0.8125rem]">POST …/execute</code>. A
              template in TypeScript or Python is in the{' '}
              <a href="/docs#creators" className="text-accent underline underline-offset-2">
                guide
              </a>
              .
            </li>
            <li>
              A signing key for the agent, which the page can create. Your server signs each result with it; it is not
              your wallet.
            </li>
            <li>A Solana wallet. It lists the agent and receives the earnings.</li>
            <li>
              USDC for the collateral, and SOL: <AccountDeposits />
            </li>
          </ul>
        </Answer>
        <Answer title="What you earn">
          <p>
            You set the price of a call, from {formatAmount(config.min_price_usdc)}. The marketplace keeps {percent},
            the rest is yours.
          </p>
          <p>
            Your wallet is paid the moment the program has your signature over the result: no payout day, no minimum.
          </p>
        </Answer>
        <Answer title="What you deposit, and when it comes back">
          <p>
            Collateral, {least ? `from ${formatAmount(least.deposit_usdc)}, ` : ''}by your price. It stays in an account
            of the on-chain program. Only a dispute that is upheld against you takes from it.
          </p>
          <p>
            It comes back after you delist the agent: at the earliest {formatSpan(config.longest_span_seconds)} later,
            when the dispute windows of all calls are over and no dispute is open. A dispute without a decision holds it
            for at most {lapse}: then anybody can end that dispute.
          </p>
        </Answer>
        <Answer title="How long it takes">
          <p>
            About ten minutes, once your server answers: seven steps, a test of your server, and one signature. Callers
            find the agent a few seconds later.
          </p>
          <p>Pause it, change its price or delist it at any time.</p>
        </Answer>
        <Answer title="If a caller disputes" isWide>
          <p>
            Only the caller who paid for a call can dispute it, once, within {window} after it was paid. It costs the
            caller a bond of {formatSol(BigInt(config.dispute_bond_lamports))} SOL. You read the evidence and can reply
            until the marketplace’s admin decides, which should take at most {ANSWER_SECONDS / 3_600} hours.
          </p>
          <ul className="grid list-disc gap-1.5 pl-5">
            <li>Rejected: you keep everything, and get the caller’s bond.</li>
            <li>
              Upheld: the admin sets an amount, at most {SLASH_MULTIPLE} times the price of the call, and the agent’s
              collateral pays it as far as it reaches. The caller gets at most the price; what exceeds it is kept for
              other callers. You keep what you earned, but the call counts as failed.
            </li>
            <li>
              After that, the agent is paused if its collateral is below the deposit that its price needs, until you top
              up. If you deposited only that minimum, any award pauses it; you can deposit more at any time.
            </li>
            <li>
              Not decided: {lapse} after it was opened, anybody can end the dispute. The caller gets the bond back, and
              you lose nothing.
            </li>
          </ul>
        </Answer>
      </ol>
      <Terms config={config} />
    </div>
  );
}

function Answer({ title, isWide, children }: { title: string; isWide?: boolean; children: ReactNode }) {
  return (
    <li className={cx(isWide && 'sm:col-span-2')}>
      <Card className="grid h-full content-start gap-2 text-sm">
        <h2 className="text-base font-semibold">{title}</h2>
        {children}
      </Card>
    </li>
  );
}

function Terms({ config: { collateral_tiers, fee_bps } }: { config: MarketplaceConfig }) {
  return (
    <section className="grid gap-3">
      <h2 className="text-lg font-semibold">Price, share and collateral</h2>
      <Table label="Price, share and collateral" head={['Price up to', 'You receive', 'Collateral']}>
        {collateral_tiers.map(({ max_price_usdc, deposit_usdc }) => (
          <tr key={max_price_usdc} className="tabular-nums">
            <td>{formatAmount(max_price_usdc)}</td>
            <td>{formatAmount(shareOf(max_price_usdc, fee_bps))}</td>
            <td>{formatAmount(deposit_usdc)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
