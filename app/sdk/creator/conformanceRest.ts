/** The judgements of the checks that follow a good first answer. */
import { type ConformanceTarget, type ConformanceTools, describe, type Exchange, judge } from './conformanceCalls.ts';
import type { TestAnswer } from './testPost.ts';

/** Allowed extra time of the first answer, and the longest work whose repeat is not timed. */
export const SLOW_START_MS = 2_000;
const TIMED_WORK_MS = 1_000;

type Verdict = [ok: boolean, detail: string];

export function judgeRepeat(first: Exchange, repeat: Exchange): Verdict {
  const [before, after] = [signedPart(first.answer), signedPart(repeat.answer)];
  if (after === null) return [false, describe(repeat.answer)];
  if (before !== after) return [false, 'the status, result, result_hash or signature differs from the first answer'];
  const same = 'the same answer';
  if (first.ms < TIMED_WORK_MS) return [true, `${same}; too fast to tell whether the repeat did the work again`];
  const isDoneAgain = repeat.ms > first.ms / 2;
  const times = `the first took ${Math.round(first.ms)} ms, the repeat ${Math.round(repeat.ms)} ms`;
  return [!isDoneAgain, isDoneAgain ? `${same}, but ${times}: the work was done again` : `${same}; ${times}`];
}

export function judgeDeadline(exchange: Exchange, kind: string): Verdict {
  if (exchange.answer.kind === 'late') return [false, `no answer within ${exchange.timeoutSeconds} s`];
  const isAnswered = kind === 'completed' || kind === 'failed';
  return [isAnswered, isAnswered ? `"${kind}" after ${Math.round(exchange.ms)} ms` : describe(exchange.answer)];
}

export function judgeStart(first: Exchange, laterMs: number | null): Verdict {
  const took = `the first answer took ${Math.round(first.ms)} ms`;
  if (first.attempts > 1)
    return [false, `${took}, after ${first.attempts - 1} answers with 502, 503 or 504: the server was not ready`];
  if (laterMs === null) return [true, `${took}; no later answer to compare with`];
  return [first.ms - laterMs <= SLOW_START_MS, `${took}, a later answer ${Math.round(laterMs)} ms`];
}

/** Judges a call that names a key which no server has. Its result could never be paid. */
export async function judgeFailure(
  tools: ConformanceTools,
  target: ConformanceTarget,
  exchange: Exchange,
): Promise<Verdict> {
  const { answer } = exchange;
  if (answer.kind !== 'answer') return [false, describe(answer)];
  if (answer.status >= 400) {
    return [true, `HTTP ${answer.status}, which is refunded too; "failed" with an error would tell the caller why`];
  }
  if (answer.status !== 200 || answer.isTooLong) return [false, describe(answer)];
  const { verdict, isCompleted } = await judge(tools, target, exchange, answer);
  if (verdict.kind === 'failed') return [true, `failed: ${verdict.message}`];
  if (isCompleted) {
    return [
      false,
      '"completed", but not signed with the key that marketplace-signing-key names: such a result is never paid',
    ];
  }
  return [false, verdict.kind === 'invalid' ? verdict.message : describe(answer)];
}

export function judgeRefusal(answer: TestAnswer): Verdict {
  const isRefused = answer.kind === 'answer' && answer.status >= 400 && answer.status < 500;
  if (isRefused) return [true, `HTTP ${answer.status}`];
  const isTaken = answer.kind === 'answer' && answer.status < 300;
  return [false, isTaken ? `HTTP ${answer.status}: the server accepted the request` : describe(answer)];
}

/** The part of an answer that is the same in a repeat; null if the answer has none. */
function signedPart(answer: TestAnswer): string | null {
  if (answer.kind !== 'answer' || answer.status !== 200 || answer.isTooLong) return null;
  try {
    const { status, result, result_hash, signature } = JSON.parse(Buffer.concat(answer.body).toString('utf8'));
    return JSON.stringify([status, result, result_hash, signature]);
  } catch {
    return null;
  }
}
