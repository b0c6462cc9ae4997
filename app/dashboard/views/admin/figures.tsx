/** The admin's large figures: how long the SOL lasts, calls, and collected fees. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { OperationState } from '../../../sdk/wire/operationProcedures.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { Figure } from '../../parts/ui.tsx';
import { formatAmount, formatCount, formatSpan } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { readAccounts, tokenOf } from '../../wallet/accounts.ts';

const HOUR_SECONDS = 3_600;
/** Above this, only "over a year" is shown. */
const LONG_HOURS = 24 * 365;
/** Poll interval, ms. */
const REFRESH_MS = 30_000;

function runwayOf({ runway_hours }: OperationState): string {
  if (runway_hours === null) return '–';
  return runway_hours > LONG_HOURS ? 'Over a year' : formatSpan(runway_hours * HOUR_SECONDS);
}

/** USDC in the treasury; undefined until it is read, null if it has no account. */
function useCollected(): number | null | undefined {
  const { data: config } = useQuery(configQuery);
  const { data } = useQuery({
    queryKey: ['treasury', config?.treasury],
    queryFn: async () => {
      const token = tokenOf((await readAccounts([config!.treasury]))[0]);
      return token && toUsdc(token.amount);
    },
    enabled: config !== undefined,
    refetchInterval: REFRESH_MS,
  });
  return data;
}

export function Figures({ state }: { state: OperationState }) {
  const { oldest_unsettled: oldest, ended_executions: ended } = state;
  const collected = useCollected();
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Figure
        label="SOL for fees lasts"
        value={runwayOf(state)}
        about={state.runway_hours === null ? 'Nothing is being spent' : 'At the present rate'}
      />
      <Figure
        label="Calls in progress"
        value={formatCount(state.executions_in_flight)}
        about={oldest ? `The oldest for ${formatSpan(oldest.age_seconds)}` : 'No unsettled calls'}
      />
      <Figure
        label="Finished calls"
        value={formatCount(ended.settled + ended.refunded)}
        about={`${formatCount(ended.settled)} paid, ${formatCount(ended.refunded)} refunded`}
      />
      <Figure
        label="Collected fees"
        value={collected == null ? '–' : formatAmount(collected)}
        about={
          <>
            In the treasury.{' '}
            <Link to="/admin" search={{ tab: 'settings' }} className="underline">
              Withdraw
            </Link>
          </>
        }
      />
    </div>
  );
}
