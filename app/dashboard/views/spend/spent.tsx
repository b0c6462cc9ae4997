/** The wallet's SOL that is gone: bonds of disputes that were rejected on the chosen days. */
import { useQuery } from '@tanstack/react-query';
import { TextLink } from '../../parts/links.tsx';
import type { DayRange } from '../../parts/range.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { formatCount, formatLamports } from '../../parts/values.tsx';
import { firstDisputesQuery } from '../../parts/waiting.tsx';
import { bondPaidOut } from '../disputes/ended.tsx';

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
            {lost.length === 0
              ? 'None'
              : `${formatLamports(sum)} in ${formatCount(lost.length)} ${lost.length === 1 ? 'dispute' : 'disputes'}`}
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
