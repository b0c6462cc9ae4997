/**
 * Makes a request and its repeats one execution. The last 12 bytes of an open's nonce follow from the Idempotency-Key.
 * The ledger admits one execution with them for each wallet. Together with a half-hour they make an execution's id, so
 * the chain shows the executions of a key even after we lose data.
 */
import { createHash } from 'node:crypto';
import { parseAddress } from '../../sdk/program/program.ts';
import { createNonce, deriveExecutionId, formatUuid, nonceHalfHour } from '../../sdk/receipt/receipt.ts';
import { IDEMPOTENCY_KEY } from '../../sdk/wire/choices.ts';
import type { RequestIssue } from '../../sdk/wire/errorDetails.ts';
import { invalid, show } from '../parse.ts';

/** The identity of a request. */
export interface Repeatable {
  executionId: string;
  wallet: string;
  /** The agent's listing. */
  listing: string;
  /** SHA-256 of agent and canonical body in hex; null if the id alone identifies the request. */
  fingerprint: string | null;
  /** SHA-256 of task and parameters, hex, as in the record. */
  requestHash: string;
  async: boolean;
}

/** The present half-hour and those of the 24 hours before. */
const HALF_HOURS = 49;

/** The header's value; null without one. Throws ApiError 400 unless it is 1 to 255 visible ASCII characters. */
export function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const key = String(header);
  if (IDEMPOTENCY_KEY.test(key)) return key;
  const expected = 'must be 1 to 255 visible ASCII characters';
  const issue: RequestIssue = { in: 'header', path: 'Idempotency-Key', expected, got: show(key) };
  throw invalid(`The header "Idempotency-Key" ${expected}`, issue);
}

/** A request with an Idempotency-Key, before its execution is known. */
export interface Keyed extends Omit<Repeatable, 'executionId'> {
  fingerprint: string;
  /** The last 12 bytes of the nonce. */
  tail: Buffer;
}

/** The last 12 bytes of a nonce. */
export function tailOf(key: string): Buffer {
  return createHash('sha256').update(key, 'ascii').digest().subarray(0, 12);
}

/** The id of a wallet's execution with this tail, opened with a nonce of this half-hour. */
export function idOf(wallet: string, tail: Uint8Array, halfHour: number): string {
  return formatUuid(deriveExecutionId(parseAddress(wallet).toBytes(), createNonce(halfHour, tail)));
}

/** The ids that an execution of this tail can have if it was opened in the 24 hours before `now`, unix seconds. */
export function idsOfDay(wallet: string, tail: Uint8Array, now: bigint): string[] {
  const present = nonceHalfHour(now);
  return Array.from({ length: HALF_HOURS }, (_, ago) => idOf(wallet, tail, present - ago));
}
