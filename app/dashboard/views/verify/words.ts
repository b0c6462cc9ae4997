/** Titles of a receipt's checks, and the verdict in one sentence. */
import type { Check, CheckName, ExecutionFacts } from '../../../sdk/receipt/verify.ts';
import type { Tone } from '../../parts/ui.tsx';
import { formatUnits } from '../../parts/values.tsx';

interface CheckWords {
  title: string;
  /** The meaning of a passed check. */
  about: string;
  /** The verdict, and the title of the check, if it fails. */
  failure: string;
}

export const CHECK_WORDS: Record<CheckName, CheckWords> = {
  shape: {
    title: 'The receipt is complete',
    about: 'Every field is present and has the right format.',
    failure: 'The receipt is damaged',
  },
  result_hash: {
    title: 'The result is unchanged',
    about: 'The hash of the result equals the hash in the receipt.',
    failure: 'This is not the result that was signed',
  },
  signature: {
    title: 'The result is signed',
    about: 'The key in the receipt signed that hash.',
    failure: 'The signature is not over this result',
  },
  request_hash: {
    title: 'The request is unchanged',
    about: 'The hash of task and parameters equals the request hash.',
    failure: 'The request was changed',
  },
  execution_signature: {
    title: 'This call is signed',
    about: 'A second signature ties the result to the request and to the call.',
    failure: 'The second signature is not over this call',
  },
  genesis_hash: {
    title: 'The node is on the right chain',
    about: 'Its genesis hash equals the one in the receipt.',
    failure: 'The node is on another chain',
  },
  program: {
    title: 'The record is the marketplace’s',
    about: 'Its address is the program’s, and the program owns the account.',
    failure: 'The record is not the marketplace’s',
  },
  record: {
    title: 'The record on the chain matches',
    about: 'The data of this call on the chain are the same.',
    failure: 'The record on the chain is another one',
  },
  signing_key: {
    title: 'The key is the agent’s',
    about: 'The listing has it, or had it when the escrow was opened.',
    failure: 'The key is not the agent’s',
  },
  opening: {
    title: 'The price went into escrow',
    about: 'The first transaction opened the escrow for this request and agent.',
    failure: 'The first transaction did not open this escrow',
  },
  settlement: {
    title: 'The shares were paid',
    about: 'The last transaction paid creator and marketplace their exact shares.',
    failure: 'The last transaction did not pay these shares',
  },
};

const REFUND_WORDS: CheckWords = {
  title: 'The price was refunded',
  about: 'The last transaction gave everything in the escrow back to the wallet that paid.',
  failure: 'The refund is not whole',
};

/** The texts of a check. A refunded execution has a last transaction, but it pays no shares. */
export const wordsOf = (name: CheckName, facts: ExecutionFacts | null): CheckWords =>
  name === 'settlement' && facts?.refund ? REFUND_WORDS : CHECK_WORDS[name];

/** Checks that need only the receipt, not the node. */
const BY_ITSELF: readonly CheckName[] = ['result_hash', 'signature'];
const PAYMENT: readonly CheckName[] = ['opening', 'settlement'];

/** True if both transactions of the call passed. */
const holdsOnChain = (checks: readonly Check[]): boolean =>
  PAYMENT.every((payment) => checks.some(({ name, state }) => name === payment && state === 'passed'));

/** True for a check of what a creator may leave out. It counts only if there is something to check. */
export const isLeftOut = ({ name, state }: Check): boolean => name === 'execution_signature' && state === 'not_checked';

export interface Verdict {
  tone: Tone;
  title: string;
  about: string;
}

const passedText = (count: number): string => (count === 1 ? 'One check passed' : `${count} checks passed`);

