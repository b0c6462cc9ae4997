/** Calls the creator for a funded execution, and judges its answer. */
import { randomBytes } from 'node:crypto';
import { timed } from '../chain/stages.ts';
import type { JournalRow, ResultRow } from '../ledger/tables.ts';
import { beginningOf, type RawAnswer } from '../outbound/answerBody.ts';
import { type CreatorAnswer, type CreatorCall, type CreatorRequest, callCreator } from '../outbound/dispatch.ts';
import { maxResultBytes } from '../outbound/resultSize.ts';
import { judgeAnswer } from '../outbound/verify.ts';
import type { EngineDeps, Progress, Step } from './deps.ts';
import type { Refunding } from './refund.ts';
import type { Settling } from './settle.ts';
import type { Snapshot } from './snapshot.ts';

/** The refund reason for each kind of failed answer. */
const REASONS = { timeout: 'creatorTimeout', failed: 'creatorFailed', invalid: 'invalidAnswer' } as const;

/** Creates the step that serves. `stopping` ends the waiting for the creator. */
export function createServing(
  deps: EngineDeps,
  { refundIntent }: Refunding,
  { settleIntent }: Settling,
  stopping: AbortSignal,
) {
  const { journal } = deps;

  /** Calls the creator, judges its answer and signs the settle or the refund. */
  async function dispatch(row: JournalRow, snapshot: Snapshot, progress: Progress): Promise<Step> {
    const stored = await journal.result(row.execution_id);
    if (stored) return settleIntent(row, snapshot, stored);
    progress.dispatchedAtMs ??= performance.now() - (await journal.msSinceDispatch(row.execution_id));
    const deadlineMs = progress.dispatchedAtMs + Number(row.timeout_seconds) * 1_000;
    // This process has not called the creator: its relay was down, so the creator has not failed.
    if (progress.answer === null && performance.now() >= deadlineMs) {
      return refundIntent(
        row,
        snapshot,
        'unserved',
        'The marketplace was interrupted, and the time of this call ran out',
      );
    }
    const endpoint = await deps.endpointOf(row.metadata_hash);
    if (!endpoint) return refundIntent(row, snapshot, 'unserved', "This service does not have the agent's description");
    const { signingKey } = snapshot.record!;
    const { output } = progress;
    output?.begun(row.execution_id);
    const call: CreatorCall = {
      endpoint,
      request: toRequest(row),
      signingKey: signingKey.toBase58(),
      deadlineMs,
      stop: stopping,
      ...(output && { onDelta: output.delta }),
    };
    // If the node failed while an answer was judged, the answer is kept and not requested again.
    progress.answer ??= await timed(deps.observe, 'creator', () => callCreator(deps.creators, call));
    progress.answeredAtMs ??= performance.now();
    const { answer } = progress;
    return timed(deps.observe, 'verify', () => judge(row, snapshot, progress, answer));
  }

  async function judge(row: JournalRow, snapshot: Snapshot, progress: Progress, answer: CreatorAnswer): Promise<Step> {
    const record = snapshot.record!;
    const durationMs = Math.round(progress.answeredAtMs! - progress.dispatchedAtMs!);
    const refund = (kind: keyof typeof REASONS, message: string, raw: RawAnswer | null) =>
      refundIntent(row, snapshot, REASONS[kind], message, { durationMs, raw });
    if (answer.kind !== 'body') return refund(answer.kind, answer.message, answer.raw ?? null);
    const { verdict } = await judgeAnswer(answer.body, {
      executionId: row.execution_id,
      signingKey: record.signingKey.toBytes(),
      requestHash: row.request_hash,
      maxResultBytes: maxResultBytes(row.price),
    });
    if (verdict.kind !== 'completed') {
      return refund(verdict.kind, verdict.message, { status: 200, ...beginningOf(answer.body) });
    }
    const result: ResultRow = {
      execution_id: row.execution_id,
      // A view of the same bytes: copying a long result would block the event loop.
      result: Buffer.from(verdict.result.buffer as ArrayBuffer, verdict.result.byteOffset, verdict.result.length),
      size: BigInt(verdict.result.length),
      object_stored: 0n,
      result_hash: verdict.resultHash,
      signature: verdict.signature,
      execution_signature: verdict.executionSignature,
      tokens_used: verdict.tokensUsed === null ? null : BigInt(verdict.tokensUsed),
      steps: verdict.steps,
      execution_time_ms: BigInt(Math.round(performance.now() - progress.dispatchedAtMs!)),
      token: randomBytes(24).toString('base64url'),
      verified_ms: BigInt(Date.now()),
    };
    const storing = journal.storeResult(result).then((stored) => {
      progress.result = stored;
      return stored;
    });
    return settleIntent(row, snapshot, result, storing);
  }

  return { dispatch };
}

/** The request to the creator. */
export function toRequest(
  row: Pick<JournalRow, 'execution_id' | 'task' | 'parameters' | 'wallet' | 'timeout_seconds'>,
): CreatorRequest {
  return {
    execution_id: row.execution_id,
    task: row.task,
    parameters: row.parameters,
    user_pubkey: row.wallet,
    timeout_seconds: Number(row.timeout_seconds),
  };
}
