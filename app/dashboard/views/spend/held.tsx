/** The wallet's SOL that is held elsewhere now: how much, where, and when it comes back; and the bonds that it lost. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/procedures.ts';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { alignerOf } from '../../parts/amount.ts';
import { CellLink } from '../../parts/links.tsx';
import { AtRight, Cell, Table } from '../../parts/table.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { formatCount, formatCounted, formatLamports, formatSpan } from '../../parts/values.tsx';
import { firstDisputesQuery } from '../../parts/waiting.tsx';
import { DISPUTE_LAPSE_SECONDS, ENDED_DISPUTE_SECONDS } from '../../wallet/programTerms.ts';
import { readDeposits } from '../disputes/deposit.tsx';
import { bondPaidOut } from '../disputes/ended.tsx';
import { useWalletKeys, type WalletMoney } from '../keys/money.ts';

/** Lamports. */
interface HeldInDisputes {
  bonds: bigint;
  deposits: bigint;
}

/** An ended dispute holds its deposit for a while. */
const heldInDisputesQuery = (wallet: string, disputes: readonly DisputeSummary[] | undefined) => {
  const asked = (disputes ?? []).filter(({ caller }) => caller === wallet);
  return queryOptions({
    queryKey: ['held-in-disputes', wallet, ...asked.map(({ execution_id, outcome }) => `${execution_id} ${outcome}`)],
    queryFn: async (): Promise<HeldInDisputes> => {
      const read = await readDeposits(asked.map(({ execution_id }) => execution_id));
      const held = read.filter((account) => account?.sponsor === wallet);
      const sum = (name: 'bond' | 'deposit') => held.reduce((all, account) => all + (account?.[name] ?? 0n), 0n);
      return { bonds: sum('bond'), deposits: sum('deposit') };
    },
    enabled: disputes !== undefined,
    // React Query cannot compare a bigint by content.
    structuralSharing: false,
  });
};

export function HeldSol({ wallet }: { wallet: string }) {
  const listed = useQuery(firstDisputesQuery(wallet));
  const disputes = useQuery(heldInDisputesQuery(wallet, listed.data?.disputes));
  const { listed: keys, money, chain } = useWalletKeys(wallet);
  const all = [listed, disputes, keys, chain];
  const rows = disputes.data && money && rowsOf(disputes.data, money);
  const query = {
    data: rows,
    error: all.find(({ data, error }) => error && data === undefined)?.error,
    refetch: () => Promise.all(all.map(({ refetch }) => refetch())),
  };
  return (
    <section aria-label="SOL held" className="grid gap-3">
      <div>
        <h2 className="text-lg font-semibold">SOL held</h2>
        <p className="mt-0.5 max-w-2xl text-sm text-faint">
          Your bonds and refundable deposits now; the chosen days do not change them. The deposit of a call that the
          wallet itself paid comes back within about an hour, and is not listed.
        </p>
      </div>
      <Unread query={query} what="The SOL held" className="h-72" />
      {rows?.length === 0 && <p className="text-sm">Nothing is held in disputes, API keys or the gas balance.</p>}
      {rows && rows.length > 0 && <Rows rows={rows} />}
      {rows && listed.data && <LostBonds wallet={wallet} {...listed.data} />}
    </section>
  );
}

interface LostBondsProps {
  wallet: string;
  /** The first of `total`. */
  disputes: readonly DisputeSummary[];
  total: number;
}

/** Nothing if the wallet lost none. */
function LostBonds({ wallet, disputes, total }: LostBondsProps) {
  const lost = disputes.filter(({ caller, outcome }) => caller === wallet && outcome === 'rejected');
  if (lost.length === 0) return null;
  const bonds = lost.map(bondPaidOut);
  const sum = bonds.reduce<bigint>((all, bond) => all + BigInt(bond ?? 0), 0n);
  const unknown = bonds.filter((bond) => bond === null).length;
  return (
    <p className="text-sm tabular-nums">
      Lost so far, to the creators: the bonds of {formatCounted(lost.length, 'rejected dispute')}, {formatLamports(sum)}
      {unknown > 0 && ` and ${formatCount(unknown)} of unknown size`}
      {total > disputes.length && `, among the first ${formatCount(disputes.length)} of your disputes`}.
    </p>
  );
}

type Row = readonly [what: string, to: '/disputes' | '/keys', lamports: bigint, back: string];

function rowsOf({ bonds, deposits }: HeldInDisputes, { grants, grantDeposit, gas }: WalletMoney) {
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
    ['Gas balance', '/keys', gas, 'Pays network fees of your keys’ calls. You can withdraw it at any time.'],
  ];
  return rows.filter(([, , lamports]) => lamports > 0n);
}

function Rows({ rows }: { rows: readonly Row[] }) {
  const amounts = rows.map(([, , lamports]) => lamports);
  const align = alignerOf(amounts.map(formatSol));
  const amount = (lamports: bigint) => (
    <Cell of="Amount, SOL" isFigure>
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
        <td>Total of these</td>
        {amount(amounts.reduce((sum, lamports) => sum + lamports, 0n))}
        <td className="max-sm:hidden" />
      </tr>
    </Table>
  );
}
