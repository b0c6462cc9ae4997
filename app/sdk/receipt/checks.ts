/** What checking a receipt finds: one check after the other, each with everything that it compared, and where from. */

/** In the order in which they are made. The first five need no network. */
export const CHECKS = [
  'shape',
  'result_hash',
  'signature',
  'request_hash',
  'execution_signature',
  'genesis_hash',
  'program',
  'record',
  'signing_key',
  'opening',
  'settlement',
] as const;
export type CheckName = (typeof CHECKS)[number];

export interface Comparison {
  what: string;
  /** What was found. */
  got: string;
  /** What the receipt says, or what has to be. */
  expected: string;
}

export interface Check {
  name: CheckName;
  /** `not_checked` says nothing of the receipt: something that it takes was not there, and `reason` says what. */
  state: 'passed' | 'failed' | 'not_checked';
  compared: Comparison[];
  /** `receipt`, or the URL of the node that was asked. */
  source: string;
  /** Why it was not checked, or what it leaves open; else null. */
  reason: string | null;
}

/** A check in the making. */
export function startCheck(name: CheckName, source: string) {
  const compared: Comparison[] = [];
  const reasons: string[] = [];
  let isOpen = false;
  return {
    /** Nothing is compared where nothing is expected. */
    equal(what: string, got: string, expected: string | undefined): void {
      if (expected !== undefined) compared.push({ what, got, expected });
    },
    /** Something that has to be known is not: unless another comparison fails, the check is not made. */
    lacks(reason: string): void {
      isOpen = true;
      reasons.push(reason);
    },
    /** Something that it can do without. */
    notes(reason: string): void {
      reasons.push(reason);
    },
    end(): Check {
      const isWrong = compared.some(({ got, expected }) => got !== expected);
      const state = isWrong ? 'failed' : isOpen || compared.length === 0 ? 'not_checked' : 'passed';
      return { name, state, compared, source, reason: reasons.length > 0 ? reasons.join(' ') : null };
    },
  };
}
export type OpenCheck = ReturnType<typeof startCheck>;

/** A check that could not even begin. */
export function notChecked(name: CheckName, source: string, reason: string): Check {
  return { name, state: 'not_checked', compared: [], source, reason };
}
