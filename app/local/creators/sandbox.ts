/**
 * The sandbox agents: their normal work, and their deliberate behaviour once listed. A misbehaviour is a pure function
 * of the request, so a repeated execution_id gets the same bytes here too.
 */

import { setTimeout as delay } from 'node:timers/promises';
import bs58 from 'bs58';
import {
  type CompletedAnswer,
  type ExecutionContext,
  ExecutionFailure,
  type ExecutionOutput,
  type ExecutionRequest,
  failedAnswer,
} from '../../sdk/creator/creator.ts';
import { hashResult, parseSignature, signResult } from '../../sdk/receipt/receipt.ts';
import type { Behaviour } from './definitions.ts';

/** An HTTP answer of a misbehaving server. */
export interface RawAnswer {
  status: number;
  body: string;
}

/** Replaces an honest server's answer by this agent's. */
export type Misbehaviour = (request: ExecutionRequest, honest: CompletedAnswer, signingKey: Uint8Array) => RawAnswer;

/** Maximum number of deltas in one answer. */
const MAX_PARTS = 50;
/** One MiB more than the marketplace reads. */
const HUGE_BYTES = 6 * 1024 * 1024;

export const misbehaviours: Partial<Record<Behaviour, Misbehaviour>> = {
  fails: ({ executionId }) => json(failedAnswer(executionId, 'sandbox-fails fails on purpose')),
  error: () => ({
    status: 500,
    body: '{"error":{"code":"internal_error","message":"sandbox-error breaks on purpose"}}',
  }),
  'bad-signature': (_, honest) => json({ ...honest, signature: withOneBitChanged(honest.signature) }),
  'wrong-hash': (_, honest, signingKey) => {
    const resultHash = hashResult(`${honest.result} (another text)`);
    return json({ ...honest, result_hash: resultHash, signature: signResult(signingKey, resultHash) });
  },
  'wrong-id': (_, honest) => json({ ...honest, execution_id: withLastDigitChanged(honest.execution_id) }),
  malformed: (_, honest) => ({ status: 200, body: JSON.stringify(honest).slice(0, -1) }),
  huge: (_, honest, signingKey) => {
    const result = 'x'.repeat(HUGE_BYTES);
    const resultHash = hashResult(result);
    return json({ ...honest, result, result_hash: resultHash, signature: signResult(signingKey, resultHash) });
  },
};

/** `sandbox-echo`, and every other sandbox agent before it is listed. */
export function echo({ task }: ExecutionRequest): ExecutionOutput {
  return { result: task };
}

/** `sandbox-slow`: the task after `parameters.seconds`, whatever the deadline; streamed word by word meanwhile. */
export async function echoSlowly(
  { task, parameters }: ExecutionRequest,
  { delta }: Pick<ExecutionContext, 'delta'>,
): Promise<ExecutionOutput> {
  const { seconds = 0 } = parameters;
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= 60)) {
    throw new ExecutionFailure('parameters.seconds must be a number from 0 to 60');
  }
  const words = task.match(/\s*\S+\s*/g) ?? [task];
  // Many words are grouped into fewer deltas, which is enough to see the progress.
  const parts = Math.min(words.length, MAX_PARTS);
  for (let part = 0; part < parts; part += 1) {
    const [from, to] = [part, part + 1].map((edge) => Math.floor((edge * words.length) / parts));
    await delay((seconds * 1000) / parts);
    await delta(words.slice(from, to).join(''));
  }
  return { result: task };
}

function json(answer: object): RawAnswer {
  return { status: 200, body: JSON.stringify(answer) };
}

/** Changes the lowest bit of S, so that the signature stays well formed and fails only its verification. */
function withOneBitChanged(signature: string): string {
  const bytes = Uint8Array.from(parseSignature(signature)!);
  bytes[32]! ^= 1;
  return `ed25519:${bs58.encode(bytes)}`;
}

function withLastDigitChanged(executionId: string): string {
  const last = Number.parseInt(executionId.slice(-1), 16);
  return executionId.slice(0, -1) + (last ^ 1).toString(16);
}
