/** Compares what is held by the ledger with the chain. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { HeldComparison } from '../../../sdk/wire/operationProcedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { formatLamports, formatUnits } from '../../parts/amount.ts';
import { Failed } from '../../parts/failed.tsx';
import { Badge, Button, cx } from '../../parts/ui.tsx';
import { Ago, Code, formatCounted } from '../../parts/values.tsx';
import { call } from '../../service.ts';

/** Time until the next comparison while something is missing, ms. */
const COMPARE_AGAIN_MS = 10_000;

const KINDS: Record<HeldComparison['usdc'][number]['what'], string> = {
  escrow: 'Escrow',
  deposits: 'Waiting payments by x402',
  collateral: 'Collateral, with what is kept and awards',
  unclaimed: 'Refunds not yet received',
};

/** The first compares each call and key, the second every row of the index, with its account. Both only read. */
const COMPARE = 'npm run relay -- reconcile\nnpm run indexer -- verify';

interface ComparedRow {
  label: string;
  /** Base units of USDC, or lamports. */
  known: bigint;
  chain: bigint;
  format(amount: bigint): string;
}

function rowsOf({ usdc, rent }: HeldComparison): ComparedRow[] {
  return [
    ...usdc.map(({ what, known_usdc, chain_usdc }) => {
      return { label: KINDS[what], known: parseUsdc(known_usdc), chain: parseUsdc(chain_usdc), format: formatUnits };
    }),
    {
      label: 'Deposits lent to calls',
      known: BigInt(rent.known),
      chain: BigInt(rent.chain),
      format: formatLamports,
    },
  ];
}

/** The rows of which the chain holds less than it should, at the last two comparisons: a call that ends can be late. */
export function missingIn(comparison: Comparison | undefined): ComparedRow[] {
  if (!comparison) return [];
  const { before } = comparison;
  return rowsOf(comparison.held).filter(
    (row, at) => isMissing(row) && before !== undefined && isMissing(rowsOf(before)[at]!),
  );
}

const isMissing = ({ known, chain }: ComparedRow): boolean => chain < known;

interface Comparison {
  held: HeldComparison;
  /** The comparison before it in this visit. */
  before: HeldComparison | undefined;
  at: string;
}

const HELD_KEY = ['operation.held'];

/** Once a visit; while something is missing, again and again. */
export const comparisonQuery = queryOptions({
  queryKey: HELD_KEY,
  queryFn: async ({ client }): Promise<Comparison> => {
    const held = await call('operation.held');
    return { held, before: client.getQueryData<Comparison>(HELD_KEY)?.held, at: new Date().toISOString() };
  },
  staleTime: Number.POSITIVE_INFINITY,
  refetchInterval: ({ state: { data } }) => (data && rowsOf(data.held).some(isMissing) ? COMPARE_AGAIN_MS : false),
});

/** What is missing, in words such as `Escrow: 0.10 USDC`. */
export const missingWords = (rows: readonly ComparedRow[]): string =>
  rows.map(({ label, known, chain, format }) => `${label}: ${format(known - chain)}`).join('; ');

/** More on the chain is no fault: anybody can send an account more. */
export function Compare() {
  const { data, error, isFetching, refetch } = useQuery(comparisonQuery);
  const rows = data && rowsOf(data.held);
  const missing = rows?.filter(isMissing).length ?? 0;
  return (
    <div className="grid gap-3 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button small busy={isFetching} onClick={() => void refetch()}>
          Compare again
        </Button>
        <p role="status">
          {data ? (
            <>
              <strong className={cx('font-medium', missing > 0 && 'text-bad')}>
                {missing > 0 ? 'Missing on the chain' : rows?.some(isMore) ? 'Nothing is missing' : 'Equal'}
              </strong>
              <span className="text-faint">
                , compared <Ago at={data.at} />
              </span>
            </>
          ) : (
            isFetching && <span className="text-faint">Comparing with the chain …</span>
          )}
        </p>
      </div>
      <Failed error={error} title="The chain could not be read" />
      <details open={missing > 0}>
        <summary>Ledger and chain</summary>
        {rows && data ? (
          <table className="mt-2 w-full tabular-nums" aria-label="The ledger beside the chain">
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
                label={`Gas balances of ${formatCounted(data.held.gas_balances.wallets, 'wallet')} with API keys`}
                known="–"
                chain={formatLamports(data.held.gas_balances.lamports)}
              >
                <span className="text-xs text-faint">Only the chain has them</span>
              </Compared>
            </tbody>
          </table>
        ) : (
          <p className="mt-2 text-faint">Not compared yet.</p>
        )}
      </details>
      {missing > 0 && (
        <div className="grid gap-2 text-faint">
          <p>
            A call that begins or ends now can differ for some seconds: the page compares again. If a difference stays,
            these commands name each call and agent. Run them on the relay’s machine, in the project’s folder and with
            its settings:
          </p>
          <Code text={COMPARE} label="Commands that name each difference" />
        </div>
      )}
    </div>
  );
}

const isMore = ({ known, chain }: ComparedRow): boolean => chain > known;

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
    <Badge>{format(chain - known)} more on the chain</Badge>
  ) : (
    <Badge tone="bad">{format(known - chain)} missing on the chain</Badge>
  );
}
