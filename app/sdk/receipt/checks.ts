/** The result of checking a receipt: a list of checks, each with the compared values and their source. */

/** In the order of the checks. The first five need no network. */
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
  /** The value found. */
  got: string;
  /** The value of the receipt, or the required value. */
  expected: string;
}

export interface Check {
  name: CheckName;
  /** `not_checked` says nothing about the receipt: data for the check was missing. `reason` names the data. */
  state: 'passed' | 'failed' | 'not_checked';
  compared: Comparison[];
  /** `receipt`, or the URL of the node asked. */
  source: string;
  /** Why the check was not made, or what it does not prove; else null. */
  reason: string | null;
}

/** Collects the comparisons of one check. */
export function startCheck(name: CheckName, source: string) {
  const compared: Comparison[] = [];
  const reasons: string[] = [];
  let isOpen = false;
  return {
    /** Adds no comparison if `expected` is undefined. */
    equal(what: string, got: string, expected: string | undefined): void {
      if (expected !== undefined) compared.push({ what, got, expected });
    },
    /** A value that the check needs is missing. Unless a comparison fails, the check counts as not made. */
    lacks(reason: string): void {
      isOpen = true;
      reasons.push(reason);
    },
    /** A value that the check does not need is missing. */
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

/** A check that could not start. */
export function notChecked(name: CheckName, source: string, reason: string): Check {
  return { name, state: 'not_checked', compared: [], source, reason };
}
