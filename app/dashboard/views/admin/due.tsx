/** A dispute's remaining time, out of the 72 hours in which the admin promises to decide. */
import { DECISION_SECONDS, HEARING_SECONDS } from '../../../sdk/wire/choices.ts';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { useChainClock } from '../../parts/chainClock.ts';
import { Badge, type Tone } from '../../parts/ui.tsx';
import { formatSpan, Status, Time } from '../../parts/values.tsx';

/** Below this, the remaining time counts as short. */
const SOON_SECONDS = DECISION_SECONDS - HEARING_SECONDS;

const secondsLeft = ({ answer_due_at }: DisputeSummary, now: number) => (Date.parse(answer_due_at) - now) / 1_000;

/** Negative if the decision is overdue. */
const useSecondsLeft = (dispute: DisputeSummary): number =>
  secondsLeft(dispute, useChainClock(dispute.outcome === 'open') ?? Date.now());

const wordsOf = (left: number): string => (left < 0 ? `${formatSpan(-left)} overdue` : `due in ${formatSpan(left)}`);

export function Due({ dispute }: { dispute: DisputeSummary }) {
  const left = useSecondsLeft(dispute);
  if (dispute.outcome !== 'open') return <Status value={dispute.outcome} />;
  const tone: Tone = left < 0 ? 'bad' : left < SOON_SECONDS ? 'warn' : 'plain';
  return <Badge tone={tone}>{wordsOf(left)}</Badge>;
}

/** Which side of an open dispute has not been heard; null once both are. */
export function unheardWords({ has_evidence, reply }: DisputeSummary): string | null {
  if (!has_evidence && reply === null) return 'Neither side has written anything yet';
  if (!has_evidence) return 'The caller has not uploaded the evidence yet';
  return reply === null ? 'The creator has not replied yet' : null;
}

/** Until when to wait for a side of an open dispute that has not been heard, with a day left to decide; null if not. */
export function waitUntil(dispute: DisputeSummary, now: number): string | null {
  const isLate = secondsLeft(dispute, now) <= SOON_SECONDS;
  if (dispute.outcome !== 'open' || unheardWords(dispute) === null || isLate) return null;
  return new Date(Date.parse(dispute.answer_due_at) - SOON_SECONDS * 1_000).toISOString();
}

export const useWaitUntil = (dispute: DisputeSummary): string | null =>
  waitUntil(dispute, useChainClock(dispute.outcome === 'open') ?? Date.now());

/** Which side has not been heard, and until when to wait for it. */
export function Unheard({ dispute }: { dispute: DisputeSummary }) {
  const until = useWaitUntil(dispute);
  return (
    <>
      {unheardWords(dispute)}.{' '}
      {until !== null && (
        <>
          You can decide now, but better wait until <Time at={until} />.
        </>
      )}
    </>
  );
}

/** The remaining time as text beside the due time, for an open dispute on a coloured surface. */
export function DueWords({ dispute }: { dispute: DisputeSummary }) {
  const left = useSecondsLeft(dispute);
  return left < 0 ? wordsOf(left) : `in ${formatSpan(left)}`;
}
