// A repeated request is one execution. The Idempotency-Key decides the execution's id together with the wallet, so the
// journal's primary key lets one request in, and the program one open, whatever was lost on our side. What the first
// request was answered at the end is kept for a day byte for byte, and after that written anew from the journal.

import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { parseAddress } from '../../sdk/program/program.ts';
import { deriveExecutionId, formatUuid, requestHash } from '../../sdk/receipt/receipt.ts';
import type { RequestIssue } from '../../sdk/wire/errorCodes.ts';
import type { RelayDeps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { invalid, show } from '../parse.ts';
import { getExecution } from './records.ts';
import { REPEATS, standingOf } from './repeats.ts';

/** How long an answer is kept as it was given. */
export const KEPT_MS = 24 * 60 * 60 * 1_000;
/** When a request that repeats one in progress may come again. */
const RETRY_SECONDS = 1;

/** A request as what makes it the same as another one. */
export interface Repeatable {
  executionId: string;
  wallet: string;
  /** The agent's listing. */
  listing: string;
  /** SHA-256 of agent and canonical body in hex; null where the id alone names the request. */
  fingerprint: string | null;
  /** Of task and parameters, hex, as the record has it. */
  requestHash: string;
  async: boolean;
}

/** An answer in its bytes. */
export interface KeptAnswer {
  status: number;
  body: Buffer;
}

/** An answer as it was just made; `isFinal` where it tells how the execution ended. */
export interface MadeAnswer extends KeptAnswer {
  headers: Record<string, string>;
  isFinal: boolean;
}

/** What a call is answered that came before: while it runs, or by how it ended. */
export type Earlier = { kind: 'pending' } | { kind: 'ended'; answer: KeptAnswer | MadeAnswer };

type AnswerDeps = Pick<RelayDeps, 'ledger' | 'views' | 'documents' | 'explorerQuery' | 'baseUrl' | 'now'>;

/** The header's value; null without one. Throws ApiError 400 unless it is 1 to 255 visible ASCII characters. */
export function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const key = String(header);
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  const expected = 'must be 1 to 255 visible ASCII characters';
  const issue: RequestIssue = { in: 'header', path: 'Idempotency-Key', expected, got: show(key) };
  throw invalid(`The header "Idempotency-Key" ${expected}`, issue);
}

/** The nonce of the open, 16 bytes. */
export function nonceOf(key: string): Buffer {
  return createHash('sha256').update(key, 'ascii').digest().subarray(0, 16);
}

/** What a request with this key and body (as it was parsed, before defaults) is known by. */
export function repeatableOf(
  wallet: string,
  listing: string,
  key: string,
  body: Record<string, unknown>,
): Repeatable & { fingerprint: string; nonce: Buffer } {
  const nonce = nonceOf(key);
  const { task, parameters } = body;
  const isPlain = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters);
  return {
    executionId: formatUuid(deriveExecutionId(parseAddress(wallet).toBytes(), nonce)),
    wallet,
    listing,
    nonce,
    fingerprint: createHash('sha256')
      .update(`${listing}\n${canonicalize(body)}`)
      .digest('hex'),
    requestHash: typeof task === 'string' ? hex(requestHash(task, isPlain ? parameters : {})) : '',
    async: body.async === true,
  };
}

/**
 * What the table of repeats says to this request; null where it is to run. `make` writes how the execution ended. Throws
 * ApiError: 422 where it was another request, 409 where it has to wait, 410 where its result is lost.
 */
