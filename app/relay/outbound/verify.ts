/** Judges a creator's answer by the SDK's rules. Long answers are judged outside the main thread. */
import { type Expected, type Judgement, judgeNow as judgeBySdk } from '../../sdk/creator/judge.ts';
import { PROGRAM_ID } from '../../sdk/program/program.ts';
import { type Body, lengthOf } from '../longBytes.ts';
import { type Ask, bytesInThread } from '../workers.ts';

/** Up to this size an answer is judged in the main thread: 3 ms at worst. */
const SMALL_ANSWER = 8 * 1024;

const judgeInThread = bytesInThread(import.meta.url, judgeNow);

/**
 * Judges the body of an answer. Large answers are judged in threads: those of paid executions in another one than those
 * with `ask`.
 */
export async function judgeAnswer(body: Body, expected: Expected, ask?: Ask): Promise<Judgement> {
  const isSmall = lengthOf(body) <= SMALL_ANSWER;
  return isSmall ? judgeNow(Buffer.concat(body), expected) : judgeInThread(body, expected, ask);
}

export function judgeNow(bytes: Uint8Array, expected: Expected): Judgement {
  return judgeBySdk(bytes, { programId: PROGRAM_ID.toBase58(), ...expected });
}
