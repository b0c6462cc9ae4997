/** The wallet's SOL that is gone, and what is held elsewhere now: how much, where, and when it comes back. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { alignerOf } from '../../parts/amount.ts';
import { CellLink, TextLink } from '../../parts/links.tsx';
import type { DayRange } from '../../parts/range.tsx';
import { AtRight, Cell, Table } from '../../parts/table.tsx';
import { Trouble, Unread } from '../../parts/trouble.tsx';
import { Skeleton } from '../../parts/ui.tsx';
import { Day, formatCount, formatCounted, formatLamports, formatSpan } from '../../parts/values.tsx';
import { firstDisputesQuery } from '../../parts/waiting.tsx';
import { ENDED_DISPUTE_SECONDS } from '../../wallet/programTerms.ts';
import { bondPaidOut } from '../disputes/ended.tsx';
import { isLive, useWalletKeys } from '../keys/money.ts';
import { type HeldInCalls, type HeldInDisputes, heldInCallsQuery, heldInDisputesQuery } from './heldSol.ts';

type Place = '/disputes' | '/keys' | '/executions';

interface Held {
  what: string;
  to: Place;
  /** Lamports; undefined if it could not be read. */
  amount: bigint | undefined;
  /** When it comes back, or why not. */
  back: ReactNode;
}

export function HeldSol({ wallet }: { wallet: string }) {
  const listed = useQuery(firstDisputesQuery(wallet));
  const disputes = useQuery(heldInDisputesQuery(wallet, listed.data?.disputes));
  const calls = useQuery(heldInCallsQuery(wallet));
  const { listed: keys, money, chain } = useWalletKeys(wallet);
  const ofDisputes = listed.error ?? disputes.error;
  const ofKeys = keys.error ?? chain.error;
  const isKnown = (disputes.data || ofDisputes) && (calls.data || calls.error) && (money || ofKeys);
  const failed = [
    { name: 'disputes', error: disputes.data ? null : ofDisputes },
    { name: 'calls', error: calls.data ? null : calls.error },
    { name: 'API keys', error: money ? null : ofKeys },
  ].filter(({ error }) => error);
  const retry = () => void Promise.all([listed, disputes, calls, keys, chain].map(({ refetch }) => refetch()));
  const all: Held[] = [
    ...rowsOfDisputes(disputes.data),
    {
      what: 'Deposits of API keys',
      to: '/keys',
      amount: money && BigInt(money.grants.size) * money.grantDeposit,
      back: money && keysBack([...money.grants.values()].map((grant) => isLive(grant, money.now))),
    },
    {
      what: 'Deposits of calls from the wallet',
      to: '/executions',
      amount: calls.data?.deposits,
      back: callsBack(calls.data),
    },
    {
      what: 'Gas balance',
      to: '/keys',
      amount: money?.gas,
      back: 'Pays network fees of your keys’ calls. You can withdraw it at any time.',
    },
  ];
  const rows = all.filter(({ amount }) => amount !== 0n);
  const amounts = rows.map(({ amount = 0n }) => amount);
  const total = amounts.reduce((sum, amount) => sum + amount, 0n);
  const align = alignerOf(amounts.map(formatSol));
  const format = (lamports: bigint) => align(formatSol(lamports));
  return (
    <section aria-label="SOL held" className="grid gap-3">
      <div>
        <h2 className="text-lg font-semibold">SOL held</h2>
        <p className="mt-0.5 text-sm text-faint">
          Your bonds and refundable deposits now; the chosen days do not change them. A call that the wallet itself paid
          holds a deposit for about an hour.
        </p>
      </div>
      {isKnown && rows.length === 0 && <p className="text-sm">None of your SOL is held.</p>}
      {isKnown && rows.length > 0 && (
        <Table
          label="SOL held now"
          hasCards
          head={['Held in', <AtRight key="amount">Amount, SOL</AtRight>, 'When it comes back']}
        >
          {rows.map(({ what, to, amount, back }) => (
            <tr key={what}>
              <td className="font-medium">
                <CellLink to={to}>{what}</CellLink>
              </td>
              <Cell of="Amount, SOL" className="whitespace-nowrap tabular-nums sm:text-right">
                <span>{amount === undefined ? 'Not known' : format(amount)}</span>
              </Cell>
              <Cell of="Comes back" className="text-faint">
                <span>{amount === undefined ? 'Could not be read' : back}</span>
              </Cell>
            </tr>
          ))}
          <tr className="font-semibold">
            <td>Total</td>
            <Cell of="Amount, SOL" className="whitespace-nowrap tabular-nums sm:text-right">
              <span>{format(total)}</span>
            </Cell>
            <Cell of="Comes back" className="font-normal text-faint max-sm:hidden">
              <span>{failed.length > 0 && 'Without what could not be read'}</span>
            </Cell>
          </tr>
        </Table>
      )}
      {!isKnown && <Skeleton className="h-72" />}
      {isKnown && failed[0]?.error && (
        <Trouble
          error={failed[0].error}
          what={`The SOL held in ${failed.map(({ name }) => name).join(' and ')}`}
          onRetry={retry}
        />
      )}
    </section>
  );
}

