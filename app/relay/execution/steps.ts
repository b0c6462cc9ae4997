// What is done about an execution in each state of its journal's row: one thing at a time, by what the record on the
// chain says now. A row found in any state is carried on the same way, so that a live call and recovery after a
// crash are one piece of code. An unknown outcome is never a failure: the row stays and is asked about again.

import { randomBytes } from 'node:crypto';
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import type { Fate } from '../chain/confirmations.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import { type Observe, timed } from '../chain/stages.ts';
import { type ApiError, openRefused } from '../errors.ts';
import type { Journal } from '../ledger/journal.ts';
import type { Leases } from '../ledger/leases.ts';
import type { ExecutionRow, ResultRow } from '../ledger/tables.ts';
import { type CreatorAnswer, type CreatorCall, type CreatorPool, callCreator } from '../outbound/dispatch.ts';
import { verifyAnswer } from '../outbound/verify.ts';
import { createEnding, hasTimeToServe, storedOpen } from './ending.ts';
import type { KeepLate } from './late.ts';
import type { WalletLimits } from './protection.ts';
import { OPEN_WINDOW_SECONDS, signOpen } from './reserve.ts';
import { readSnapshot, readSnapshotPast, type Snapshot } from './sign.ts';
import { reused } from './standing.ts';

export interface EngineDeps {
  chain: RelayChain;
  journal: Journal;
  /** Which other relays work on this ledger. */
  leases: Pick<Leases, 'alive'>;
  creators: CreatorPool;
  usdcMint: PublicKey;
  /** What one wallet may cost the fee payer. */
  walletLimits: WalletLimits;
  /** Where the agent of a stored metadata hash is called. */
  endpointOf(metadataHash: string): Promise<string | null>;
  /** Keeps a result that came too late. */
  keepLate: KeepLate;
  /** Throws where new executions of a listing are turned away. */
  requireServing(listing: string): void;
  /** Hears why the chain has refused an open of a listing, by the program's own name where it has one. */
  openFailed(error: string | null, listing: string): void;
  log: Logger;
  observe?: Observe;
}

/** What is known of an execution while this process works on it; all of it can be read again after a crash. */
export interface Live {
  /** Its open was stored by this process a moment ago: nothing can have become of it yet. */
  isFresh: boolean;
  snapshot: Snapshot | null;
  deadlineMs: number | null;
  answer: CreatorAnswer | null;
  result: ResultRow | null;
  /** The row as it has ended. */
  ended: ExecutionRow | null;
  refused: ApiError | null;
  opened: () => void;
}

/**
 * How a step leaves its row: `next` to go on at once, `wait` until the chain has said more, `rest` where only time or
 * other people can change anything, `ended` for good.
 */
export type Step = 'next' | 'wait' | 'rest' | 'ended';

