/** The admin's large figures: how long the SOL lasts, calls, and agents. */
import type { OperationState } from '../../../sdk/wire/operationProcedures.ts';
import { Figure } from '../../parts/ui.tsx';
import { formatCount, formatSpan } from '../../parts/values.tsx';

const HOUR_SECONDS = 3_600;
/** Above this, only "over a year" is shown. */
const LONG_HOURS = 24 * 365;

function runwayOf({ runway_hours }: OperationState): string {
  if (runway_hours === null) return '–';
  return runway_hours > LONG_HOURS ? 'Over a year' : formatSpan(runway_hours * HOUR_SECONDS);
}

export function Figures({ state }: { state: OperationState }) {
  const { oldest_unsettled: oldest, ended_executions: ended, listings } = state;
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Figure
        label="SOL of the relay lasts"
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
        label="Listed agents"
        value={formatCount(listings.active + listings.paused)}
        about={listings.paused === 0 ? 'None is paused' : `${formatCount(listings.paused)} paused`}
      />
    </div>
  );
}
