// One paid call, from accepted to paid or paid back. Each step reads the journal's row, does one thing and moves
// the row forward; a row found in any state is carried on the same way, so that a live call and recovery after a
// crash are one piece of code. An unknown outcome is never a failure: the row stays and is asked about again.

import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { PublicKey } from '@solana/web3.js';
import canonicalize from 'canonicalize';
import type { Logger } from 'pino';
import type { Agent as CreatorPool } from 'undici';
import { REFUND_REASONS, type RefundReason } from '../../sdk/program.ts';
import { deriveExecutionId, formatUuid, requestHash } from '../../sdk/receipt.ts';
import { formatUsdc } from '../../sdk/usdc.ts';
import type { Agent } from '../catalog.ts';
import { type Chain, type Fate, type Observe, timed } from '../chain.ts';
import type { ExecuteInput, ExecuteOutcome, Principal } from '../deps.ts';
import { ApiError, openRefused } from '../errors.ts';
import type { ExecutionRow, Journal, ResultRow, SignedTransaction } from '../store.ts';
import { type CreatorAnswer, callCreator } from './dispatch.ts';
import { createReservations, OPEN_WINDOW_SECONDS, reserveFunds, signOpen } from './escrow.ts';
import { adoptOrphans } from './recover.ts';
import { readSnapshot, refundObstacle, type Snapshot, signRefund, signSettle, splitOf } from './settle.ts';
import { verifyAnswer } from './verify.ts';

/** How long an asynchronous caller waits for its escrow before it is told `running`. */
const ASYNC_WAIT_MS = 10_000;
/** What a synchronous caller waits beyond its timeout, for the two transactions. */
const SYNC_MARGIN_MS = 10_000;
/** The relay stops settling this long before refund_at, seconds. */
const SETTLE_MARGIN_SECONDS = 60n;
/** A transaction is built anew at most so often before a person has to look. */
const MAX_REBUILDS = 5n;

export interface EngineDeps {
  chain: Chain;
  journal: Journal;
  creators: CreatorPool;
  usdcMint: PublicKey;
  /** Where the agent of a stored metadata hash is called. */
  endpointOf(metadataHash: string): Promise<string | null>;
  log: Logger;
  observe?: Observe;
}

/** What is known of an execution while this process works on it; all of it can be read again after a crash. */
interface Live {
  snapshot: Snapshot | null;
  deadlineMs: number | null;
  refused: ApiError | null;
  opened: () => void;
}

/** What working on a row in each state is called when it is timed. */
const STAGES: Partial<Record<ExecutionRow['state'], 'open' | 'dispatch' | 'settle' | 'refund'>> = {
  accepted: 'open',
  open_signed: 'open',
  open_confirmed: 'dispatch',
  dispatched: 'dispatch',
  refunding: 'refund',
};

/** How a step leaves its row: `next` to go on at once, `wait` for a later look, `ended` for good. */
type Step = 'next' | 'wait' | 'ended';

export type Engine = ReturnType<typeof createEngine>;

function refundText(code: string, message: string, state: string | null): string {
  const why = state === 'claimable' ? 'your USDC account is missing' : 'your USDC account cannot receive';
  if (state === 'claimable' || state === 'blocked') return `${message}. The refund waits because ${why}`;
  return code === 'service_unavailable' ? message : `${message}. Escrow refunded`;
}

