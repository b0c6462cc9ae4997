/** The admin's figures: how long the SOL lasts, calls of the latest days, agents, and what the program holds by its purpose. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { OperationState } from '../../../sdk/wire/operationProcedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatLamports, formatNumber, formatterOf } from '../../parts/amount.ts';
import { TextLink } from '../../parts/links.tsx';
import { Card, Figure } from '../../parts/ui.tsx';
import { Code, formatAmount, formatCount, formatCounted, formatSpan, Id, shorten } from '../../parts/values.tsx';
import { OPEN_SHOWN, openQueueQuery } from '../../parts/waiting.tsx';
import { agentQuery, configQuery } from '../../service.ts';
import { readAccounts, tokenOf } from '../../wallet/accounts.ts';

const HOUR_SECONDS = 3_600;
/** Above this, only "over a year" is shown. */
const LONG_HOURS = 24 * 365;

function runwayOf({ runway_hours }: OperationState): string {
  if (runway_hours === null) return '–';
  return runway_hours > LONG_HOURS ? 'Over a year' : formatSpan(runway_hours * HOUR_SECONDS);
}

export function Figures({ state }: { state: OperationState }) {
  const { oldest_unsettled: oldest, latest, listings } = state;
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Figure
        label="The relay’s SOL lasts"
        value={runwayOf(state)}
        about={state.runway_hours === null ? 'Nothing is being spent' : 'At the present rate'}
      />
      <Figure
        label="Calls in progress"
        value={formatCount(state.executions_in_flight)}
        about={oldest && `The oldest for ${formatSpan(oldest.age_seconds)}`}
      />
      <Figure
        label="Fees in the last 7 days"
        value={formatAmount(latest.fees_usdc)}
        about={`From ${formatAmount(latest.paid_usdc)} in ${formatCounted(latest.paid, 'paid call')}`}
      />
      <Figure
        label="Listed agents"
        value={formatCount(listings.active + listings.paused)}
        about={
          <>
            {listings.for_tests > 0 && `${formatCount(listings.for_tests)} of them for tests; `}
            {formatCount(listings.paused)} paused
            <Agents ids={listings.paused_agents} total={listings.paused} />
          </>
        }
      />
    </div>
  );
}

type Latest = OperationState['latest'];

const endedOf = ({ paid, refunded }: Latest): number => paid + refunded;

/** The latest days beside as many before. */
export function LatestCalls({ latest, hasX402 }: { latest: Latest; hasX402: boolean }) {
  const spans = [latest, latest.before];
  const amount = formatterOf(spans.flatMap(({ paid_usdc, fees_usdc }) => [paid_usdc, fees_usdc]));
  const rows: [label: string, value: (span: Latest['before']) => string][] = [
    ['Paid', ({ paid }) => formatCount(paid)],
    ['Refunded', ({ refunded }) => formatCount(refunded)],
    ['Prices paid, USDC', ({ paid_usdc }) => amount(paid_usdc)],
    ['Fees of these, USDC', ({ fees_usdc }) => amount(fees_usdc)],
  ];
  return (
    <Card className="grid content-start gap-3">
      <h2 className="font-semibold">Ended calls</h2>
      <table className="w-full text-sm tabular-nums">
        <thead className="border-b border-line align-bottom text-xs text-faint">
          <tr>
            <td />
            {['Last 7 days', '7 days before'].map((head) => (
              <th key={head} scope="col" className="py-1.5 pl-3 text-right font-medium">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map(([label, value]) => (
            <tr key={label}>
              <th scope="row" className="py-1.5 text-left font-normal text-faint">
                {label}
              </th>
              {spans.map((span, index) => (
                <td key={index} className="py-1.5 pl-3 text-right">
                  {value(span)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="text-sm text-faint">
        The last 7 days begin on {dayOf(latest)} (UTC) and include today.
        {hasX402 && ' The service fees of calls by x402 are not in the fees.'}
        {latest.for_tests > 0 && ` ${formatCount(latest.for_tests)} of these calls went to agents for tests.`}
      </p>
    </Card>
  );
}

/** A day in UTC, such as `28 Nov`. */
const dayOf = ({ since }: Latest): string =>
  new Date(since).toLocaleDateString(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Calls that count against their agents, without those for tests; nothing if there are none. */
export function FailedLately({ latest }: { latest: Latest }) {
  const { failed, failing, failing_agents, for_tests } = latest;
  if (failed === 0) return null;
  return (
    <p className="flex items-baseline gap-2 text-sm">
      <span aria-hidden="true" className="size-2 shrink-0 rounded-full bg-warn" />
      <span>
        {formatCount(failed)} of {formatCount(endedOf(latest) - for_tests)} calls in the last 7 days failed
        <Agents ids={failing_agents} total={failing} isLinked />
      </span>
    </p>
  );
}

/** Such as `: csv-analyst, web-fetch, echo and 9 more`. `isLinked`: the creators show the failures of all. */
function Agents({ ids, total, isLinked = false }: { ids: string[]; total: number; isLinked?: boolean }) {
  const more = total > ids.length && `${formatCount(total - ids.length)} more`;
  return (
    <>
      {ids.map((id, index) => (
        <span key={id}>
          {index === 0 ? ': ' : ', '}
          <AgentLink id={id} />
        </span>
      ))}
      {more && ' and '}
      {isLinked && more ? (
        <TextLink to="/admin" search={{ tab: 'creators' }}>
          {more}
        </TextLink>
      ) : (
        more
      )}
    </>
  );
}

function AgentLink({ id }: { id: string }) {
  const { data: agent } = useQuery(agentQuery(id));
  return (
    <TextLink to="/agents/$agentId" params={{ agentId: id }}>
      {agent?.name ?? shorten(id)}
    </TextLink>
  );
}

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
