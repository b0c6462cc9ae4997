/** Resolves a dispute: the side, the amount and the reason. Shows the consequences before signing. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { least } from '../../../sdk/wire/amounts.ts';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { formatUsdc, parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { Choice } from '../../parts/choice.tsx';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { faultOfLength, type Reading, read } from '../../parts/reading.ts';
import { SignDialog, type Signing } from '../../parts/sign.tsx';
import { Button, Facts, Input, Note, TextArea } from '../../parts/ui.tsx';
import { formatCount, formatLamports, formatNumber, formatUnits } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { excessEnd } from '../disputes/payouts.ts';
import { isPausedBy, mostTaken, mostToCaller, type Stakes, slashedOf, stakesQuery } from '../disputes/stakes.ts';
import { idBytes } from '../executions/record.ts';
import { Unheard, unheardWords } from './due.tsx';

const MAX_REASON = 8_000;

type Side = 'caller' | 'creator';

/** A rejection takes nothing. */
const NONE: Reading<bigint> = { value: 0n, error: null };

/** Where the money goes, then what the agent gets. The amount is not set yet. */
function upheldWords(dispute: DisputeSummary, stakes: Stakes): string[] {
  const price = parseUsdc(dispute.price_usdc);
  const [most, toCaller] = [mostTaken(stakes, price), mostToCaller(stakes, price)];
  const limit = `${stakes.multiple} times the price`;
  const limits = price * stakes.multiple <= stakes.left ? limit : `all its collateral, below ${limit}`;
  const kept = most > stakes.left ? ' and what earlier disputes left for callers' : '';
  return [
    [
      `You choose 0 to ${formatUnits(most)} (${limits}) from the collateral${kept}.`,
      `The caller gets the first ${formatUnits(toCaller)} and the bond of ${formatLamports(dispute.bond_lamports)}.`,
      ...(most > price ? ['The rest is kept for later callers, then goes to the treasury.'] : []),
      'The creator keeps what it earned.',
    ].join(' '),
    `The call counts as failed${pauseWords(stakes, price)}.`,
  ];
}

/** From which amount on an award pauses the agent, and why that is any amount. */
function pauseWords(stakes: Stakes, price: bigint): string {
  if (!isPausedBy(stakes, mostTaken(stakes, price))) return '';
  const { left, required } = stakes;
  const why =
    required === null || left > required ? '' : `: its collateral is ${left === required ? 'at' : 'below'} the minimum`;
  return `; ${pausingAmount(stakes)} pauses the agent${why}`;
}

function pausingAmount({ left, required }: Stakes): string {
  const free = required === null ? 0n : left - required;
  return free > 0n ? `more than ${formatUnits(free)}` : 'any amount';
}

export function Resolve({ dispute }: { dispute: DisputeSummary }) {
  const { data: stakes } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  const { data: config } = useQuery(configQuery);
  const [side, setSide] = useState<Side | null>(null);
  const [text, setText] = useState(String(dispute.price_usdc));
  const [reason, setReason] = useState('');
  const [isReviewed, setReviewed] = useState(false);

  const whyId = useId();
  const price = parseUsdc(dispute.price_usdc);
  const typed = read(() => parseAmount(text, dispute, stakes));
  const { value: amount = 0n, error: fault } = side === 'caller' ? typed : NONE;
  const whyNot = whyNotYet({ side, reason, fault, isRead: stakes !== undefined });
  const isComplete = whyNot === null;

  // Beside the case the panel is as high as the window: its fields scroll, and its button stays in sight.
  return (
    <form
      className="flex min-h-0 flex-col"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setReviewed(true);
      }}
    >
      <AskBeforeLeaving when={reason.trim() !== ''} title="Leave without signing?">
        Your decision is not signed yet. Your input is lost if you leave.
      </AskBeforeLeaving>
      <div className="grid gap-2.5 overflow-y-auto px-5 py-3">
        <div role="radiogroup" aria-label="Who is right" className="grid gap-2">
          <Choice
            name="side"
            title="Uphold: the caller is right"
            isChosen={side === 'caller'}
            onChoose={() => setSide('caller')}
          >
            {side === null ? (
              // As high before the stakes are known.
              <span className="block min-h-45 sm:min-h-35">
                {stakes &&
                  upheldWords(dispute, stakes).map((line) => (
                    <span key={line} className="block">
                      {line}
                    </span>
                  ))}
              </span>
            ) : (
              `The caller gets the bond and up to ${formatUnits(stakes ? mostToCaller(stakes, price) : price)}.`
            )}
          </Choice>
          <Choice
            name="side"
            title="Reject: the creator is right"
            isChosen={side === 'creator'}
            onChoose={() => setSide('creator')}
          >
            {`The creator gets the bond of ${formatLamports(dispute.bond_lamports)}; no refund.`}
          </Choice>
        </div>
        {/* The review repeats it. Like the words above, it makes place for the exact outcome. */}
        {side === null && unheardWords(dispute) && (
          <Note tone="warn">
            <Unheard dispute={dispute} />
          </Note>
        )}
        {side === 'caller' && (
          <Input
            label={`Taken from the collateral, USDC${stakes ? limitWords(dispute, stakes) : ''}`}
            hint="The price repays the caller; no rule asks for more."
            error={fault}
            value={text}
            inputMode="decimal"
            autoComplete="off"
            onChange={(event) => setText(event.target.value)}
          />
        )}
        {side && fault === null && stakes && (
          <div className="sm:[&_dl]:grid-cols-[5rem_1fr] sm:[&_dl]:gap-x-3 sm:[&_dl]:gap-y-1.5">
            <Facts rows={consequences(dispute, side, { amount, stakes })} />
          </div>
        )}
        <TextArea
          label="Reason (final; both sides and admins read it)"
          placeholder={`At most ${formatCount(MAX_REASON)} characters`}
          value={reason}
          error={faultOfLength(reason, MAX_REASON)}
          className="min-h-16!"
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
      <div className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-t border-line px-5 py-2.5 sm:flex-nowrap">
        <Button type="submit" kind="primary" disabled={!isComplete} aria-describedby={whyNot ? whyId : undefined}>
          Review the decision
        </Button>
        {whyNot && (
          <p id={whyId} className="text-sm text-faint">
            {whyNot}
          </p>
        )}
      </div>
      {side && isReviewed && (
        <SignDialog
          title={side === 'caller' ? 'Uphold this dispute?' : 'Reject this dispute?'}
          about="A decision and its reason are final: nobody can change them or dispute this call again."
          rows={[
            ...(unheardWords(dispute) ? ([['Not heard', <Unheard key="unheard" dispute={dispute} />]] as const) : []),
            ...(isComplete && stakes
              ? [
                  ...consequences(dispute, side, { amount, stakes }),
                  ...(amount > price && config
                    ? ([['Treasury', excessEnd(config.longest_span_seconds)]] as const)
                    : []),
                  ['Call', side === 'caller' ? 'counts as failed' : 'stays completed'] as const,
                ]
              : []),
          ]}
          doing={side === 'caller' ? 'Upholding the dispute' : 'Rejecting the dispute'}
          confirm={side === 'caller' ? 'Sign and uphold' : 'Sign and reject'}
          danger={side === 'caller'}
          work={(signing) => answer(signing, { dispute, side, amount, reason })}
          done={() => [side === 'caller' ? 'The dispute is upheld' : 'The dispute is rejected']}
          onClose={() => setReviewed(false)}
          onDone={() => setReason('')}
        />
      )}
    </form>
  );
}

