/** What the marketplace holds for others, beside the same on the chain, and its own. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { OperationState } from '../../../sdk/wire/operationProcedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatLamports, formatNumber, formatterOf } from '../../parts/amount.ts';
import { TextLink } from '../../parts/links.tsx';
import { Card } from '../../parts/ui.tsx';
import { Id } from '../../parts/values.tsx';
import { OPEN_SHOWN, openQueueQuery } from '../../parts/waiting.tsx';
import { configQuery } from '../../service.ts';
import { readAccounts, tokenOf } from '../../wallet/accounts.ts';
import { excessEnd } from '../disputes/payouts.ts';
import { Compare } from './compare.tsx';

/** Poll interval, ms. */
const REFRESH_MS = 30_000;

/** USDC in the treasury; undefined until it is read, null if it has no account. */
function useTreasury(address: string | undefined): number | null | undefined {
  const { data } = useQuery({
    queryKey: ['treasury', address],
    queryFn: async () => {
      const token = tokenOf((await readAccounts([address!]))[0]);
      return token && toUsdc(token.amount);
    },
    enabled: address !== undefined,
    refetchInterval: REFRESH_MS,
  });
  return data;
}

/** Of the first open disputes; undefined while it is not known. */
function useBonds(count: number): bigint | undefined {
  const { data } = useQuery({ ...openQueueQuery, enabled: count > 0 });
  if (count === 0) return 0n;
  if (data?.total !== count) return undefined;
  return data.disputes.reduce((sum, { bond_lamports }) => sum + BigInt(bond_lamports), 0n);
}

export function HeldUsdc({ state: { held, open_disputes, x402 } }: { state: OperationState }) {
  const { data: config } = useQuery(configQuery);
  const treasury = useTreasury(config?.treasury);
  const bonds = useBonds(open_disputes);
  const rows = [
    ['Escrow of calls in progress', held.escrow_usdc],
    x402 !== null && ['Payments by x402 that wait for their call, with service fees', held.deposits_usdc],
    ['Collateral, also of delisted agents until it is returned', held.collateral_usdc],
    ['Kept for later callers', held.forfeited_usdc],
    held.owed_usdc > 0 && ['Awards not yet received by their callers', held.owed_usdc],
    held.unclaimed_usdc > 0 && ['Refunds not yet received by their callers', held.unclaimed_usdc],
  ].filter((row) => row !== false) as [string, number][];
  const sum = toUsdc(rows.reduce((total, [, held]) => total + parseUsdc(held), 0n));
  const amount = formatterOf([...rows.map(([, held]) => held), sum]);
  return (
    <Card id="held" className="grid content-start gap-4">
      <h2 className="font-semibold">USDC held</h2>
      <Amounts
        title="Held for others, by the ledger"
        rows={rows.map(([label, held]) => [label, amount(held)])}
        sum={amount(sum)}
      >
        {bonds !== undefined && bonds > 0n && (
          <AmountRow
            label={`And the bonds of ${open_disputes > OPEN_SHOWN ? `the first ${OPEN_SHOWN} ` : ''}open disputes`}
          >
            {formatLamports(bonds)}
          </AmountRow>
        )}
      </Amounts>
      {held.forfeited_usdc > 0 && config && (
        <p className="text-sm text-faint">
          Kept for later callers: it pays them when the agent’s collateral cannot.{' '}
          {excessEnd(config.longest_span_seconds)} Anybody can move it then: <code>listing sweep-forfeits</code>.
        </p>
      )}
      <Compare />
      <Amounts
        title="The marketplace’s own, read from the chain"
        rows={[
          [
            <span key="treasury" className="flex flex-wrap items-center gap-x-2">
              Treasury {config && <Id value={config.treasury} kind="address" />}
            </span>,
            treasury == null ? '–' : formatNumber(treasury),
          ],
        ]}
      />
      <TextLink to="/admin" search={{ tab: 'settings' }} className="justify-self-start text-sm">
        Withdraw in Settings
      </TextLink>
    </Card>
  );
}

interface AmountsProps {
  title: string;
  rows: readonly (readonly [label: ReactNode, amount: string])[];
  sum?: string;
  /** Below the sum. */
  children?: ReactNode;
}

/** Amounts below each other, with their points aligned. */
function Amounts({ title, rows, sum, children }: AmountsProps) {
  return (
    <div>
      <h3 className="text-sm font-medium">{title}</h3>
      <dl className="mt-1 flex flex-col gap-1 text-sm">
        {rows.map(([label, amount], index) => (
          <AmountRow key={index} label={label}>
            {amount} USDC
          </AmountRow>
        ))}
        {sum && (
          <div className="mt-1 flex justify-between gap-x-4 border-t border-line pt-2 font-semibold">
            <dt>Sum of these</dt>
            <dd className="whitespace-nowrap tabular-nums">{sum} USDC</dd>
          </div>
        )}
        {children}
      </dl>
    </div>
  );
}

const AmountRow = ({ label, children }: { label: ReactNode; children: ReactNode }) => (
  <div className="flex justify-between gap-x-4">
    <dt className="text-faint">{label}</dt>
    <dd className="whitespace-nowrap tabular-nums">{children}</dd>
  </div>
);
