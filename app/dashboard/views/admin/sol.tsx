/** The SOL of the deployment: each wallet, what stops without it, and where the lamports are. */
import type { ReactNode } from 'react';
import type { OperationState as State } from '../../../sdk/wire/operationProcedures.ts';
import { formatShortSol } from '../../parts/amount.ts';
import { formatLamports, formatSpan, Id } from '../../parts/values.tsx';
import { useLamports } from '../../wallet/session.ts';
import { type Row, UNKNOWN } from './figures.tsx';

/** Four decimals; the exact amount on hover. */
function Sol({ lamports, up = false }: { lamports: number | null; up?: boolean }) {
  if (lamports === null) return UNKNOWN;
  return (
    <span className="tabular-nums" title={formatLamports(lamports)}>
      {formatShortSol(lamports, { up })}
    </span>
  );
}

const amount = (label: string, lamports: number | null): Row => ({
  label,
  value: <Sol lamports={lamports} />,
  isQuiet: !lamports,
});

interface WalletProps {
  lamports: number | null;
  /** After the balance. */
  more?: string | false;
  wallet: string;
  /** What it pays, and what stops without it. */
  children: ReactNode;
}

const Wallet = ({ lamports, more, wallet, children }: WalletProps) => (
  <span className="grid">
    <span className="flex flex-wrap items-center gap-x-3">
      <span>
        <Sol lamports={lamports} />
        {more}
      </span>
      <Id value={wallet} kind="address" />
    </span>
    <span className="text-faint">{children}</span>
  </span>
);

/** Straight from the node: the service does not watch it. */
const OwnWallet = ({ wallet }: { wallet: string }) => (
  <Wallet lamports={useLamports(wallet) ?? null} wallet={wallet}>
    Signs decisions and settings. Without SOL it cannot.
  </Wallet>
);

export function lamportRows(
  { lamports, lamports_per_call, authorities, x402 }: State,
  wallet: string | null | undefined,
): (Row | false)[] {
  const { lent, free, due, due_seconds, locked } = lamports;
  const isAllFree = ({ is_ours, lamports: balance }: Authority) =>
    is_ours && balance !== null && formatShortSol(balance) === formatShortSol(free);
  const isAllDue = due === lent && due > 0;
  const first = due_seconds === null ? '' : `, the first in ${roughly(due_seconds)}`;
  return [
    ...authorities.map((one) => balanceRow(one, isAllFree(one))),
    x402 !== null && {
      label: 'Payer of calls by x402',
      value: (
        <Wallet lamports={x402.lamports} wallet={x402.fee_payer}>
          Pays their network fees.{' '}
          {x402.min_lamports > 0 && (
            <>
              Below <Sol lamports={x402.min_lamports} />, new ones are refused.
            </>
          )}
        </Wallet>
      ),
    },
    Boolean(wallet) && { label: 'Your wallet', value: <OwnWallet wallet={wallet!} /> },
    {
      label: 'In deposits of calls',
      value: (
        <span>
          <Sol lamports={lent} up />
          {isAllDue && `, all coming back${first}`}
        </span>
      ),
    },
    !authorities.some(isAllFree) && { label: 'Left for deposits', value: <Sol lamports={free} /> },
    !isAllDue && {
      label: 'Coming back from ended calls',
      value: (
        <span>
          <Sol lamports={due} />
          {first}
        </span>
      ),
      isQuiet: due === 0,
    },
    {
      label: 'Relay’s network fees of a call, on average',
      value: lamports_per_call === null ? 'None settled yet' : <Sol lamports={lamports_per_call} />,
      isQuiet: lamports_per_call === null,
    },
    amount('Lent for refunds that wait for their callers', lamports.unclaimed),
    locked !== due && amount('In accounts of ended calls', locked),
    amount('Can come back now', lamports.archivable),
    amount('Came back since the start', lamports.archived),
    amount('Network fees that nobody paid, 24 hours', lamports.burnt_today),
  ];
}

type Authority = State['authorities'][number];

const balanceRow = ({ address, lamports, is_ours }: Authority, isAllFree: boolean): Row => ({
  label: is_ours ? 'This relay' : 'Another relay',
  value: (
    <Wallet lamports={lamports} more={isAllFree && ', all free for deposits'} wallet={address}>
      Pays network fees and lends deposits. New calls are refused before it is used up.
    </Wallet>
  ),
});

/** In whole minutes, from an hour on in tens: more does not matter. */
function roughly(seconds: number): string {
  const step = seconds >= 3_600 ? 600 : seconds >= 60 ? 60 : 1;
  return `about ${formatSpan(Math.round(seconds / step) * step)}`;
}
