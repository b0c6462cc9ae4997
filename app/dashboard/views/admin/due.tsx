/** A dispute's remaining time, out of the 72 hours in which the admin promises to decide. */
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { useChainClock } from '../../parts/chainClock.ts';
import { Badge, type Tone } from '../../parts/ui.tsx';
import { formatSpan, Status } from '../../parts/values.tsx';

/** Below this, the remaining time counts as short. */
const SOON_SECONDS = 24 * 3_600;

export function Due({ dispute }: { dispute: DisputeSummary }) {
  const isOpen = dispute.outcome === 'open';
  const now = useChainClock(isOpen) ?? Date.now();
  if (!isOpen) return <Status value={dispute.outcome} />;
  const left = (Date.parse(dispute.answer_due_at) - now) / 1_000;
  const tone: Tone = left < 0 ? 'bad' : left < SOON_SECONDS ? 'warn' : 'accent';
  return <Badge tone={tone}>{left < 0 ? `${formatSpan(-left)} overdue` : `${formatSpan(left)} left`}</Badge>;
}