/** How many checks failed or passed, and how many could not be made. */
function countOf(checks: readonly Check[], facts: ExecutionFacts | null): string {
  const open = checks.filter((check) => check.state === 'not_checked' && !isLeftOut(check)).length;
  const passed = checks.filter(({ state }) => state === 'passed').length;
  const failed = checks.filter(({ state }) => state === 'failed').length;
  const made = failed > 0 ? `${failed} of ${failed + passed} checks failed` : passedText(passed);
  if (open > 0) return `${made}; ${open} could not be made, for the reasons below.`;
  if (failed === 0 || passed === 0) return `${made}.`;
  const isPaid = holdsOnChain(checks) && !facts?.refund;
  const others = passed === 1 ? 'The other check passed' : `The other ${passed} checks passed`;
  return `${made}. ${others}${isPaid ? ', also those of the payment' : ''}.`;
}

/** `0.2475 to the creator, 0.0025 to the marketplace`, by the check of the payment; empty if it was not made. */
function sharesOf(checks: readonly Check[]): string {
  const paid = checks.find(({ name, state }) => name === 'settlement' && state === 'passed')?.compared ?? [];
  const [creator, treasury] = ['base units to the creator', 'base units to the treasury'].map(
    (sought) => paid.find(({ what }) => what === sought)?.got,
  );
  if (creator === undefined || treasury === undefined) return '';
  const shown = (units: string) => formatUnits(BigInt(units));
  return ` ${shown(creator)} went to the creator, ${shown(treasury)} to the marketplace.`;
}

/** The verdict in one sentence, and what it rests on. `isCreator`: it is read by the agent's creator. */
export function verdictOf(checks: readonly Check[], facts: ExecutionFacts | null, isCreator = false): Verdict {
  const failed = checks.filter(({ state }) => state === 'failed');
  const count = countOf(checks, facts);
  const amount = facts?.price == null ? 'its price' : formatUnits(facts.price);
  const [first, ...others] = failed.map(({ name }) => wordsOf(name, facts).failure);
  if (first !== undefined) {
    const rest = others.length > 0 ? ` Also: ${others.join('; ')}.` : '';
    const next = failed.some(({ name }) => name === 'genesis_hash')
      ? 'Open the form of the page Verify, choose a node of the network on which the call was paid, and check it again.'
      : 'Ask the person who sent you this for the original receipt. If the call is yours, download it from the call’s page, under Activity.';
    return { tone: 'bad', title: first, about: `Do not rely on it.${rest} ${count} ${next}` };
  }
  if (facts?.isAbsent) {
    return {
      tone: 'bad',
      title: 'There is no such call on this chain',
      about:
        'The node has neither a record nor a transaction with this id. Open the form of the page Verify. Check the call ID, or choose a node of the network on which the call was paid.',
    };
  }
  if (facts?.refund) {
    const back = `${formatUnits(facts.refund.amount)} went back to the wallet that paid.`;
    return { tone: 'good', title: 'Refunded in full', about: `${back} Solana confirms it. ${count}` };
  }
  const isPassed = (name: CheckName) => checks.some((check) => check.name === name && check.state === 'passed');
  const isSigned = BY_ITSELF.every(isPassed);
  const isRecorded = isPassed('record');
  const isPaid = isPassed('settlement');
  if (isSigned && isRecorded && isPaid) {
    const later = facts?.dispute === 'upheld' ? ' Its caller was refunded after a dispute.' : '';
    return {
      tone: 'good',
      title: isCreator
        ? `Genuine: you signed exactly this result, and the price of ${amount} was paid`
        : `Genuine: the creator signed exactly this result, and ${amount} was paid`,
      about: `This does not say that the answer is right.${sharesOf(checks)}${later} ${count}`,
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
      title: 'This call has not ended yet',
      about: `${amount} is in escrow on Solana: neither paid out nor refunded. ${count}`,
    };
  }
  if (isRecorded || isPaid) {
    return {
      tone: 'good',
      title: `${amount} was paid for this call`,
      about: `Solana recorded it.${sharesOf(checks)} To check the result and its signature too, verify its receipt. ${count}`,
    };
  }
  return {
    tone: 'warn',
    title: 'Nothing could be confirmed',
    about: `No check failed, but the data for the checks were missing. ${count}`,
  };
}
