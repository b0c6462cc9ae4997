/** Compares what is held by the ledger with the chain. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { HeldComparison } from '../../../sdk/wire/operationProcedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { formatLamports, formatUnits } from '../../parts/amount.ts';
import { Failed } from '../../parts/failed.tsx';
import { Badge, Button, cx } from '../../parts/ui.tsx';
import { Ago, Code, formatCounted } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { FigureTable } from './figures.tsx';

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

/** The rows of which the chain holds less than it should. The service has read these three times. */
export const missingIn = (held: HeldComparison | undefined): ComparedRow[] =>
  held ? rowsOf(held).filter(isMissing) : [];

const isMissing = ({ known, chain }: ComparedRow): boolean => chain < known;

/** Once a visit; while something is missing, again and again. */
export const comparisonQuery = queryOptions({
  queryKey: ['operation.held'],
  queryFn: () => call('operation.held'),
  staleTime: Number.POSITIVE_INFINITY,
  refetchInterval: ({ state: { data } }) => (missingIn(data).length > 0 ? COMPARE_AGAIN_MS : false),
});

/** What is missing, in words such as `Escrow: 0.10 USDC`. */
export const missingWords = (rows: readonly ComparedRow[]): string =>
  rows.map(({ label, known, chain, format }) => `${label}: ${format(known - chain)}`).join('; ');

/** More on the chain is no fault: anybody can send an account more. */
export function Compare() {
  const { data, dataUpdatedAt, error, isFetching, refetch } = useQuery(comparisonQuery);
  const rows = data && rowsOf(data);
  const missing = missingIn(data).length;
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
                {missing > 0
                  ? 'Missing on the chain'
                  : rows?.some(({ known, chain }) => chain > known)
                    ? 'Nothing is missing'
                    : 'Ledger and chain are equal'}
              </strong>
              <span className="text-faint">
                , compared <Ago at={new Date(dataUpdatedAt).toISOString()} />
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
        {rows && data && (
          <FigureTable
            label="The ledger beside the chain"
            heads={['Ledger', 'Chain']}
            rows={[
              ...rows.map((row) => {
                const { label, known, chain, format } = row;
                return [<Compared key={label} {...row} />, format(known), format(chain)] as const;
              }),
              [
                `Gas balances of ${formatCounted(data.gas_balances.wallets, 'wallet')}, on the chain alone`,
                '–',
                formatLamports(data.gas_balances.lamports),
              ],
            ]}
          />
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

const Compared = ({ label, known, chain, format }: ComparedRow) => (
  <span className="flex flex-wrap items-center gap-x-2">
    {label}
    {known === chain ? (
      <Badge tone="good">Equal</Badge>
    ) : chain > known ? (
      <Badge>{format(chain - known)} more on the chain</Badge>
    ) : (
      <Badge tone="bad">{format(known - chain)} missing on the chain</Badge>
    )}
  </span>
);
