/**
 * Makes a request and its repeats one execution. The Idempotency-Key and the wallet decide the execution's id. The
 * journal's primary key therefore admits one request, and the program admits one open, even after we lose data.
 */
import { createHash } from 'node:crypto';
import { parseAddress } from '../../sdk/program/program.ts';
import { createNonce, deriveExecutionId, formatUuid } from '../../sdk/receipt/receipt.ts';
import type { RequestIssue } from '../../sdk/wire/errorCodes.ts';
import { invalid, show } from '../parse.ts';
import type { BodyIdentity } from './body.ts';

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

/** 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** The header's value; null without one. Throws ApiError 400 unless it is 1 to 255 visible ASCII characters. */
export function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const key = String(header);
  if (IDEMPOTENCY_KEY.test(key)) return key;
  const expected = 'must be 1 to 255 visible ASCII characters';
  const issue: RequestIssue = { in: 'header', path: 'Idempotency-Key', expected, got: show(key) };
  throw invalid(`The header "Idempotency-Key" ${expected}`, issue);
}

/** The nonce of an open on this day, 16 bytes. */
export function nonceOf(key: string, day: number): Buffer {
  const tail = createHash('sha256').update(key, 'ascii').digest().subarray(0, 12);
  return Buffer.from(createNonce(day, tail));
}

/** The identity of a request with this key and body on this day. */
export function repeatableOf(
  wallet: string,
  listing: string,
  key: string,
  identity: BodyIdentity,
  day: number,
): Repeatable & { fingerprint: string; nonce: Buffer } {
  const nonce = nonceOf(key, day);
  const executionId = formatUuid(deriveExecutionId(parseAddress(wallet).toBytes(), nonce));
  return { executionId, wallet, listing, nonce, ...identity };
}
