/** What is at stake in a dispute: for each possible outcome, what caller and creator get or lose, and what happens to the agent. */
import type { ReactNode } from 'react';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { cx } from '../../parts/ui.tsx';
import { formatAmount, formatLamports, formatSpan } from '../../parts/values.tsx';
import { EXCESS } from './excess.ts';
import { awardPayment, depositReturn } from './payouts.ts';
import { isPausedBy, mostSlashed, mostToCaller, type Stakes, slashedOf } from './stakes.ts';

export type Reader = 'caller' | 'creator' | 'admin';

const usdc = (amount: bigint): string => formatAmount(toUsdc(amount));

interface OutcomesProps {
  stakes: Stakes;
  /** Price of the call, base units. */
  price: bigint;
  reader: Reader;
  /** When an undecided dispute can be ended. */
  lapse: ReactNode;
  /** One below the other, as in a dialog. */
  isNarrow?: boolean;
}

export function Outcomes({ stakes, price, reader, lapse, isNarrow = false }: OutcomesProps) {
  const caller = reader === 'caller' ? 'You' : 'The caller';
  const creator = reader === 'creator' ? 'You' : 'The creator';
  const verb = (who: string, base: string) => (who === 'You' ? `${who} ${base}` : `${who} ${base}s`);
  const isCallerFirst = isNarrow && reader === 'caller';
  const loses = (who: string) => (who === 'You' ? 'You lose' : `${who} loses`);
  const most = mostSlashed(stakes, price);
  const bond = formatLamports(stakes.bond);
  const ending = <Side who="How it ends">{lapse} The marketplace does not do it by itself.</Side>;
  // Never at stake, but it left the caller's wallet with the bond. A dialog has it among its costs.
  const depositOf = (isAwarded: boolean) =>
    reader === 'caller' &&
    !isNarrow && (
      <Side who="Deposit" amount={formatLamports(stakes.deposit)}>
        Comes back by itself {formatSpan(stakes.depositSeconds)} after the dispute ends
        {isAwarded && '; an unclaimed award delays it'}.
      </Side>
    );
  const cases: Case[] = [
    {
      title: 'If it is upheld',
      ofCaller: (
        <>
          <Side who={verb(caller, 'get')} amount={`${bond} back and up to ${usdc(mostToCaller(stakes, price))}`}>
            The bond, and at most the price. {reader !== 'creator' && awardPayment(reader === 'caller')}
          </Side>
          {depositOf(true)}
        </>
      ),
      ofOthers: (
        <>
          <Side who={loses(creator)} amount={`up to ${usdc(most)}`}>
            Of the agent’s collateral of {usdc(stakes.left)}. The admin sets the amount. {EXCESS} {creator}{' '}
            {creator === 'You' ? 'keep what you' : 'keeps what it'} earned for the call.
          </Side>
          <Side who="The agent">{upheldWords(stakes, price, reader)}</Side>
        </>
      ),
    },
    {
      title: 'If it is rejected',
      ofCaller: (
        <>
          <Side who={loses(caller)} amount={bond}>
            The bond. The {usdc(price)} stay paid.
          </Side>
          {depositOf(false)}
        </>
      ),
      ofOthers: (
        <>
          <Side who={verb(creator, 'get')} amount={bond}>
            {caller === 'You' ? 'Your' : 'The caller’s'} bond. The collateral stays whole.
          </Side>
          <Side who="The agent">{stakes.status === 'active' ? 'Stays as it is.' : `Stays ${stakes.status}.`}</Side>
        </>
      ),
    },
    {
      title: 'If nobody decides',
      ofCaller: (
        <>
          <Side who={`${verb(caller, 'get')} back`} amount={bond}>
            The bond. The {usdc(price)} stay paid.
          </Side>
          {depositOf(false)}
          {isCallerFirst && ending}
        </>
      ),
      ofOthers: (
        <>
          <Side who={loses(creator)} amount="nothing" />
          {!isCallerFirst && ending}
        </>
      ),
    },
  ];
  if (isCallerFirst) {
    return (
      <>
        <Cases cases={cases} shown={({ ofCaller }) => ofCaller} isNarrow />
        <h4 className="text-sm font-medium">For the creator and the agent</h4>
        <Cases cases={cases} shown={({ ofOthers }) => ofOthers} isNarrow />
      </>
    );
  }
  return (
    <Cases
      cases={cases}
      shown={({ ofCaller, ofOthers }) => (
        <>
          {ofCaller}
          {ofOthers}
        </>
      )}
      isNarrow={isNarrow}
    />
  );
}

/** One possible outcome, for each side. */
interface Case {
  title: string;
  ofCaller: ReactNode;
  ofOthers: ReactNode;
}

function Cases({ cases, shown, isNarrow }: { cases: Case[]; shown(one: Case): ReactNode; isNarrow: boolean }) {
  return (
    <div className={cx('grid overflow-hidden rounded-lg border border-line text-sm', !isNarrow && 'md:grid-cols-3')}>
      {cases.map((one) => (
        <Outcome key={one.title} title={one.title} isNarrow={isNarrow}>
          {shown(one)}
        </Outcome>
      ))}
    </div>
  );
}

function Outcome({ title, isNarrow, children }: { title: string; isNarrow: boolean; children: ReactNode }) {
  return (
    <section
      aria-label={title}
      className={cx('border-line not-first:border-t', !isNarrow && 'md:not-first:border-t-0 md:not-first:border-l')}
    >
      <h3 className="bg-sunken px-4 py-2 font-medium">{title}</h3>
      <dl
        className={cx(
          'grid px-4 py-3',
          isNarrow ? 'gap-2 sm:*:grid sm:*:grid-cols-[7.5rem_1fr] sm:*:gap-x-3' : 'gap-3',
        )}
      >
        {children}
      </dl>
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
function upheldWords(stakes: Stakes, price: bigint, reader: Reader): string {
  const { status, left, required } = stakes;
  const failed = 'The call counts as failed.';
  if (status !== 'active') return `Stays ${status}. ${failed}`;
  const taken = mostToCaller(stakes, price);
  if (isPausedBy(stakes, taken)) {
    const rest = usdc(left - slashedOf(stakes, taken));
    const needs = required === null ? '' : `, and its price needs ${usdc(required)}`;
    const until = reader === 'creator' ? 'you top up' : 'the creator tops up';
    return `Is paused until ${until}, even if only ${usdc(taken)} is taken: ${rest} would be left${needs}. ${failed}`;
  }
  return `Stays active as long as ${usdc(required ?? 0n)} of collateral are left; else it is paused. ${failed}`;
}

/** What happens to the agent until the decision. */
export function meanwhile({ status, deposit, depositSeconds }: Stakes, reader: Reader): string {
  const until = `Until the dispute ends, ${status === 'active' ? 'callers can still call the agent' : `the agent stays ${status}`}.`;
  // The deposit is among the caller's outcomes, and does not concern the creator.
  if (reader === 'caller') return until;
  const listed = `${until} Its page counts the dispute, and its collateral cannot be withdrawn.`;
  return reader === 'creator' ? listed : `${listed} ${depositReturn(deposit, depositSeconds, 'The caller’s')}`;
}
