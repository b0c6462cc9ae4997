/** What the marketplace holds for others, and, when asked, the same as the chain has it. */
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { HeldComparison, OperationState } from '../../../sdk/wire/operationProcedures.ts';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatLamports, formatNumber, formatterOf } from '../../parts/amount.ts';
import { Failed } from '../../parts/failed.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Badge, Button, Card } from '../../parts/ui.tsx';
import { Ago, Code, formatCounted, Id } from '../../parts/values.tsx';
import { OPEN_SHOWN, openQueueQuery } from '../../parts/waiting.tsx';
import { call, configQuery } from '../../service.ts';
import { readAccounts, tokenOf } from '../../wallet/accounts.ts';

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
    <Card className="grid content-start gap-4">
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
      <Comparison />
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

const KINDS: Record<HeldComparison['usdc'][number]['what'], string> = {
  escrow: 'Escrow, USDC',
  deposits: 'Waiting payments by x402, USDC',
  collateral: 'Collateral, with what is kept and awards, USDC',
  unclaimed: 'Refunds not yet received, USDC',
};

/** The first compares each call and key, the second every row of the index, with its account. Both only read. */
const COMPARE = 'npm run relay -- reconcile\nnpm run indexer -- verify';

interface ComparedRow {
  label: string;
  /** Base units of USDC, or lamports. */
  known: bigint;
  chain: bigint;
  /** Without the unit. */
  format(amount: bigint): string;
}

const usdcText = (units: bigint): string => formatNumber(toUsdc(units));

function rowsOf({ usdc, rent }: HeldComparison): ComparedRow[] {
  return [
    ...usdc.map(({ what, known_usdc, chain_usdc }) => {
      return { label: KINDS[what], known: parseUsdc(known_usdc), chain: parseUsdc(chain_usdc), format: usdcText };
    }),
    {
      label: 'Deposits lent to calls, SOL',
      known: BigInt(rent.known),
      chain: BigInt(rent.chain),
      format: formatSol,
    },
  ];
}

function Comparison() {
  const { data, error, isPending, mutate } = useMutation({
    mutationFn: async () => ({ ...(await call('operation.held')), at: new Date().toISOString() }),
  });
  const rows = data && rowsOf(data);
  const different = rows?.filter(({ known, chain }) => known !== chain).length ?? 0;
  return (
    <div className="grid gap-3 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button small busy={isPending} onClick={() => mutate()}>
          {data ? 'Compare again' : 'Compare with the chain'}
        </Button>
        <p role="status">
          {data && (
            <>
              <strong className="font-medium">
                {different === 0
                  ? 'All equal'
                  : `${formatCounted(different, 'row')} differ${different === 1 ? 's' : ''}`}
              </strong>{' '}
              <span className="text-faint">
                read <Ago at={data.at} />
              </span>
            </>
          )}
        </p>
      </div>
      <Failed error={error} title="The chain could not be read" />
      {rows && data && (
        <table className="w-full tabular-nums" aria-label="The ledger beside the chain">
          <thead className="border-b border-line text-xs text-faint">
            <tr>
              <td />
              {['Ledger', 'Chain'].map((head) => (
                <th key={head} scope="col" className="py-1.5 pl-3 text-right font-medium">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {rows.map((row) => (
              <Compared key={row.label} label={row.label} known={row.format(row.known)} chain={row.format(row.chain)}>
                <Difference {...row} />
              </Compared>
            ))}
            <Compared
              label={`Gas balances of ${formatCounted(data.gas_balances.wallets, 'wallet')} with API keys, SOL`}
              known="–"
              chain={formatSol(BigInt(data.gas_balances.lamports))}
            >
              <span className="text-xs text-faint">Only the chain has them</span>
            </Compared>
          </tbody>
        </table>
      )}
      {different > 0 && (
        <div className="grid gap-2 text-faint">
          <p>
            A call that begins or ends now can differ for some seconds, and anyone can send an account more. If a
            difference stays, these commands name each call and agent. Run them on the relay’s machine, in the project’s
            folder and with its settings:
          </p>
          <Code text={COMPARE} label="Commands that name each difference" />
        </div>
      )}
    </div>
  );
}

interface ComparedProps {
  label: string;
  known: string;
  chain: string;
  /** Beside or below the label. */
  children: ReactNode;
}

const Compared = ({ label, known, chain, children }: ComparedProps) => (
  <tr className="align-top">
    <th scope="row" className="py-1.5 text-left font-normal">
      <span className="flex flex-wrap items-center gap-x-2">
        <span className="text-faint">{label}</span>
        {children}
      </span>
    </th>
    <td className="py-1.5 pl-3 text-right whitespace-nowrap">{known}</td>
    <td className="py-1.5 pl-3 text-right whitespace-nowrap">{chain}</td>
  </tr>
);

function Difference({ known, chain, format }: ComparedRow) {
  if (known === chain) return <Badge tone="good">Equal</Badge>;
  return chain > known ? (
    <Badge tone="warn">{format(chain - known)} more on the chain</Badge>
  ) : (
    <Badge tone="bad">{format(known - chain)} missing on the chain</Badge>
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
