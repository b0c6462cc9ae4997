/** What is at stake in a dispute: for each possible outcome, what caller and creator get or lose, and what happens to the agent. */
import type { ReactNode } from 'react';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { cx } from '../../parts/ui.tsx';
import { formatAmount, formatLamports, formatSpan } from '../../parts/values.tsx';
import { EXCESS } from './excess.ts';
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
  const loses = (who: string) => (who === 'You' ? 'You lose' : `${who} loses`);
  const most = mostSlashed(stakes, price);
  return (
    <div className={cx('grid overflow-hidden rounded-lg border border-line text-sm', !isNarrow && 'md:grid-cols-3')}>
      <Outcome title="If it is upheld" isNarrow={isNarrow}>
        <Side
          who={verb(caller, 'get')}
          amount={`${formatLamports(stakes.bond)} back and up to ${usdc(mostToCaller(stakes, price))}`}
        >
          The bond, and at most the price.
        </Side>
        <Side who={loses(creator)} amount={`up to ${usdc(most)}`}>
          Of its collateral of {usdc(stakes.left)}. The admin sets the amount. {EXCESS} {creator}{' '}
          {creator === 'You' ? 'keep what you' : 'keeps what it'} earned for the call.
        </Side>
        <Side who="The agent">{upheldWords(stakes, price)}</Side>
      </Outcome>
      <Outcome title="If it is rejected" isNarrow={isNarrow}>
        <Side who={loses(caller)} amount={formatLamports(stakes.bond)}>
          The bond. The {usdc(price)} stay paid.
        </Side>
        <Side who={verb(creator, 'get')} amount={formatLamports(stakes.bond)}>
          {reader === 'caller' ? 'Your' : 'The caller’s'} bond. The collateral stays whole.
        </Side>
        <Side who="The agent">{stakes.status === 'active' ? 'Stays as it is.' : `Stays ${stakes.status}.`}</Side>
      </Outcome>
      <Outcome title="If nobody decides" isNarrow={isNarrow}>
        <Side who={`${verb(caller, 'get')} back`} amount={formatLamports(stakes.bond)}>
          The bond. The {usdc(price)} stay paid.
        </Side>
        <Side who={loses(creator)} amount="nothing" />
        <Side who="How it ends">{lapse}</Side>
      </Outcome>
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
function upheldWords(stakes: Stakes, price: bigint): string {
  const { status, left, required } = stakes;
  const failed = 'The call counts as failed.';
  if (status !== 'active') return `Stays ${status}. ${failed}`;
  const taken = mostToCaller(stakes, price);
  if (isPausedBy(stakes, taken)) {
    const rest = usdc(left - slashedOf(stakes, taken));
    const needs = required === null ? '' : `, and its price needs ${usdc(required)}`;
    return `Is paused until the creator tops up, even if only ${usdc(taken)} is taken: ${rest} would be left${needs}. ${failed}`;
  }
  return `Stays active as long as ${usdc(required ?? 0n)} of collateral are left; else it is paused. ${failed}`;
}

/** What happens to the agent until the decision. */
export const meanwhile = ({ status }: Stakes): string =>
  status === 'active'
    ? 'Until then the agent can be called as before. Its page counts the dispute, and its collateral cannot be withdrawn.'
    : `Until then the agent stays ${status}. Its page counts the dispute, and its collateral cannot be withdrawn.`;

/** The deposit is never at stake. */
export const depositWords = ({ deposit, depositSeconds }: Stakes, reader: Reader): string =>
  `${reader === 'caller' ? 'Your' : 'The caller’s'} refundable deposit of ${formatLamports(deposit)} comes back ${formatSpan(depositSeconds)} after the end, with every outcome; if there is an award, only after that has been paid to ${reader === 'caller' ? 'you' : 'the caller'}.`;
