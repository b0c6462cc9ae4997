/** What the marketplace's program holds, by its purpose: USDC, and the bonds of open disputes. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { OperationState } from '../../../sdk/wire/operationProcedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatLamports, formatNumber, formatterOf } from '../../parts/amount.ts';
import { TextLink } from '../../parts/links.tsx';
import { Card } from '../../parts/ui.tsx';
import { Code, Id } from '../../parts/values.tsx';
import { OPEN_SHOWN, openQueueQuery } from '../../parts/waiting.tsx';
import { configQuery } from '../../service.ts';
import { readAccounts, tokenOf } from '../../wallet/accounts.ts';

/** The first compares the escrows, the second every row of the index, with its account. Both only read. */
const COMPARE = 'npm run relay -- reconcile\nnpm run indexer -- verify';

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

export function HeldUsdc({ state: { held, open_disputes } }: { state: OperationState }) {
  const { data: config } = useQuery(configQuery);
  const treasury = useTreasury(config?.treasury);
  const bonds = useBonds(open_disputes);
  const rows = [
    ['Escrow of calls in progress', held.escrow_usdc],
    ['Collateral, also of delisted agents until it is returned', held.collateral_usdc],
    ['Kept for later callers', held.forfeited_usdc],
    held.owed_usdc > 0 && ['Awards not yet received by their callers', held.owed_usdc],
    held.unclaimed_usdc > 0 && ['Refunds not yet received by their callers', held.unclaimed_usdc],
  ].filter((row) => row !== false) as [string, number][];
  const sum = toUsdc(rows.reduce((total, [, held]) => total + parseUsdc(held), 0n));
  const amount = formatterOf([...rows.map(([, held]) => held), sum]);
  return (
    <Card className="grid content-start gap-4">
      <h2 className="font-semibold">USDC held</h2>
      <Amounts title="Held for others" rows={rows.map(([label, held]) => [label, amount(held)])} sum={amount(sum)}>
        {bonds !== undefined && bonds > 0n && (
          <AmountRow
            label={`And the bonds of ${open_disputes > OPEN_SHOWN ? `the first ${OPEN_SHOWN} ` : ''}open disputes`}
          >
            {formatLamports(bonds)}
          </AmountRow>
        )}
      </Amounts>
      <div className="grid gap-2 text-sm text-faint">
        <p>
          The sum is the index’s. To compare it with the chain, run this on the relay’s machine, in the project’s folder
          and with its settings:
        </p>
        <Code text={COMPARE} label="Commands that compare the index with the chain" />
        <p>
          <code>reconcile</code> compares the escrows, <code>verify</code> the collateral, the awards and all else that
          the index has.
        </p>
      </div>
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
  /** Payments by x402 that wait for their call are not in it: the index does not know which are paid. */
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
            <dt>
              Sum of these <span className="font-normal text-faint">not compared with the chain here</span>
            </dt>
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