/** The engine of paid executions. `stop` ends all waiting; the journal keeps what is unfinished. */
export function createEngine(deps: EngineDeps) {
  const { chain, journal, usdcMint, log } = deps;
  const reservations = createReservations();
  const stopping = new AbortController();
  // Every execution in flight listens to it.
  setMaxListeners(0, stopping.signal);
  const working = new Map<string, Promise<void>>();
  // Ids between their claim and their first step, which recovery must leave alone.
  const starting = new Set<string>();

  async function open(row: ExecutionRow, live: Live): Promise<Step> {
    if (!row.open_transaction) {
      await journal.void(row.execution_id, 'service_unavailable', 'The call was interrupted before anything was paid');
      return 'ended';
    }
    const fate = await chain.submit(storedOpen(row), stopping.signal);
    if (fate.kind === 'unknown') return 'wait';
    if (fate.kind === 'failed') {
      // Nodes differ in how they tell of an expired blockhash; only the record says whether the money moved.
      live.snapshot = await readSnapshot(chain, row);
      if (!live.snapshot.record) return voidOpen(row, live, openRefused(fate.error, fate.message, row.execution_id));
    }
    if (fate.kind === 'expired') {
      const final = await readSnapshot(chain, row, 'finalized');
      if (final.record) live.snapshot = final;
      else if (final.now <= (row.open_before ?? 0n)) return 'wait';
      else return voidOpen(row, live, openRefused(null, 'the transaction expired', row.execution_id));
    }
    live.snapshot ??= await readSnapshot(chain, row);
    const { record } = live.snapshot;
    if (!record) return 'wait';
    await journal.openConfirmed(row.execution_id, record);
    live.opened();
    return 'next';
  }

  async function voidOpen(row: ExecutionRow, live: Live, error: ApiError): Promise<Step> {
    live.refused = error;
    await journal.void(row.execution_id, error.code, error.message);
    return 'ended';
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
    const call = { endpoint, request, deadlineMs: live.deadlineMs, stop: stopping.signal };
    const answer = await timed(deps.observe, 'creator', () => callCreator(deps.creators, call));
    return timed(deps.observe, 'verify', () => judge(row, snapshot, answer));
  }

  async function judge(row: ExecutionRow, snapshot: Snapshot, answer: CreatorAnswer): Promise<Step> {
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
    return settleIntent(row, snapshot, result);
  }

  /** The result counts as verified only if the chain would take its settle. */
  async function settleIntent(row: ExecutionRow, snapshot: Snapshot, result: ResultRow): Promise<Step> {
    const { record, listing } = snapshot;
    if (!record || !listing) return 'wait';
    let signed = await signSettle(chain, record, listing, result);
    let problem = await chain.simulate(signed.bytes);
    if (problem?.error === 'WrongPayout') {
      // The creator moved its payout account since the open.
      const fresh = await readSnapshot(chain, row);
      if (fresh.listing) signed = await signSettle(chain, record, fresh.listing, result);
      problem = await chain.simulate(signed.bytes);
    }
    if (problem?.error === 'PayoutUnusable') {
      return refundIntent(row, snapshot, 'payoutUnusable', "The creator's payout account cannot receive");
    }
    if (problem && (problem.instruction === 0 || problem.error?.startsWith('Signature'))) {
      return refundIntent(row, snapshot, 'invalidAnswer', "The creator's signature is not accepted on-chain");
    }
    if (problem) log.warn({ execution_id: row.execution_id, problem: problem.message }, 'settle would not succeed now');
    await journal.storeResult(result);
    await journal.verified(row.execution_id, signed, result.execution_time_ms, row.rebuilds);
    return 'next';
  }

  async function settle(row: ExecutionRow, live: Live, snapshot: Snapshot): Promise<Step> {
    if (snapshot.now >= (row.refund_at ?? 0n)) {
      return refundIntent(row, snapshot, 'unserved', 'The result could not be settled in time');
    }
    if (snapshot.now >= (row.refund_at ?? 0n) - SETTLE_MARGIN_SECONDS) return 'wait';
    const fate = await chain.submit(storedSettle(row), stopping.signal);
    if (fate.kind === 'unknown') return 'wait';
    if (fate.kind === 'confirmed') {
      await recordSettled(row, snapshot, live);
      return 'ended';
    }
    return rebuild(row, live, fate, async (fresh) => {
      const result = await journal.result(row.execution_id);
      if (!result || !fresh.record || !fresh.listing) throw new Error('a verified execution has lost its result');
      const signed = await signSettle(chain, fresh.record, fresh.listing, result);
      await journal.verified(row.execution_id, signed, result.execution_time_ms, row.rebuilds + 1n);
    });
  }

  async function recordSettled(row: ExecutionRow, before: Snapshot, live: Live): Promise<void> {
    const after = await readSnapshot(chain, row);
    live.snapshot = after;
    const record = after.record?.status === 'completed' ? after.record : before.record!;
    await journal.settled(row.execution_id, { settledAt: after.record?.settledAt ?? after.now, ...splitOf(record) });
  }

  async function refundIntent(
    row: ExecutionRow,
    snapshot: Snapshot,
    reason: RefundReason,
    message: string,
  ): Promise<Step> {
    if (!snapshot.record) return 'wait';
    const signed = await signRefund(chain, snapshot.record, usdcMint, reason);
    const code =
      reason === 'creatorTimeout'
        ? 'execution_timeout'
        : reason === 'unserved'
          ? 'service_unavailable'
          : 'execution_failed';
    await journal.refunding(row.execution_id, signed, {
      reason: REFUND_REASONS.indexOf(reason),
      code,
      message,
      rebuilds: row.rebuilds,
    });
    return 'next';
  }

  async function refund(row: ExecutionRow, live: Live): Promise<Step> {
    const fate = await chain.submit(storedRefund(row), stopping.signal);
    if (fate.kind === 'unknown') return 'wait';
    const after = await readSnapshot(chain, row);
    live.snapshot = after;
    if (fate.kind === 'confirmed' || after.record?.status === 'refunded') {
      await journal.refunded(row.execution_id, after.record?.settledAt ?? after.now);
      return 'ended';
    }
    if (fate.kind === 'failed' && fate.error === 'RefundDestinationUnusable' && after.record) {
      await journal.refundWaits(row.execution_id, await refundObstacle(chain, after.record, usdcMint));
    }
    return rebuild(row, live, fate, async (fresh) => resignRefund(row, fresh, row.rebuilds + 1n));
  }

  async function resignRefund(row: ExecutionRow, fresh: Snapshot, rebuilds: bigint): Promise<void> {
    if (!fresh.record) throw new Error('a refund has lost its record');
    const reason = REFUND_REASONS[Number(row.refund_reason ?? 4n)] ?? 'unserved';
    const signed = await signRefund(chain, fresh.record, usdcMint, reason);
    await journal.refunding(row.execution_id, signed, {
      reason: REFUND_REASONS.indexOf(reason),
      code: row.error_code ?? 'service_unavailable',
      message: row.error_message ?? '',
      rebuilds,
    });
  }

  /** The stored bytes are dead and the record shows no outcome: sign anew, later, and not for ever. */
  async function rebuild(
    row: ExecutionRow,
    live: Live,
    fate: Fate,
    resign: (fresh: Snapshot) => Promise<void>,
  ): Promise<Step> {
    const fresh = await readSnapshot(chain, row);
    live.snapshot = fresh;
    if (await followRecord(row, fresh)) return 'ended';
    const waitsForAccount = fate.kind === 'failed' && fate.error === 'RefundDestinationUnusable';
    if (row.rebuilds >= MAX_REBUILDS && !waitsForAccount) {
      log.error({ execution_id: row.execution_id, fate }, 'parked: its transaction does not land');
      await journal.parked(row.execution_id);
      return 'wait';
    }
    if (waitsForAccount) return 'wait';
    await resign(fresh);
    return fate.kind === 'expired' ? 'next' : 'wait';
  }

  /** Where the record has ended, the row ends the same way, whatever was intended. */
  async function followRecord(row: ExecutionRow, snapshot: Snapshot): Promise<boolean> {
    const { record } = snapshot;
    if (!record || record.status === 'open') return false;
    if (record.status === 'refunded') await journal.refunded(row.execution_id, record.settledAt);
    else await journal.settled(row.execution_id, { settledAt: record.settledAt, ...splitOf(record) });
    return true;
  }

  /** Refunds whose account was unusable are tried again only when it has become usable. */
  async function retryRefund(row: ExecutionRow, snapshot: Snapshot, live: Live): Promise<Step> {
    if (row.refund_state === 'claimable' || row.refund_state === 'blocked') {
      const signed = await signRefund(chain, snapshot.record!, usdcMint, 'unserved');
      const problem = await chain.simulate(signed.bytes);
      if (problem?.error === 'RefundDestinationUnusable') {
        await journal.refundWaits(row.execution_id, await refundObstacle(chain, snapshot.record!, usdcMint));
        return 'wait';
      }
      await resignRefund(row, snapshot, row.rebuilds);
      return 'next';
    }
    return refund(row, live);
  }

  /** A row that a person should look at goes back to its caller when nothing else can happen to it any more. */
  async function unpark(row: ExecutionRow, snapshot: Snapshot): Promise<Step> {
    if (!snapshot.record) return 'wait';
    // A settle that was signed once could still land before refund_at.
    const over = row.settle_transaction ? snapshot.record.refundAt : snapshot.record.deadline;
    if (snapshot.now < over) return 'wait';
    return refundIntent(row, snapshot, 'unserved', row.error_message ?? 'The execution could not be settled');
  }

  /** The record of an execution that was open is gone: the open was rolled back, or the record was closed. */
  async function withoutRecord(row: ExecutionRow): Promise<Step> {
    const final = await readSnapshot(chain, row, 'finalized');
    if (final.record || final.now <= (row.open_before ?? 0n)) return 'wait';
    await journal.void(
      row.execution_id,
      'service_unavailable',
      'The escrow was rolled back by the chain; nothing was paid',
    );
    return 'ended';
  }

  /** Do the one thing that a row's state asks for. */
  async function step(row: ExecutionRow, live: Live): Promise<Step> {
    if (row.state === 'settled' || row.state === 'refunded' || row.state === 'void') return 'ended';
    if (row.state === 'accepted' || row.state === 'open_signed') return open(row, live);
    live.opened();
    const snapshot = live.snapshot ?? (await readSnapshot(chain, row));
    live.snapshot = snapshot;
    if (!snapshot.record) return withoutRecord(row);
    if (await followRecord(row, snapshot)) return 'ended';
    switch (row.state) {
      case 'open_confirmed':
        await journal.dispatched(row.execution_id, Date.now());
        return 'next';
      case 'dispatched':
        return dispatch(row, snapshot, live);
      case 'verified':
        return settle(row, live, snapshot);
      case 'refunding':
        return retryRefund(row, snapshot, live);
      default:
        return unpark(row, snapshot);
    }
  }

  async function carryOn(executionId: string, live: Live): Promise<void> {
    for (;;) {
      if (stopping.signal.aborted) return;
      const row = await journal.get(executionId);
      if (!row) throw new Error(`execution ${executionId} has no row`);
      if ((await timed(deps.observe, STAGES[row.state] ?? 'settle', () => step(row, live))) !== 'next') return;
    }
  }

  /** Work on a row unless this process already does; a fault is logged and the row looked at again later. */
  function work(executionId: string, live: Live): Promise<void> {
    const present = working.get(executionId);
    if (present) return present;
    const promise = carryOn(executionId, live)
      .catch((error) => {
        if (!stopping.signal.aborted)
          log.error(
            { execution_id: executionId, error: String(error) },
            'execution step failed; it will be tried again',
          );
      })
      .finally(() => {
        working.delete(executionId);
        live.opened();
      });
    working.set(executionId, promise);
    return promise;
  }

  function newLive(opened: () => void = () => undefined): Live {
    return { snapshot: null, deadlineMs: null, refused: null, opened };
  }

  /** Take an id, check the money, store and send the open; the rest goes on by itself. */
  async function start(principal: Principal, agent: Agent, input: ExecuteInput, live: Live): Promise<string> {
    if (agent.price > input.maxCost) {
      throw new ApiError(
        'price_changed',
        `The agent costs ${formatUsdc(agent.price)} USDC, more than the ${formatUsdc(input.maxCost)} USDC of max_cost_usdc`,
      );
    }
    const nonce = randomBytes(16);
    const executionId = formatUuid(deriveExecutionId(new PublicKey(principal.wallet).toBytes(), nonce));
    const { now, release } = await reserveFunds(chain, reservations, principal, usdcMint, agent.price);
    const opened = live.opened;
    live.opened = () => {
      release();
      opened();
    };
    starting.add(executionId);
    try {
      await journal.claim(
        {
          execution_id: executionId,
          wallet: principal.wallet,
          key_id: principal.keyId,
          listing: agent.listing,
          listing_version: BigInt(agent.listingVersion),
          metadata_hash: agent.metadataHash,
          nonce: nonce.toString('hex'),
          price: agent.price,
          max_cost: input.maxCost,
          timeout_seconds: BigInt(input.timeoutSeconds),
          task: input.task,
          parameters: canonicalize(input.parameters) ?? '{}',
          accepted_at: now,
          request_hash: Buffer.from(requestHash(input.task, input.parameters)).toString('hex'),
        },
        Date.now(),
      );
      const row = (await journal.get(executionId))!;
      const openBefore = now + OPEN_WINDOW_SECONDS;
      await journal.openSigned(executionId, await signOpen(chain, row, usdcMint, openBefore), openBefore);
    } catch (error) {
      release();
      throw error;
    } finally {
      starting.delete(executionId);
    }
    return executionId;
  }

  /** The answer for a row as it is now, or the error that it ended with. */
  async function outcome(executionId: string, live: Live): Promise<ExecuteOutcome> {
    const row = (await journal.get(executionId))!;
    if (row.state === 'settled') {
      const result = (await journal.result(executionId))!;
      return {
        kind: 'completed',
        executionId,
        result: result.result,
        resultHash: result.result_hash,
        price: row.price,
        tokensUsed: result.tokens_used === null ? null : Number(result.tokens_used),
        executionTimeMs: Number(result.execution_time_ms),
        settleSignature: row.settle_signature!,
        resultToken: result.token,
      };
    }
    if (live.refused) throw live.refused;
    if (row.state === 'refunding' || row.state === 'refunded' || row.state === 'void') {
      const code = (row.error_code ?? 'execution_failed') as 'execution_failed';
      throw new ApiError(code, refundText(code, row.error_message ?? 'The execution failed', row.refund_state), {
        executionId,
        retryAfterSeconds: row.error_code === 'service_unavailable' ? 5 : undefined,
      });
    }
    return { kind: 'running', executionId };
  }

  return {
    /** Run one paid call. Answers as soon as the caller's mode allows; the work goes on without it. */
    async execute(principal: Principal, agent: Agent, input: ExecuteInput): Promise<ExecuteOutcome> {
      if (stopping.signal.aborted)
        throw new ApiError('service_unavailable', 'The service is stopping', { retryAfterSeconds: 5 });
      let signalOpened: () => void = () => undefined;
      const opened = new Promise<void>((resolve) => {
        signalOpened = resolve;
      });
      const live = newLive(signalOpened);
      const executionId = await start(principal, agent, input, live);
      const ended = work(executionId, live);
      if (input.async) {
        await within(opened, ASYNC_WAIT_MS);
        const row = (await journal.get(executionId))!;
        if (row.state === 'accepted' || row.state === 'open_signed') return { kind: 'running', executionId };
        if (live.refused) throw live.refused;
        return { kind: 'pending', executionId };
      }
      await within(ended, input.timeoutSeconds * 1_000 + SYNC_MARGIN_MS);
      return outcome(executionId, live);
    },
    /** Give every open record that we sponsored and have no row of a row, so that its money finds its way back. */
    adoptOrphans: () => adoptOrphans(chain, journal, log),
    /** Carry on every unfinished row that nobody works on; resolves when each has been looked at once. */
    async recover(): Promise<number> {
      const ids = (await journal.unfinished()).filter((id) => !working.has(id) && !starting.has(id));
      await Promise.all(ids.map((id) => work(id, newLive())));
      return ids.length;
    },
    inFlight: () => working.size,
    /** End all waiting and let the present steps return. */
    async stop(): Promise<void> {
      stopping.abort(new Error('stopping'));
      await Promise.allSettled(working.values());
    },
  };
}

/** Wait for a promise, but not longer than this. */
async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, limit]);
  clearTimeout(timer);
}

function stored(bytes: Buffer | null, signature: string | null, height: bigint | null): SignedTransaction {
  if (!bytes || !signature || height === null) throw new Error('a journal row lacks its signed transaction');
  return { bytes, signature, lastValidHeight: height };
}
const storedOpen = (row: ExecutionRow) => stored(row.open_transaction, row.open_signature, row.open_last_valid_height);
const storedSettle = (row: ExecutionRow) =>
  stored(row.settle_transaction, row.settle_signature, row.settle_last_valid_height);
const storedRefund = (row: ExecutionRow) =>
  stored(row.refund_transaction, row.refund_signature, row.refund_last_valid_height);
