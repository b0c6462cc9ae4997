/** Titles of a receipt's checks, and the verdict in one sentence. */
import type { Check, CheckName, ExecutionFacts } from '../../../sdk/receipt/verify.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import type { Tone } from '../../parts/ui.tsx';
import { formatAmount } from '../../parts/values.tsx';

export interface CheckWords {
  title: string;
  /** The meaning of a passed check. */
  about: string;
}

export const CHECK_WORDS: Record<CheckName, CheckWords> = {
  shape: { title: 'The receipt is complete', about: 'Every field is present and has the right format.' },
  result_hash: { title: 'The result is unchanged', about: 'The hash of the result equals the hash in the receipt.' },
  signature: {
    title: 'The result is signed',
    about: 'The key in the receipt signed that hash.',
  },
  request_hash: {
    title: 'The request is unchanged',
    about: 'The hash of task and parameters equals the request hash.',
  },
  execution_signature: {
    title: 'This execution is signed',
    about: 'A second signature ties the result to the request and to the execution.',
  },
  genesis_hash: {
    title: 'The node is on the right chain',
    about: 'Its genesis hash equals the one in the receipt.',
  },
  program: {
    title: 'The record is the marketplace’s',
    about: 'Its address is the program’s, and the program owns the account.',
  },
  record: { title: 'The record on the chain matches', about: 'The data of this execution on the chain are the same.' },
  signing_key: { title: 'The key is the agent’s', about: 'The listing has it, or had it when the escrow was opened.' },
  opening: {
    title: 'The price went into escrow',
    about: 'The first transaction opened the escrow for this request and agent.',
  },
  settlement: {
    title: 'The shares were paid',
    about: 'The last transaction paid creator and marketplace their exact shares.',
  },
};

const REFUND_WORDS: CheckWords = {
  title: 'The price was refunded',
  about: 'The last transaction gave everything in the escrow back to the wallet that paid.',
};

/** The texts of a check. A refunded execution has a last transaction, but it pays no shares. */
export const wordsOf = (name: CheckName, facts: ExecutionFacts | null): CheckWords =>
  name === 'settlement' && facts?.refund ? REFUND_WORDS : CHECK_WORDS[name];

/** Checks that need only the receipt, not the node. */
const BY_ITSELF: readonly CheckName[] = ['result_hash', 'signature'];

export interface Verdict {
  tone: Tone;
  title: string;
  about: string;
}

const list = (checks: readonly Check[]): string => checks.map(({ name }) => `“${CHECK_WORDS[name].title}”`).join(', ');

/** The verdict in one sentence, then the checks that were not made. */
export function verdictOf(checks: readonly Check[], facts: ExecutionFacts | null): Verdict {
  const failed = checks.filter(({ state }) => state === 'failed');
  const open = checks.filter(({ state }) => state === 'not_checked');
  const count = `${checks.length - open.length} of ${checks.length} checks were done.`;
  if (failed.length > 0) {
    const which = failed.length === 1 ? 'One check' : `${failed.length} checks`;
    return { tone: 'bad', title: 'This is not valid', about: `${which} failed: ${list(failed)}. ${count}` };
  }
  if (facts?.refund) {
    const back = `${formatAmount(toUsdc(facts.refund.amount))} went back to the wallet that paid.`;
    return { tone: 'good', title: 'Refunded in full', about: `${back} Solana confirms it. ${count}` };
  }
  const isSigned = BY_ITSELF.every((name) => checks.some((check) => check.name === name && check.state === 'passed'));
  const isRecorded = checks.some(({ name, state }) => name === 'record' && state === 'passed');
  const isPaid = checks.some(({ name, state }) => name === 'settlement' && state === 'passed');
  if (isSigned && isRecorded && isPaid) {
    const rest = open.length > 0 ? ` Not checked: ${list(open)}.` : '';
    const later = facts?.dispute === 'upheld' ? ' Its caller was refunded after a dispute.' : '';
    return {
      tone: 'good',
      title: 'This receipt is valid',
      about: `The agent signed this result, the chain recorded it, and its price was paid out.${later} ${count}${rest}`,
    };
  }
  if (isSigned) {
    return {
      tone: 'warn',
      title: 'The signature is valid, but the chain is not fully checked',
      about: `No check failed. Only the chain can show who owns the key and that the price was paid. ${count}`,
    };
  }
  if (facts?.status === 'open') {
    return {
      tone: 'warn',
      title: 'It has not ended yet',
      about: `The price is in escrow on Solana: neither paid out nor refunded. ${count}`,
    };
  }
  if (isRecorded || isPaid) {
    return {
      tone: 'warn',
      title: 'The record on the chain is consistent',
      about: `To check the result and its signature too, drop a receipt here. ${count}`,
    };
  }
  return {
    tone: 'warn',
    title: 'Nothing could be confirmed',
    about: `No check failed, but the data for the checks were missing. ${count} Each check says why.`,
  };
}