export async function findAnswer(
  deps: AnswerDeps,
  request: Repeatable,
  make: () => Promise<MadeAnswer>,
): Promise<Earlier | null> {
  const { executionId } = request;
  const row = await deps.ledger
    .selectFrom('executions')
    .select(['state', 'refund_state', 'fingerprint', 'listing', 'request_hash'])
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  const answer = row ? REPEATS[standingOf(row)][request.async ? 'async' : 'sync'] : 'run';
  if (!row || answer === 'run') return null;
  const isSame =
    row.fingerprint !== null && request.fingerprint !== null
      ? row.fingerprint === request.fingerprint
      : row.listing === request.listing && row.request_hash === request.requestHash;
  if (!isSame) throw reused(executionId);
  if (answer === 'wait') throw inProgress(executionId);
  if (answer === 'pending') return { kind: 'pending' };
  const kept = await readKept(deps, executionId);
  return { kind: 'ended', answer: kept ?? (await keepIfEnded(deps, executionId, await make())) };
}

/**
 * Where the journal was lost, the record decides: refuses a request whose execution the index knows, in the words of its
 * end. Nothing is charged again whatever it says: where the index is behind, the record itself stops the open.
 */
export async function refuseByRecord(deps: AnswerDeps, request: Repeatable): Promise<void> {
  const { executionId, wallet } = request;
  const record = await deps.views
    .selectFrom('chain.executions')
    .select(['listing', 'request_hash', 'closed'])
    .where('execution_id', '=', executionId)
    .where('caller', '=', wallet)
    .executeTakeFirst();
  // A closed record is gone: its id is free again, and its money is back.
  if (!record || record.closed === 1n) return;
  if (record.listing !== request.listing || record.request_hash !== request.requestHash) throw reused(executionId);
  const execution = await getExecution(deps, wallet, executionId);
  if (execution.error)
    throw new ApiError(execution.error.code as 'execution_failed', execution.error.message, { executionId });
  if (execution.status === 'pending' || execution.status === 'running') throw inProgress(executionId);
  throw lostResult(executionId);
}

/** An answer as it was made; where the execution has ended, the one that all later ones are given too. */
export async function keepIfEnded(
  deps: AnswerDeps,
  executionId: string,
  answer: MadeAnswer,
): Promise<KeptAnswer | MadeAnswer> {
  if (!answer.isFinal) return answer;
  const row = await deps.ledger
    .selectFrom('executions')
    .select(['state', 'refund_state'])
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  return row && standingOf(row) === 'ended' ? keepAnswer(deps, executionId, answer) : answer;
}

async function keepAnswer(deps: AnswerDeps, executionId: string, answer: KeptAnswer): Promise<KeptAnswer> {
  const now = deps.now();
  await deps.ledger
    .deleteFrom('answers')
    .where('answered_ms', '<', BigInt(now - KEPT_MS))
    .execute();
  const kept = await deps.ledger
    .insertInto('answers')
    .values({
      execution_id: executionId,
      status: BigInt(answer.status),
      body: answer.body,
      answered_ms: BigInt(now),
    })
    .onConflict((conflict) => conflict.column('execution_id').doNothing())
    .executeTakeFirst();
  return kept.numInsertedOrUpdatedRows === 1n ? answer : ((await readKept(deps, executionId)) ?? answer);
}

async function readKept(deps: AnswerDeps, executionId: string): Promise<KeptAnswer | null> {
  const row = await deps.ledger
    .selectFrom('answers')
    .select(['status', 'body'])
    .where('execution_id', '=', executionId)
    .where('answered_ms', '>=', BigInt(deps.now() - KEPT_MS))
    .executeTakeFirst();
  return row ? { status: Number(row.status), body: row.body } : null;
}

/** 409 for a request whose first one has not ended. */
export function inProgress(executionId: string): ApiError {
  return new ApiError('request_in_progress', 'This request came before and has not ended', {
    executionId,
    retryAfterSeconds: RETRY_SECONDS,
  });
}

/** 422 for a key that came with another request. */
export function reused(executionId: string): ApiError {
  return new ApiError('idempotency_key_reused', 'This Idempotency-Key came before with another agent or body', {
    executionId,
  });
}

/** 410 for what was paid and whose result is not here. */
export function lostResult(executionId: string): ApiError {
  const message = 'This execution is completed and paid, and its result is not here any more';
  return new ApiError('result_unavailable', message, { executionId });
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
