/** The wallet's SOL that is held elsewhere now: how much, where, and when it comes back. */
import { useQuery } from '@tanstack/react-query';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { alignerOf } from '../../parts/amount.ts';
import { CellLink } from '../../parts/links.tsx';
import { AtRight, Cell, Table } from '../../parts/table.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { formatSpan } from '../../parts/values.tsx';
import { firstDisputesQuery } from '../../parts/waiting.tsx';
import { DISPUTE_LAPSE_SECONDS, ENDED_DISPUTE_SECONDS } from '../../wallet/programTerms.ts';
import { useWalletKeys, type WalletMoney } from '../keys/money.ts';
import { type HeldInDisputes, heldInCallsQuery, heldInDisputesQuery, NEWEST } from './heldSol.ts';

export function HeldSol({ wallet }: { wallet: string }) {
  const listed = useQuery(firstDisputesQuery(wallet));
  const disputes = useQuery(heldInDisputesQuery(wallet, listed.data?.disputes));
  const calls = useQuery(heldInCallsQuery(wallet));
  const { listed: keys, money, chain } = useWalletKeys(wallet);
  const all = [listed, disputes, calls, keys, chain];
  const rows =
    disputes.data && calls.data !== undefined && money ? rowsOf(disputes.data, calls.data, money) : undefined;
  const query = {
    data: rows,
    error: all.find(({ data, error }) => error && data === undefined)?.error,
    refetch: () => Promise.all(all.map(({ refetch }) => refetch())),
  };
  return (
    <section aria-label="SOL held" className="grid gap-3">
      <div>
        <h2 className="text-lg font-semibold">SOL held</h2>
        <p className="mt-0.5 text-sm text-faint">
          Your bonds and refundable deposits now; the chosen days do not change them.
        </p>
      </div>
      <Unread query={query} what="The SOL held" className="h-72" />
      {rows?.length === 0 && <p className="text-sm">None of your SOL is held.</p>}
      {rows && rows.length > 0 && <Rows rows={rows} />}
    </section>
  );
}

type Row = readonly [what: string, to: '/disputes' | '/keys' | '/executions', lamports: bigint, back: string];

function rowsOf({ bonds, deposits }: HeldInDisputes, ofCalls: bigint, { grants, grantDeposit, gas }: WalletMoney) {
  const rows: Row[] = [
    [
      'Bonds of open disputes',
      '/disputes',
      bonds,
      `With the decision, unless rejected. Without one you can end the dispute ${formatSpan(DISPUTE_LAPSE_SECONDS)} after its opening.`,
    ],
    [
      'Deposits of disputes',
      '/disputes',
      deposits,
      `Automatically, ${formatSpan(ENDED_DISPUTE_SECONDS)} after the dispute ends`,
    ],
    [
      'Deposits of API keys',
      '/keys',
      BigInt(grants.size) * grantDeposit,
      'After the key’s end, with “Get the deposit back” in its menu',
    ],
    [
      'Deposits of calls from the wallet',
      '/executions',
      ofCalls,
      `About an hour after the call, also of a refunded one. Of your newest ${NEWEST} calls.`,
    ],
    ['Gas balance', '/keys', gas, 'Pays network fees of your keys’ calls. You can withdraw it at any time.'],
  ];
  return rows.filter(([, , lamports]) => lamports > 0n);
}

function Rows({ rows }: { rows: readonly Row[] }) {
  const amounts = rows.map(([, , lamports]) => lamports);
  const align = alignerOf(amounts.map(formatSol));
  const amount = (lamports: bigint) => (
    <Cell of="Amount, SOL" className="whitespace-nowrap tabular-nums sm:text-right">
      <span>{align(formatSol(lamports))}</span>
    </Cell>
  );
  return (
    <Table
      label="SOL held now"
      hasCards
      head={['Held in', <AtRight key="amount">Amount, SOL</AtRight>, 'When it comes back']}
    >
      {rows.map(([what, to, lamports, back]) => (
        <tr key={what}>
          <td className="font-medium">
            <CellLink to={to}>{what}</CellLink>
          </td>
          {amount(lamports)}
          <Cell of="Comes back" className="text-faint">
            <span>{back}</span>
          </Cell>
        </tr>
      ))}
      <tr className="font-semibold">
        <td>Total</td>
        {amount(amounts.reduce((sum, lamports) => sum + lamports, 0n))}
        <td className="max-sm:hidden" />
      </tr>
    </Table>
  );
}