/** The steps of all executions; `stopping` ends their waiting and leaves the rows as they are. */
export function createSteps(deps: EngineDeps, stopping: AbortSignal) {
  const { chain, journal, usdcMint } = deps;
  const { settleIntent, settle, refundIntent, retryRefund, followRecord, unpark } = createEnding(deps, stopping);

  async function open(row: ExecutionRow, live: Live): Promise<Step> {
    if (!row.open_transaction) {
      await journal.void(row, 'service_unavailable', 'The call was interrupted before anything was paid');
      return 'ended';
    }
    if (!live.isFresh && (await isOpened(row))) return openConfirmed(row, live);
    live.isFresh = false;
    const signed = storedOpen(row);
    const fate = await chain.submit(signed, () => isOpened(row), stopping);
    switch (fate.kind) {
      case 'unknown':
        return 'wait';
      case 'failed':
        // Earlier bytes of the same open may have landed; only the record says whether the money moved.
        if (await isOpened(row)) return openConfirmed(row, live);
        return refuseOpen(row, live, fate);
      // What is confirmed and not to be seen is on another fork, or the node errs: only the finalized record can tell.
      case 'confirmed':
      case 'expired': {
        if (fate.kind === 'confirmed') {
          const left = await openConfirmed(row, live);
          if (left !== 'wait') return left;
        }
        const final = await readSnapshotPast(chain, row, signed.lastValidHeight);
        if (final?.record) return openConfirmed(row, live);
        if (!final || final.now <= (row.open_before ?? 0n)) return 'wait';
        return voidOpen(row, live, openRefused(null, 'the transaction expired', row));
      }
    }
  }

  async function isOpened(row: ExecutionRow): Promise<boolean> {
    return (await readSnapshot(chain, row)).record !== null;
  }

  async function openConfirmed(row: ExecutionRow, live: Live): Promise<Step> {
    live.snapshot = await readSnapshot(chain, row);
    const { record } = live.snapshot;
    if (!record) return 'wait';
    // Where an older ledger was lost, a repeated Idempotency-Key can meet the record of another request.
    const isOurs =
      record.listing.toBase58() === row.listing && Buffer.from(record.requestHash).toString('hex') === row.request_hash;
    if (!isOurs) return voidOpen(row, live, reused(row.execution_id));
    await journal.openConfirmed(row, record);
    live.opened();
    return 'next';
  }

  async function voidOpen(row: ExecutionRow, live: Live, error: ApiError, lost = 0n): Promise<Step> {
    live.refused = error;
    await journal.void(row, error.code, error.message, lost);
    return 'ended';
  }

  /** The chain took the fee of an open that it refused: the next ones that it would refuse alike are not sent. */
  function refuseOpen(row: ExecutionRow, live: Live, fate: Fate & { kind: 'failed' }): Promise<Step> {
    const { error, instruction, message } = fate;
    deps.openFailed(error, row.listing);
    // Without an instruction nothing ran; and that opens are paused is no fault of who asked.
    const isCharged = instruction !== null && error !== 'OpensPaused';
    return voidOpen(row, live, openRefused(error, message, row), isCharged ? row.fees : 0n);
  }

  /** Call the creator, judge its answer and sign what follows from it. */
  async function dispatch(row: ExecutionRow, snapshot: Snapshot, live: Live): Promise<Step> {
    const stored = await journal.result(row.execution_id);
    if (stored) return settleIntent(row, snapshot, stored);
    const timeoutMs = Number(row.timeout_seconds) * 1_000;
    const spentMs = Date.now() - Number(row.dispatched_ms);
    live.deadlineMs ??= performance.now() + timeoutMs - Math.max(0, spentMs);
    const endpoint = await deps.endpointOf(row.metadata_hash);
    if (!endpoint) return refundIntent(row, snapshot, 'unserved', "The agent's metadata is missing");
    const request = {
      execution_id: row.execution_id,
      task: row.task,
      parameters: JSON.parse(row.parameters),
      user_pubkey: row.wallet,
      timeout_seconds: Number(row.timeout_seconds),
    };
    const { signingKey } = snapshot.record!;
    const call: CreatorCall = {
      endpoint,
      request,
      purpose: 'execution',
      signingKey: signingKey.toBase58(),
      deadlineMs: live.deadlineMs,
      stop: stopping,
      late: (json) => void deps.keepLate(row, signingKey.toBytes(), json),
    };
    // An answer is not asked for again because the node could not be asked what it is worth.
    live.answer ??= await timed(deps.observe, 'creator', () => callCreator(deps.creators, call));
    const { answer } = live;
    return timed(deps.observe, 'verify', () => judge(row, snapshot, live, answer));
  }

  async function judge(row: ExecutionRow, snapshot: Snapshot, live: Live, answer: CreatorAnswer): Promise<Step> {
    const record = snapshot.record!;
    if (answer.kind === 'timeout') return refundIntent(row, snapshot, 'creatorTimeout', answer.message);
    if (answer.kind === 'failed') return refundIntent(row, snapshot, 'creatorFailed', answer.message);
    if (answer.kind === 'invalid') return refundIntent(row, snapshot, 'invalidAnswer', answer.message);
    const verdict = verifyAnswer(answer.json, {
      executionId: row.execution_id,
      signingKey: record.signingKey.toBytes(),
      requestHash: row.request_hash,
    });
    if (verdict.kind === 'failed') return refundIntent(row, snapshot, 'creatorFailed', verdict.message);
    if (verdict.kind === 'invalid') return refundIntent(row, snapshot, 'invalidAnswer', verdict.message);
    const result: ResultRow = {
      execution_id: row.execution_id,
      result: verdict.result,
      result_hash: verdict.resultHash,
      signature: verdict.signature,
      execution_signature: verdict.executionSignature,
      tokens_used: verdict.tokensUsed === null ? null : BigInt(verdict.tokensUsed),
      steps: verdict.steps,
      execution_time_ms: BigInt(Math.max(0, Date.now() - Number(row.dispatched_ms))),
      token: randomBytes(24).toString('base64url'),
      verified_ms: BigInt(Date.now()),
    };
    const storing = journal.storeResult(result).then((stored) => {
      live.result = stored;
      return stored;
    });
    return settleIntent(row, snapshot, result, storing);
  }

  /**
   * The record of an execution that was open is gone. Until the chain is final about it the same bytes are sent again;
   * then they are signed once more, for whoever has worked on it meanwhile. Past refund_at others may have closed the
   * record, and an open of that time would charge the caller for what has long ended.
   */
  async function withoutRecord(row: ExecutionRow): Promise<Step> {
    if (row.open_transaction) await chain.send(row.open_transaction);
    const final = await readSnapshotPast(chain, row, row.open_last_valid_height ?? 0n);
    if (!final || final.record || final.now <= (row.open_before ?? 0n)) return 'wait';
    const isUndecided = row.state !== 'refunding' && row.state !== 'parked';
    if (row.open_transaction && isUndecided && row.reopens === 0n && final.now < (row.refund_at ?? 0n)) {
      const openBefore = final.now + OPEN_WINDOW_SECONDS;
      await journal.openSigned(row, await signOpen(chain, row, usdcMint, openBefore), openBefore, 1n);
      return 'next';
    }
    const message = row.error_message ?? 'The escrow was rolled back by the chain; nothing was paid';
    await journal.void(row, row.error_code ?? 'service_unavailable', message);
    return 'ended';
  }

  /** Do the one thing that a row's state asks for. */
  async function step(row: ExecutionRow, live: Live): Promise<Step> {
    if (row.state === 'settled' || row.state === 'refunded' || row.state === 'void') return 'ended';
    if (row.state === 'accepted' || row.state === 'open_signed') return open(row, live);
    live.opened();
    const snapshot = live.snapshot ?? (await readSnapshot(chain, row));
    live.snapshot = null;
    if (!snapshot.record) return withoutRecord(row);
    if (await followRecord(row, snapshot)) return 'ended';
    const left = await act(row, snapshot, live);
    // Whatever has to wait is decided by a new reading.
    if (left === 'next') live.snapshot = snapshot;
    return left;
  }

  async function act(row: ExecutionRow, snapshot: Snapshot, live: Live): Promise<Step> {
    switch (row.state) {
      case 'open_confirmed':
        if (!hasTimeToServe(row, snapshot)) {
          return refundIntent(row, snapshot, 'unserved', 'The call could not be served in time');
        }
        await journal.dispatched(row, Date.now());
        return 'next';
      case 'dispatched':
        return dispatch(row, snapshot, live);
      case 'verified':
        return settle(row, snapshot);
      case 'refunding':
        return retryRefund(row, snapshot);
      default:
        return unpark(row, snapshot);
    }
  }

  return { step };
}
