/** Receipt checks with plain types, so that their package needs no other package. */
import type { Check, CheckName } from '../receipt/checks.ts';
import * as receipts from '../receipt/verify.ts';
import type { ExecutionArchive } from './types.ts';

export interface VerifyOptions {
  /** JSON-RPC URL of a Solana node that you trust more than the sender of the receipt; null for no network. */
  rpcUrl: string | null;
  /** Default: the platform's `fetch`. */
  fetch?: typeof fetch;
  /** Called with each check as soon as it is made. */
  onCheck?: (check: Check) => void;
  /** Returns the proof of an archived execution. Called if the receipt has no proof, or one of an outdated root. */
  findArchive?: (executionId: string) => Promise<ExecutionArchive | null>;
  /** The execution that the receipt must be of, if you asked for it by its id. */
  executionId?: string | undefined;
}

/** Checks a receipt, which may be any value. Returns every check; never throws for a bad receipt. */
export function verifyReceipt(receipt: unknown, options: VerifyOptions): Promise<Check[]> {
  return receipts.verifyReceipt(receipt, options);
}

/** Checks the record, transactions and money of an execution by its id alone, also of a refunded one. */
export function verifyExecution(executionId: string, options: VerifyOptions): Promise<Check[]> {
  return receipts.verifyExecution(executionId, options);
}

/** The checks that a proof needs. */
const NEEDED: readonly CheckName[] = ['signature', 'genesis_hash', 'program', 'record', 'settlement'];

/** True if no check of a receipt failed, and the chain itself shows that the price was paid for this result. */
export function isProven(checks: readonly Check[]): boolean {
  const passed = checks.filter(({ state }) => state === 'passed').map(({ name }) => name);
  return checks.every(({ state }) => state !== 'failed') && NEEDED.every((name) => passed.includes(name));
}
