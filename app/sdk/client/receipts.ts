/** The checks of receipts with plain types, so that a package with them needs no other one. */
import type { Check, CheckName } from '../receipt/checks.ts';
import * as receipts from '../receipt/verify.ts';
import type { ExecutionArchive } from './types.ts';

export interface VerifyOptions {
  /** JSON-RPC URL of a Solana node that you trust more than the sender of the receipt; null for no network. */
  rpcUrl: string | null;
  /** Default: the platform's own. */
  fetch?: typeof fetch;
  /** Called with each check as soon as it is made. */
  onCheck?: (check: Check) => void;
  /** Returns the proof of an archived execution, if the receipt has none or one of an outdated root. */
  findArchive?: (executionId: string) => Promise<ExecutionArchive | null>;
}

/** Checks a receipt, which may be any value. Returns every check; never throws for a bad receipt. */
export function verifyReceipt(receipt: unknown, options: VerifyOptions): Promise<Check[]> {
  return receipts.verifyReceipt(receipt, options);
}

/** Checks an execution by its id alone, also one that was refunded: record, transactions and money. */
export function verifyExecution(executionId: string, options: VerifyOptions): Promise<Check[]> {
  return receipts.verifyExecution(executionId, options);
}

/** Without these nothing is proven. */
const NEEDED: readonly CheckName[] = ['signature', 'genesis_hash', 'program', 'record', 'settlement'];

/** True if no check of a receipt failed, and the chain itself shows that the price was paid out for this result. */
export function isProven(checks: readonly Check[]): boolean {
  const passed = checks.filter(({ state }) => state === 'passed').map(({ name }) => name);
  return checks.every(({ state }) => state !== 'failed') && NEEDED.every((name) => passed.includes(name));
}
