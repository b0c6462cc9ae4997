/** The outcome of a call and of its dispute in words, the same on every list and page. */
import type { DisputeOutcome } from '../../../sdk/wire/choices.ts';
import type { ReceivedCall } from '../../../sdk/wire/procedures.ts';
import type { ExecutionSummary } from '../../../sdk/wire/wire.ts';
import { formatAmount } from '../../parts/amount.ts';

export interface Outcome {
  words: string;
  /** Of its badge. */
  tone: 'plain' | 'accent' | 'good' | 'bad' | 'warn';
}

/** The fields that decide it. */
type Ended = Pick<ExecutionSummary, 'status' | 'refund' | 'dispute' | 'refunded_usdc'>;

/** The price is known once the escrow is open. Until then nothing is said about money. */
const isOpening = ({ status, refund, cost_usdc }: ExecutionSummary): boolean =>
  (status === 'pending' || status === 'running') && refund === null && cost_usdc === 0;

/** As its caller reads it. */
export const outcomeOf = (call: ExecutionSummary): Outcome =>
  isOpening(call) ? { words: 'Being opened', tone: 'accent' } : endOf(call, 'caller');

/** As the creator of the called agent reads it. */
export function outcomeOfReceived(call: ReceivedCall): Outcome {
  const refund = call.status !== 'failed' ? null : call.refunded_usdc > 0 ? 'done' : 'pending';
  return endOf({ ...call, refund }, 'creator');
}

const DISPUTES: Record<DisputeOutcome, Outcome> = {
  open: { words: 'Dispute open', tone: 'warn' },
  rejected: { words: 'Dispute rejected', tone: 'plain' },
  upheld: { words: 'Dispute upheld', tone: 'plain' },
  lapsed: { words: 'Dispute ended undecided', tone: 'plain' },
};

/** The same for both sides and the admin. */
export const outcomeOfDispute = (outcome: DisputeOutcome): Outcome => DISPUTES[outcome];

/** Unless the dispute is upheld, it is a completed call for its caller. */
function disputedOf(outcome: DisputeOutcome, reader: 'caller' | 'creator'): Outcome {
  const shown = outcomeOfDispute(outcome);
  if (reader === 'creator' || outcome === 'upheld') return shown;
  return { ...shown, words: `Completed · d${shown.words.slice(1)}` };
}

function endOf({ status, refund, dispute, refunded_usdc: refunded }: Ended, reader: 'caller' | 'creator'): Outcome {
  if (refund === 'pending') return { words: 'Refund on its way', tone: 'accent' };
  switch (status) {
    case 'pending':
      return { words: 'Not started yet', tone: 'accent' };
    case 'running':
      return { words: 'Waiting for the agent', tone: 'accent' };
    case 'completed':
      if (!dispute) return { words: 'Completed', tone: 'good' };
      return disputedOf(dispute.outcome, reader);
    case 'disputed':
      return disputedOf(dispute?.outcome ?? 'open', reader);
    case 'failed':
      return {
        words: WAITS[refund ?? 'none'] ?? refundedWords(refunded),
        tone: refund === 'done' && reader === 'caller' ? 'plain' : 'bad',
      };
  }
}

/** Words of a failed call whose refund is not done; `none`: nothing was paid. */
const WAITS: Partial<Record<NonNullable<Ended['refund']> | 'none', string>> = {
  none: 'Failed, nothing was paid',
  waiting: 'Failed, refund waits for your account',
  unclaimed: 'Failed, refund waits for your claim',
};

/** Where the price is after a call without a result; `none`: it never left the wallet. */
export const REFUND_TEXTS: Record<NonNullable<Ended['refund']> | 'none' | 'unknown', string> = {
  done: 'Your money is back: the whole price was refunded.',
  pending: 'The refund is on its way.',
  waiting: 'The caller’s USDC account is missing or frozen. Once it can receive, the price is sent to it.',
  unclaimed:
    'The caller’s USDC account could not receive it for an hour. The caller claims it to any own USDC account: npm run cli -- refund claim EXECUTION_ID.',
  none: 'No escrow was opened, so nothing was paid.',
  unknown: 'The whole price goes back to the wallet that paid it.',
};

/** `Refunded 0.02 USDC`; `Refunded` while the amount is unknown. */
export const refundedWords = (usdc: number | null | undefined): string =>
  usdc == null ? 'Refunded' : `Refunded ${formatAmount(usdc)}`;

/** What paid for a call: the name of a key, the wallet itself, or an x402 client. */
export function payerOf({ key_id, key_name, deposit }: ExecutionSummary): string {
  if (deposit !== null) return 'x402';
  if (key_id === null) return 'Wallet';
  return key_name === null ? `Key ${key_id.slice(0, 8)}` : `Key: ${key_name}`;
}