/** Base units. */
function parseAmount(text: string, { price_usdc }: DisputeSummary, stakes: Stakes | undefined): bigint {
  const amount = parseUsdc(text.trim());
  const most = stakes && mostTaken(stakes, parseUsdc(price_usdc));
  if (most !== undefined && amount > most) throw new RangeError(`At most ${formatUsdc(most)} USDC can be taken.`);
  return amount;
}

interface Missing {
  side: Side | null;
  reason: string;
  fault: string | null;
  isRead: boolean;
}

function whyNotYet({ side, reason, fault, isRead }: Missing): string | null {
  const hasReason = reason.trim() !== '';
  if (!side) return hasReason ? 'Choose an outcome.' : 'Choose an outcome and write a reason.';
  if (!hasReason) return 'Write a reason.';
  if (reason.length > MAX_REASON) return 'Shorten the reason.';
  if (fault) return 'Correct the amount.';
  return isRead ? null : 'Reading the collateral on the chain …';
}

const limitWords = ({ price_usdc }: DisputeSummary, stakes: Stakes): string =>
  ` (0 to ${formatNumber(toUsdc(mostTaken(stakes, parseUsdc(price_usdc))))})`;

/** Who gets what, and what happens to the collateral and the agent. Computed as the program does, to the base unit. */
function consequences(
  dispute: DisputeSummary,
  side: Side,
  { amount, stakes }: { amount: bigint; stakes: Stakes },
): [string, ReactNode][] {
  const bond = formatLamports(dispute.bond_lamports);
  const { left, status } = stakes;
  if (side === 'creator') {
    return [
      ['Caller', 'loses the bond and gets no refund'],
      ['Creator', `gets the bond of ${bond}; the price stays paid`],
      ['Agent', `stays ${status}, with its collateral of ${formatUnits(left)}`],
    ];
  }
  const toCaller = least(amount, parseUsdc(dispute.price_usdc));
  const slashed = slashedOf(stakes, amount);
  const rest = amount > slashed ? `; earlier forfeits pay ${formatUnits(amount - slashed)}` : '';
  const rows: [string, ReactNode][] = [
    ['Caller', `gets ${formatUnits(toCaller)}, and the bond of ${bond} back`],
    ['Collateral', `${formatUnits(left)} → ${formatUnits(left - slashed)}${rest}`],
    ['Agent', agentWords(stakes, parseUsdc(dispute.price_usdc), amount)],
  ];
  if (amount > toCaller)
    rows.push(['Above price', `${formatUnits(amount - toCaller)} is kept for later callers, then for the treasury`]);
  return rows;
}

/** Whether the award pauses the agent, and why, or from which amount on. */
function agentWords(stakes: Stakes, price: bigint, amount: bigint): string {
  const { required, status } = stakes;
  if (isPausedBy(stakes, amount))
    return required === null
      ? 'is paused: no tier of collateral has its price any more'
      : `is paused: the collateral falls below its minimum of ${formatUnits(required)}`;
  if (!isPausedBy(stakes, mostTaken(stakes, price))) return `stays ${status}`;
  return `stays ${status}; ${pausingAmount(stakes)} pauses it`;
}

async function answer(
  { marketplace, wallet, decideDispute, publishReason, say }: Signing,
  { dispute, side, amount, reason }: { dispute: DisputeSummary; side: Side; amount: bigint; reason: string },
) {
  const executionId = idBytes(dispute.execution_id);
  say('Giving the reason to both sides');
  const reasonHash = await publishReason(marketplace, { wallet, executionId, reason });
  say(side === 'caller' ? 'Upholding the dispute' : 'Rejecting the dispute');
  const verdict = side === 'caller' ? { upheld: true as const, amount } : { upheld: false as const };
  return decideDispute(marketplace, { wallet, executionId, verdict, reasonHash });
}
