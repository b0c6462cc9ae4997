/** The SOL of the deployment: each wallet, what stops without it, and where the lamports are. */
import type { ReactNode } from 'react';
import type { OperationState as State } from '../../../sdk/wire/operationProcedures.ts';
import { formatShortSol } from '../../parts/amount.ts';
import { formatLamports, formatSpan, Id } from '../../parts/values.tsx';
import { useLamports } from '../../wallet/session.ts';
import type { Row } from './figures.tsx';

/** Four decimals; the exact amount on hover. */
function Sol({ lamports, up = false }: { lamports: number | null; up?: boolean }) {
  if (lamports === null) return 'Not known yet';
  return (
    <span className="tabular-nums" title={formatLamports(lamports)}>
      {formatShortSol(lamports, { up })}
    </span>
  );
}

const amount = (label: string, lamports: number | null): Row =>
  Boolean(lamports) && [label, <Sol key={label} lamports={lamports} />];

interface WalletProps {
  lamports: number | null;
  wallet: string;
  /** What it pays, and what stops without it. */
  children: ReactNode;
}

const Wallet = ({ lamports, wallet, children }: WalletProps) => (
  <span className="grid">
    <span className="flex flex-wrap items-center gap-x-3">
      <Sol lamports={lamports} />
      <Id value={wallet} kind="address" />
    </span>
    <span className="text-faint">{children}</span>
  </span>
);

/** Straight from the node: the service does not watch it. */
const OwnWallet = ({ wallet }: { wallet: string }) => (
  <Wallet lamports={useLamports(wallet) ?? null} wallet={wallet}>
    It needs SOL to sign decisions and settings.
  </Wallet>
);

export function lamportRows(
  { lamports, lamports_per_call, authorities, x402 }: State,
  wallet: string | null | undefined,
): Row[] {
  const { due, due_seconds } = lamports;
  return [
    ...authorities.map(
      (one): Row => [
        one.is_ours ? 'This relay' : 'Another relay',
        <Wallet key={one.address} lamports={one.lamports} wallet={one.address}>
          Pays network fees and lends deposits. New calls are refused before it is used up.
        </Wallet>,
      ],
    ),
    x402 !== null && [
      'Payer of calls by x402',
      <Wallet key="x402" lamports={x402.lamports} wallet={x402.fee_payer}>
        Pays their network fees.{' '}
        {x402.min_lamports > 0 && (
          <>
            Below <Sol lamports={x402.min_lamports} />, new ones are refused.
          </>
        )}
      </Wallet>,
    ],
    Boolean(wallet) && ['Your wallet', <OwnWallet key="own" wallet={wallet!} />],
    ['In deposits of calls', <Sol key="lent" lamports={lamports.lent} up />],
    ['Left for deposits', <Sol key="free" lamports={lamports.free} />],
    due > 0 && [
      'Coming back from ended calls',
      <span key="due">
        <Sol lamports={due} />
        {due_seconds !== null && `, the first in about ${formatSpan(due_seconds, { units: 1 })}`}
      </span>,
    ],
    amount('Relay’s network fees of a call, on average', lamports_per_call),
    amount('Lent for refunds that wait for their callers', lamports.unclaimed),
    amount('Network fees that nobody paid, 24 hours', lamports.burnt_today),
  ];
}