function rowsOfDisputes(held: HeldInDisputes | undefined): Held[] {
  const to = '/disputes';
  return [
    {
      what: 'Bonds of open disputes',
      to,
      amount: held?.bonds,
      back: held && bondsBack(held),
    },
    { what: 'Deposits of disputes', to, amount: held?.deposits, back: held && disputesBack(held) },
  ];
}

function bondsBack({ endableFrom, open }: HeldInDisputes): ReactNode {
  return (
    <>
      With the decision, unless rejected.
      {endableFrom !== null && (
        <>
          {' '}
          Without one you can end {open === 1 ? 'it' : 'the first'} from <Day at={endableFrom} /> and get it back.
        </>
      )}
    </>
  );
}

const SPAN = formatSpan(ENDED_DISPUTE_SECONDS);

function disputesBack({ backAt, held }: HeldInDisputes): ReactNode {
  const [first] = backAt;
  if (!first) return `Automatically, ${SPAN} after the dispute ends`;
  const day = <Day at={first} />;
  if (held === 1) return <>Automatically, on {day}</>;
  if (backAt.length === held) return <>Automatically, from {day} on</>;
  const rest = held - backAt.length;
  return (
    <>
      Automatically:{' '}
      {backAt.length === 1 ? (
        <>one on {day}</>
      ) : (
        <>
          {backAt.length} from {day} on
        </>
      )}
      , {rest === 1 ? `one ${SPAN} after its dispute ends` : `${rest} others ${SPAN} after their disputes end`}
    </>
  );
}

function keysBack(live: boolean[]): string {
  const ended = live.filter((is) => !is).length;
  if (ended === 0) return 'After the key’s end, with “Get the deposit back” in its menu';
  return `${ended} of ${live.length} have ended: get their deposits back from their menus`;
}

const callsBack = (held: HeldInCalls | undefined): string =>
  `About an hour after the call, also of a refunded one${held?.isPartial ? '. Of your newest 100 calls' : ''}`;

export function SpentSol({ wallet, range }: { wallet: string; range: DayRange }) {
  const query = useQuery(firstDisputesQuery(wallet));
  const { data } = query;
  const lost = (data?.disputes ?? []).filter(
    ({ caller, outcome, resolved_at: at }) =>
      caller === wallet && outcome === 'rejected' && at !== null && isWithin(at.slice(0, 10), range),
  );
  const bonds = lost.map(bondPaidOut);
  const sum = bonds.reduce<bigint>((all, bond) => all + BigInt(bond ?? 0), 0n);
  const unknown = bonds.filter((bond) => bond === null).length;
  return (
    <section aria-label="SOL spent" className="grid gap-3">
      <div>
        <h2 className="text-lg font-semibold">SOL spent</h2>
        <p className="mt-0.5 text-sm text-faint">
          On the chosen days. The network fees of your wallet’s own transactions are not known here: your wallet shows
          them.
        </p>
      </div>
      {data ? (
        <p className="flex flex-wrap gap-x-4 text-sm">
          <TextLink to="/disputes">Bonds lost in rejected disputes</TextLink>
          <span className="font-medium tabular-nums">
            {lost.length === 0 ? 'None' : `${formatLamports(sum)} in ${formatCounted(lost.length, 'dispute')}`}
            {unknown > 0 && `, ${formatCount(unknown)} of them with an unknown bond`}
            {data.total > data.disputes.length && `, of your first ${formatCount(data.disputes.length)} disputes`}
          </span>
        </p>
      ) : (
        <Unread query={query} what="The disputes" className="h-5" />
      )}
    </section>
  );
}

/** Days as the service writes them, YYYY-MM-DD in UTC. */
const isWithin = (day: string, { from, to }: DayRange): boolean => from <= day && day <= to;
