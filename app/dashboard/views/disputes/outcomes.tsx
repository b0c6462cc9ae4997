/** What is at stake in a dispute: for each possible outcome, what caller and creator get or lose, and what happens to the agent. */
import type { ReactNode } from 'react';
import type { DisputeOutcome } from '../../../sdk/wire/choices.ts';
import { Chevron } from '../../parts/icons.tsx';
import { formatAmount, formatLamports, formatSpan, formatUnits } from '../../parts/values.tsx';
import { DISPUTE_LAPSE_SECONDS, ENDED_DISPUTE_SECONDS } from '../../wallet/programTerms.ts';
import { awardPayment, EXCESS } from './payouts.ts';
import { isPausedBy, mostSlashed, mostTaken, mostToCaller, type Stakes, slashedOf } from './stakes.ts';

export type Party = 'caller' | 'creator';
export type Reader = Party | 'admin';

export const OUTCOME_WORDS: Record<DisputeOutcome, string> = {
  open: 'open',
  rejected: 'rejected',
  upheld: 'upheld',
  lapsed: 'ended undecided',
};

/** What the caller of an open dispute can win and lose, in a line. */
export const callerGist = (bond: bigint, price: number): string =>
  `Upheld: ${formatLamports(bond)} back, and as much of ${formatAmount(price)} as the admin decides. Rejected: you lose ${formatLamports(bond)}.`;

/** Whether a lost dispute pauses the agent, after what it takes. */
export function pauseGist(stakes: Stakes, price: bigint): string {
  if (isPausedBy(stakes, 1n)) return ', and any award pauses the agent';
  return isPausedBy(stakes, mostTaken(stakes, price)) ? ', and the agent may be paused' : '';
}

interface OutcomesProps {
  stakes: Stakes;
  /** Price of the call, base units. */
  price: bigint;
  reader: Party;
  /** When an undecided dispute can be ended. */
  lapse: ReactNode;
}

/** One below the other, each folded to a line that says what its reader gets or loses. */
export function Outcomes({ stakes, price, reader, lapse }: OutcomesProps) {
  const isCaller = reader === 'caller';
  const [caller, creator] = isCaller ? ['You', 'The creator'] : ['The caller', 'You'];
  const verb = (who: string, base: string) => (who === 'You' ? `${who} ${base}` : `${who} ${base}s`);
  const loses = (who: string) => (who === 'You' ? 'You lose' : `${who} loses`);
  const most = mostSlashed(stakes, price);
  const bond = formatLamports(stakes.bond);
  const won = `${bond} back and up to ${formatUnits(mostToCaller(stakes, price))}`;
  const gistOf = (ofCaller: string, ofCreator: string) => (isCaller ? ofCaller : ofCreator);
  // Never at stake, but it left the caller's wallet with the bond.
  const depositOf = (isAwarded: boolean) =>
    isCaller && (
      <Side who="Deposit" amount={formatLamports(stakes.deposit)}>
        Comes back by itself {formatSpan(ENDED_DISPUTE_SECONDS)} after the dispute ends
        {isAwarded && '; an unclaimed award delays it'}.
      </Side>
    );
  return (
    <div className="grid overflow-hidden rounded-lg border border-line text-sm">
      <Outcome title="If it is upheld" gist={gistOf(won, `you lose up to ${formatUnits(most)}`)}>
        <Side who={verb(caller, 'get')} amount={won}>
          The bond, and at most the price. {isCaller && awardPayment(true)}
        </Side>
        {depositOf(true)}
        <Side who={loses(creator)} amount={`up to ${formatUnits(most)}`}>
          Of the agent’s collateral of {formatUnits(stakes.left)}. The admin sets the amount. {EXCESS}{' '}
          {isCaller ? 'The creator keeps what it' : 'You keep what you'} earned for the call.
        </Side>
        <Side who="The agent">{upheldWords(stakes, price, isCaller)}</Side>
      </Outcome>
      <Outcome title="If it is rejected" gist={gistOf(`you lose ${bond}`, `you get ${bond}`)}>
        <Side who={loses(caller)} amount={bond}>
          The bond. The price of {formatUnits(price)} stays paid.
        </Side>
        {depositOf(false)}
        <Side who={verb(creator, 'get')} amount={bond}>
          {isCaller ? 'Your' : 'The caller’s'} bond. The collateral stays whole.
        </Side>
        <Side who="The agent">{stakes.status === 'active' ? 'Stays as it is.' : `Stays ${stakes.status}.`}</Side>
      </Outcome>
      <Outcome
        title="If nobody decides"
        gist={gistOf(
          `after ${formatSpan(DISPUTE_LAPSE_SECONDS)} you can take ${bond} back; the ${formatUnits(price)} stays paid`,
          `after ${formatSpan(DISPUTE_LAPSE_SECONDS)} anybody can end it; you lose nothing`,
        )}
      >
        <Side who={`${verb(caller, 'get')} back`} amount={bond}>
          The bond. The price of {formatUnits(price)} stays paid.
        </Side>
        {depositOf(false)}
        <Side who={loses(creator)} amount="nothing" />
        <Side who="How it ends">{lapse} The marketplace does not do it by itself.</Side>
      </Outcome>
    </div>
  );
}

interface OutcomeProps {
  title: string;
  /** What it means in a few words. */
  gist: string;
  children: ReactNode;
}

function Outcome({ title, gist, children }: OutcomeProps) {
  return (
    <section aria-label={title} className="border-line not-first:border-t">
      <details className="group/outcome">
        <summary className="flex list-none items-center gap-x-2 px-3 py-2 hover:bg-sunken/60 [&::-webkit-details-marker]:hidden">
          <span className="flex flex-1 flex-wrap gap-x-2 tabular-nums">
            <span className="text-faint">{title}</span>
            <span className="font-medium">{gist}</span>
          </span>
          <Chevron className="group-open/outcome:rotate-180" />
        </summary>
        <dl className="grid gap-2 px-4 py-3 sm:*:grid sm:*:grid-cols-[7.5rem_1fr] sm:*:gap-x-3">{children}</dl>
      </details>
    </section>
  );
}

function Side({ who, amount, children }: { who: string; amount?: string; children?: ReactNode }) {
  return (
    <div>
      <dt className="text-faint">{who}</dt>
      <dd>
        {amount && <span className="block font-semibold tabular-nums">{amount}</span>}
        {children}
      </dd>
    </div>
  );
}

/** What happens to the agent if the price, or more, is taken. */
function upheldWords(stakes: Stakes, price: bigint, isCaller: boolean): string {
  const { status, left, required } = stakes;
  const failed = 'The call counts as failed.';
  if (status !== 'active') return `Stays ${status}. ${failed}`;
  const taken = mostToCaller(stakes, price);
  if (isPausedBy(stakes, taken)) {
    const rest = formatUnits(left - slashedOf(stakes, taken));
    const needs = required === null ? '' : `, and its price needs ${formatUnits(required)}`;
    const until = isCaller
      ? `the creator ${required === null ? 'changes its price' : 'tops up'} and resumes it`
      : `you ${required === null ? 'change its price' : 'top up'} and resume it`;
    return `Is paused until ${until}, even if only ${formatUnits(taken)} is taken: ${rest} would be left${needs}. ${failed}`;
  }
  return `Stays active as long as ${formatUnits(required ?? 0n)} of collateral are left; else it is paused. ${failed}`;
}
