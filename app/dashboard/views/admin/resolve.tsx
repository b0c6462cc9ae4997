/** Resolves a dispute: the side, the amount and the reason. Shows the consequences before signing. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { least } from '../../../sdk/wire/amounts.ts';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { formatUsdc, parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { Choice } from '../../parts/choice.tsx';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { type Reading, read } from '../../parts/reading.ts';
import { SignDialog, type Signing } from '../../parts/sign.tsx';
import { Button, Input, TextArea } from '../../parts/ui.tsx';
import { formatAmount, formatLamports, formatNumber, shorten } from '../../parts/values.tsx';
import { useCreatorName } from '../disputes/creatorName.ts';
import { EXCESS } from '../disputes/excess.ts';
import { awardPayment, depositReturn } from '../disputes/payouts.ts';
import { isPausedBy, mostTaken, type Stakes, slashedOf, stakesQuery } from '../disputes/stakes.ts';
import { idBytes } from '../executions/record.ts';
import { Unheard, UnheardNote, unheardWords } from './due.tsx';

const MAX_REASON = 8_000;

type Side = 'caller' | 'creator';

/** A rejection takes nothing. */
const NONE: Reading<bigint> = { value: 0n, error: null };

export function Resolve({ dispute }: { dispute: DisputeSummary }) {
  const { data: stakes } = useQuery(stakesQuery(dispute.agent_id, dispute.execution_id));
  const [side, setSide] = useState<Side | null>(null);
  const [text, setText] = useState(String(dispute.price_usdc));
  const [reason, setReason] = useState('');
  const [isReviewed, setReviewed] = useState(false);

  const whyId = useId();
  const creatorName = useCreatorName(dispute);
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
            {upholdWords(parseUsdc(dispute.price_usdc), stakes)}
          </Choice>
          <Choice
            name="side"
            title="Reject: the creator is right"
            isChosen={side === 'creator'}
            onChoose={() => setSide('creator')}
          >
            {`The price stays paid. The caller loses the bond of ${bondOf(dispute)} to ${creatorName}.`}
          </Choice>
        </div>
        {/* The review repeats it. */}
        {side === null && <UnheardNote dispute={dispute} />}
        {side === 'caller' && (
          <Input
            label="Taken from the collateral, USDC"
            hint={stakes && fault === null && takenWords(dispute, creatorName, stakes, amount)}
            error={fault}
            value={text}
            inputMode="decimal"
            autoComplete="off"
            onChange={(event) => setText(event.target.value)}
          />
        )}
        <TextArea
          label="Reason"
          hint="Both sides read it. It can never be changed."
          value={reason}
          maxLength={MAX_REASON}
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
          about="A decision is final: nobody can change it or dispute this call again."
          rows={[
            ...(unheardWords(dispute) ? ([['Not heard', <Unheard key="unheard" dispute={dispute} />]] as const) : []),
            ...(isComplete && stakes ? consequences(dispute, side, { amount, stakes }) : []),
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
  if (fault) return 'Correct the amount.';
  return isRead ? null : 'Reading the collateral on the chain …';
}

const bondOf = ({ bond_lamports }: DisputeSummary): string => formatLamports(BigInt(bond_lamports));

/** In four lines. Without sums until they are known. */
function upholdWords(price: bigint, stakes: Stakes | undefined): string {
  if (!stakes) return 'You set the amount. The collateral pays it, and the caller gets the bond back.';
  const most = mostTaken(stakes, price);
  const ofCollateral = most > stakes.left ? '' : ' of the collateral';
  const rest = most > price ? '; the rest is kept for later callers, then for the treasury' : '';
  return `You set the amount, at most ${formatBaseUnits(most)}${ofCollateral}. The caller gets the bond back and at most the price, ${formatBaseUnits(price)}${rest}.${pauseWords(stakes, most)}`;
}

/** From which amount on the agent is paused. */
function pauseWords(stakes: Stakes, most: bigint): string {
  if (!isPausedBy(stakes, most)) return '';
  if (isPausedBy(stakes, 1n)) return ' Any amount pauses the agent.';
  return ` More than ${formatBaseUnits(stakes.left - stakes.required!)} pauses the agent.`;
}

/** The effect of the typed amount; the review has the rest. */
function takenWords(dispute: DisputeSummary, creatorName: string, stakes: Stakes, amount: bigint): string {
  const toCaller = least(amount, parseUsdc(dispute.price_usdc));
  const slashed = slashedOf(stakes, amount);
  return `The caller gets ${formatBaseUnits(toCaller)} and the bond. ${creatorName} loses ${formatNumber(toUsdc(slashed))} of ${formatBaseUnits(stakes.left)}.`;
}

/** Why an award pauses the agent. */
const pauseReason = ({ left, required }: Stakes, slashed: bigint): string =>
  required === null
    ? 'no tier of collateral has its price any more'
    : `${formatBaseUnits(left - slashed)} is below its minimum of ${formatBaseUnits(required)}`;

const formatBaseUnits = (amount: bigint): string => formatAmount(toUsdc(amount));

const depositRow = ({ deposit, depositSeconds }: Stakes): [string, ReactNode] => [
  'Refundable deposit',
  `${awardPayment(false)} ${depositReturn(deposit, depositSeconds, 'The caller’s')}`,
];

const row = (label: string, value: string): [string, ReactNode] => [label, value];

/** Computed as the program does, exact to the base unit. */
function consequences(
  dispute: DisputeSummary,
  side: Side,
  { amount, stakes }: { amount: bigint; stakes: Stakes },
): [string, ReactNode][] {
  const bond = bondOf(dispute);
  const { caller, creator } = dispute;
  if (side === 'creator') {
    return [
      ['Caller', `${shorten(caller)} loses the bond and gets no refund`],
      ['Creator', `${shorten(creator)} gets the bond of ${bond}`],
      ['Collateral', 'unchanged'],
      ['Call', 'stays completed'],
      depositRow(stakes),
    ];
  }
  const { left } = stakes;
  const toCaller = least(amount, parseUsdc(dispute.price_usdc));
  const slashed = slashedOf(stakes, amount);
  return [
    ['Caller', `${shorten(caller)} gets ${formatBaseUnits(toCaller)}, and the bond of ${bond} back`],
    ...(amount > slashed ? [row('Earlier forfeits', `pay ${formatBaseUnits(amount - slashed)} of it`)] : []),
    ...(amount > toCaller ? [row('Beyond the price', `${formatBaseUnits(amount - toCaller)}. ${EXCESS}`)] : []),
    ['Collateral', `${formatBaseUnits(left)} → ${formatBaseUnits(left - slashed)} of ${shorten(creator)}`],
    [
      'Agent',
      isPausedBy(stakes, amount)
        ? `is paused until its creator tops up and resumes it: ${pauseReason(stakes, slashed)}`
        : `stays ${stakes.status}`,
    ],
    ['Call', 'counts as failed'],
    depositRow(stakes),
  ];
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
