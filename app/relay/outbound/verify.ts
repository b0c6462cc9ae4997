/** Judges a creator's answer as the SDK does, and long ones outside the main thread. */
import { type Expected, type Judgement, judgeNow as judgeAlone } from '../../sdk/creator/judge.ts';
import { PROGRAM_ID } from '../../sdk/program/program.ts';
import { type Body, lengthOf } from '../longBytes.ts';
import { type Ask, bytesInThread } from '../workers.ts';

/** Up to this size an answer is judged in the main thread: 3 ms at worst. */
const SMALL_ANSWER = 8 * 1024;

const judgeInThread = bytesInThread(import.meta.url, judgeNow);

/**
 * Judges the body of an answer. Large ones are judged outside the main thread: those of paid executions apart from those
 * that are judged for `ask`.
 */
export async function judgeAnswer(body: Body, expected: Expected, ask?: Ask): Promise<Judgement> {
  const isSmall = lengthOf(body) <= SMALL_ANSWER;
  return isSmall ? judgeNow(Buffer.concat(body), expected) : judgeInThread(body, expected, ask);
}

export function judgeNow(bytes: Uint8Array, expected: Expected): Judgement {
  return judgeAlone(bytes, { programId: PROGRAM_ID.toBase58(), ...expected });
}
