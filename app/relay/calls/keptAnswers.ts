/**
 * What a request was answered at the end of its execution, kept for a day byte for byte, so that every repeat of it is
 * given the same; after that it is written once more from the journal.
 */
import type { Kysely } from 'kysely';
import { standingOf } from '../execution/standing.ts';
import { dropAnswers, insertAnswer, readAnswer } from '../ledger/answers.ts';
import { readStanding } from '../ledger/executions.ts';
import type { LedgerTables } from '../ledger/tables.ts';

/** How long an answer is kept as it was given. */
export const KEPT_MS = 24 * 60 * 60 * 1_000;

/** An answer in its bytes. */
export interface KeptAnswer {
  status: number;
  body: Buffer;
}

export interface KeptAnswersDeps {
  ledger: Kysely<LedgerTables>;
  /** Unix milliseconds. */
  now(): number;
}

/**
 * Keeps a final answer once its execution has ended, and returns the one that all later requests are given too: another
 * may have been kept first.
 */
export async function keepIfEnded<Answer extends KeptAnswer>(
  deps: KeptAnswersDeps,
  executionId: string,
  answer: Answer,
): Promise<Answer | KeptAnswer> {
  const row = await readStanding(deps.ledger, executionId);
  return row && standingOf(row) === 'ended' ? keepAnswer(deps, executionId, answer) : answer;
}

async function keepAnswer<Answer extends KeptAnswer>(
  deps: KeptAnswersDeps,
  executionId: string,
  answer: Answer,
): Promise<Answer | KeptAnswer> {
  const now = deps.now();
  await dropAnswers(deps.ledger, now - KEPT_MS);
  const isFirst = await insertAnswer(deps.ledger, {
    executionId,
    status: answer.status,
    body: answer.body,
    answeredMs: now,
  });
  return isFirst ? answer : ((await readKept(deps, executionId)) ?? answer);
}

/** The answer that was kept for an execution; null where there is none of the last day. */
export async function readKept(deps: KeptAnswersDeps, executionId: string): Promise<KeptAnswer | null> {
  const row = await readAnswer(deps.ledger, executionId, deps.now() - KEPT_MS);
  return row ? { status: Number(row.status), body: row.body } : null;
}
