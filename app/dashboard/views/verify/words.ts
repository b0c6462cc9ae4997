/** What the checks of a receipt are called here, and what they come to in one sentence. */
import type { Check, CheckName } from '../../../sdk/receipt/verify.ts';
import type { Tone } from '../../parts/ui.tsx';

export interface CheckWords {
  title: string;
  /** What it means that it passed. */
  about: string;
}

export const CHECK_WORDS: Record<CheckName, CheckWords> = {
  shape: { title: 'The receipt is whole', about: 'Every field that a receipt has is there and has its form.' },
  result_hash: { title: 'The result is unchanged', about: 'Hashing the result gives the hash that the receipt names.' },
  signature: {
    title: 'The result is signed',
    about: 'The signature over that hash is of the key that the receipt names.',
  },
  request_hash: {
    title: 'The request is unchanged',
    about: 'Hashing task and parameters gives what was committed to.',
  },
  execution_signature: {
    title: 'This very execution is signed',
    about: 'A second signature ties the result to the request and to the execution.',
  },
  genesis_hash: {
    title: 'The node is on the right chain',
    about: 'Its first block is the one that the receipt names.',
  },
  program: { title: 'The record is the marketplace’s', about: 'Its address and its owner are the program’s own.' },
  record: { title: 'The record on the chain agrees', about: 'Whatever the chain has of this execution says the same.' },
  signing_key: { title: 'The key is the agent’s', about: 'The listing has it, or had it when the price was paid in.' },
  opening: { title: 'The price went into escrow', about: 'The first transaction opened this request at this agent.' },
  settlement: {
    title: 'The shares were paid',
    about: 'The last transaction paid creator and marketplace to the unit.',
  },
};

/** Those that a receipt shows by itself, whoever is asked. */
const BY_ITSELF: readonly CheckName[] = ['result_hash', 'signature'];

export interface Verdict {
  tone: Tone;
  title: string;
  about: string;
}

const list = (checks: readonly Check[]): string => checks.map(({ name }) => `“${CHECK_WORDS[name].title}”`).join(', ');

/** Everything in one sentence, and what it leaves open in the next. */
export function verdictOf(checks: readonly Check[]): Verdict {
  const failed = checks.filter(({ state }) => state === 'failed');
  const open = checks.filter(({ state }) => state === 'not_checked');
  const count = `${checks.length - open.length} of ${checks.length} checks were made.`;
  if (failed.length > 0) {
    const which = failed.length === 1 ? 'One check' : `${failed.length} checks`;
    return { tone: 'bad', title: 'This does not hold', about: `${which} failed: ${list(failed)}. ${count}` };
  }
  const isSigned = BY_ITSELF.every((name) => checks.some((check) => check.name === name && check.state === 'passed'));
  const isRecorded = checks.some(({ name, state }) => name === 'record' && state === 'passed');
  const isPaid = checks.some(({ name, state }) => name === 'settlement' && state === 'passed');
  if (isSigned && isRecorded && isPaid) {
    const rest = open.length > 0 ? ` Not checked: ${list(open)}.` : '';
    return {
      tone: 'good',
      title: 'This receipt holds',
      about: `The agent signed this result, the chain recorded it, and its price was paid out. ${count}${rest}`,
    };
  }
  if (isSigned) {
    return {
      tone: 'warn',
      title: 'The signature holds, but the chain is not fully checked',
      about: `Nothing contradicts this receipt. Whose key signed it, and that it was paid, only the chain can show. ${count}`,
    };
  }
  if (isRecorded || isPaid) {
    return {
      tone: 'warn',
      title: 'The chain’s own account of it fits together',
      about: `Result and signature are for a receipt to show, so drop one here to check them. ${count}`,
    };
  }
  return {
    tone: 'warn',
    title: 'Nothing could be confirmed',
    about: `Nothing contradicts it either: what it takes was not there. ${count} Each says why.`,
  };
}
