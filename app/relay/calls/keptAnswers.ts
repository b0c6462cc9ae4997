/**
 * Keeps the final answer of an execution for a day, byte for byte, so that every repeat gets the same. Later it is
 * rendered again from the journal. A long result is not stored twice: it is inserted again at its place.
 */
import type { Kysely } from 'kysely';
import { lostResult, standingOf } from '../execution/standing.ts';
import { quoteText } from '../json.ts';
import { dropAnswers, insertAnswer, readAnswer } from '../ledger/answers.ts';
import { readStanding } from '../ledger/executions.ts';
import { readStored } from '../ledger/results.ts';
import type { LedgerTables } from '../ledger/tables.ts';
import { type Body, lengthOf } from '../longBytes.ts';
import type { ReadText } from '../outbound/resultObjects.ts';

/** How long an answer is kept byte for byte. */
const KEPT_MS = 24 * 60 * 60 * 1_000;
/** A longer result is not stored twice. */
const LONG_BYTES = 256 * 1024;

/** An answer in its bytes. */
export interface KeptAnswer {
  status: number;
  body: Body;
  /** The part of the body with the result in JSON, if any. */
  result?: Uint8Array;
}

export interface KeptAnswersDeps {
  ledger: Kysely<LedgerTables>;
  readText: ReadText;
  /** Unix milliseconds. */
  now(): number;
}

/**
 * Keeps a final answer once its execution has ended. Returns the answer for all later requests, because another one may
 * have been kept first.
 */
export async function keepIfEnded<Answer extends KeptAnswer>(
  deps: KeptAnswersDeps,
  executionId: string,
  answer: Answer,
): Promise<Answer | KeptAnswer> {
  const row = await readStanding(deps.ledger, executionId);
  return row && standingOf(row) === 'ended' ? keepAnswer(deps, { ...row, executionId }, answer) : answer;
}

async function keepAnswer<Answer extends KeptAnswer>(
  deps: KeptAnswersDeps,
  { executionId, wallet }: { executionId: string; wallet: string },
  answer: Answer,
): Promise<Answer | KeptAnswer> {
  const now = deps.now();
  await dropAnswers(deps.ledger, now - KEPT_MS);
  const isFirst = await insertAnswer(deps.ledger, {
    executionId,
    status: answer.status,
    ...withoutLong(answer),
    answeredMs: now,
  });
  return isFirst ? answer : ((await readKept(deps, executionId, wallet)) ?? answer);
}

function withoutLong({ body, result }: KeptAnswer): { body: Buffer; resultAt: number | null } {
  if (!result || result.length <= LONG_BYTES) return { body: Buffer.concat(body), resultAt: null };
  const place = body.indexOf(result);
  const resultAt = lengthOf(body.slice(0, place));
  return { body: Buffer.concat(body.toSpliced(place, 1)), resultAt };
}

/**
 * The kept answer of an execution; null if there is none of the last day. Throws ApiError if its result is no longer
 * kept, or cannot be read.
 */
export async function readKept(deps: KeptAnswersDeps, executionId: string, wallet: string): Promise<KeptAnswer | null> {
  const row = await readAnswer(deps.ledger, executionId, deps.now() - KEPT_MS);
  if (!row) return null;
  const { body, result_at: resultAt } = row;
  const status = Number(row.status);
  if (resultAt === null) return { status, body: [body] };
  const stored = await readStored(deps.ledger, executionId);
  const text = stored ? await deps.readText(stored) : null;
  if (!text) throw lostResult(executionId);
  const [head, tail] = [body.subarray(0, Number(resultAt)), body.subarray(Number(resultAt))];
  return { status, body: [head, await quoteText(text, wallet), tail] };
}
