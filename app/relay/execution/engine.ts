// One paid call, from accepted to answered: take an id, check the money, store the open, let the steps carry the row
// to its end, and tell the caller how it ended. A caller that goes away stops nothing.

import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import canonicalize from 'canonicalize';
import { requestHash } from '../../sdk/creator/nativeReceipt.ts';
import { findEscrow, findExecution, parseAddress } from '../../sdk/program/program.ts';
import { deriveExecutionId, formatUuid, parseUuid } from '../../sdk/receipt/receipt.ts';
import { formatUsdc, toUsdc } from '../../sdk/wire/usdc.ts';
import type { Agent } from '../agents/catalog.ts';
import { timed } from '../chain/stages.ts';
import { ApiError } from '../errors.ts';
import { OpenLimitReached } from '../ledger/claims.ts';
import type { Journal } from '../ledger/journal.ts';
import type { ExecutionRow } from '../ledger/tables.ts';
import { JournalConflict } from '../ledger/writing.ts';
import { within } from '../waiting.ts';
import type { ExecuteOutcome, OpenedCall, PaidCall, Principal } from './contract.ts';
import { proveEnds } from './finality.ts';
import { requireWithinWalletLimits, tooManyOpen } from './protection.ts';
import { adoptOrphans } from './recover.ts';
import { createReservations, OPEN_WINDOW_SECONDS, reserveFunds, signOpen } from './reserve.ts';
import { inProgress, lostResult, standingOf } from './standing.ts';
import { createSteps, type EngineDeps, type Live } from './steps.ts';

/** How long an asynchronous caller waits for its escrow before it is told `running`. */
const ASYNC_WAIT_MS = 10_000;
/** What a synchronous caller waits beyond its timeout, for the two transactions. */
const SYNC_MARGIN_MS = 10_000;
/** How long after a step without an outcome the row is looked at again; doubled each time. */
const WAIT_FIRST_MS = 250;
const WAIT_MAX_MS = 2_000;
/** The same for a row that waits for a person or for its time to be over. */
const REST_FIRST_MS = 1_000;
const REST_MAX_MS = 60_000;

/** Rows of one look for what is unfinished. */
const RECOVERED_AT_ONCE = 500;

/** What working on a row in each state is called when it is timed. */
const STAGES: Partial<Record<ExecutionRow['state'], 'open' | 'dispatch' | 'settle' | 'refund'>> = {
  accepted: 'open',
  open_signed: 'open',
  open_confirmed: 'dispatch',
  dispatched: 'dispatch',
  refunding: 'refund',
};

export type Engine = ReturnType<typeof createEngine>;
type UnfinishedRow = Awaited<ReturnType<Journal['unfinished']>>[number];

function refundText(code: string, message: string, state: string | null): string {
  const why = state === 'claimable' ? 'your USDC account is missing' : 'your USDC account cannot receive';
  if (state === 'claimable' || state === 'blocked') return `${message}. The refund waits because ${why}`;
  return code === 'service_unavailable' ? message : `${message}. Escrow refunded`;
}

/** The engine of paid executions. `stop` ends all waiting; the journal keeps what is unfinished. */
export function createEngine(deps: EngineDeps) {
  const { chain, journal, leases, usdcMint, log } = deps;
  const unfinished = (after?: UnfinishedRow) => journal.unfinished(Date.now(), RECOVERED_AT_ONCE, after);
  const reservations = createReservations();
  const stopping = new AbortController();
  // Every execution in flight listens to it.
  setMaxListeners(0, stopping.signal);
  const { step } = createSteps(deps, stopping.signal);
  const working = new Map<string, Promise<void>>();
  // Ids between their claim and their first step, which recovery must leave alone.
  const starting = new Set<string>();
  // How long each row that rests was left alone the last time, ms.
  const resting = new Map<string, number>();

  /** Step after step until the row has ended, rests, or belongs to another relay. `known` is the row as it is now. */
  async function carryOn(executionId: string, live: Live, known?: ExecutionRow): Promise<void> {
    let next = known;
    for (let pause = WAIT_FIRST_MS; !stopping.signal.aborted; ) {
      const row = next ?? (await journal.get(executionId));
      if (row?.lease_owner !== journal.owner) return;
      const left = await timed(deps.observe, STAGES[row.state] ?? 'settle', () => step(row, live)).catch((error) => {
        if (error instanceof JournalConflict) throw error;
        if (!stopping.signal.aborted)
          log.warn({ execution_id: executionId, error: String(error) }, 'a step failed; it will be tried again');
        return 'wait' as const;
      });
      if (left === 'ended') {
        resting.delete(executionId);
        live.ended = row;
      }
      if (left === 'rest') await rest(executionId);
      if (left === 'ended' || left === 'rest') return;
      next = left === 'next' ? row : undefined;
      if (left === 'next') pause = WAIT_FIRST_MS;
      else {
        await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
        pause = Math.min(pause * 2, WAIT_MAX_MS);
      }
    }
  }

  /** Leave a row alone, each time for longer: only a person, or the end of its time, can change anything. */
  async function rest(executionId: string): Promise<void> {
    const ms = Math.min((resting.get(executionId) ?? REST_FIRST_MS / 2) * 2, REST_MAX_MS);
    resting.set(executionId, ms);
    await journal.restUntil(executionId, Date.now() + ms);
  }

  /** Work on a row unless this process already does; a fault is logged and the row looked at again later. */
  function work(executionId: string, live: Live, known?: ExecutionRow): Promise<void> {
    const present = working.get(executionId);
    if (present) return present;
    const promise = carryOn(executionId, live, known)
      .catch((error) => {
        if (!stopping.signal.aborted)
          log.error({ execution_id: executionId, error: String(error) }, 'an execution was left to recovery');
      })
      .finally(() => {
        working.delete(executionId);
        live.opened();
      });
    working.set(executionId, promise);
    return promise;
  }

  function newLive({ isFresh, opened }: { isFresh: boolean; opened?: (() => void) | undefined }): Live {
    return {
      isFresh,
      snapshot: null,
      deadlineMs: null,
      answer: null,
      result: null,
      ended: null,
      refused: null,
      opened: opened ?? (() => undefined),
    };
  }

  /** Take an id, check the money, store and send the open; the rest goes on by itself. */
  async function start(principal: Principal, agent: Agent, input: PaidCall, live: Live): Promise<ExecutionRow> {
    if (agent.price > input.maxCost) {
      throw new ApiError(
        'price_changed',
        `The agent costs ${formatUsdc(agent.price)} USDC, more than the ${formatUsdc(input.maxCost)} USDC of max_cost_usdc`,
        { details: { price_usdc: toUsdc(agent.price), max_cost_usdc: toUsdc(input.maxCost) } },
      );
    }
    deps.requireServing(agent.listing);
    await requireWithinWalletLimits(journal, deps.walletLimits, principal.wallet, Date.now());
    const nonce = input.repeatable?.nonce ?? randomBytes(16);
    const executionId = formatUuid(deriveExecutionId(parseAddress(principal.wallet).toBytes(), nonce));
    const reserving = reserveOnce(principal, agent, input, executionId);
    // While the node answers: the open will need these addresses, and finding them takes a while.
    findEscrow(findExecution(parseUuid(executionId)!));
    const { now, release } = await reserving;
    const opened = live.opened;
    live.opened = () => {
      release();
      opened();
    };
    starting.add(executionId);
    try {
      const row = await journal.claim(
        {
          execution_id: executionId,
          wallet: principal.wallet,
          key_id: principal.keyId,
          listing: agent.listing,
          listing_version: BigInt(agent.listingVersion),
          metadata_hash: agent.metadataHash,
          nonce: nonce.toString('hex'),
          fingerprint: input.repeatable?.fingerprint ?? null,
          price: agent.price,
          max_cost: input.maxCost,
          timeout_seconds: BigInt(input.timeoutSeconds),
          listing_timeout_seconds: BigInt(agent.timeoutSeconds),
          task: input.task,
          parameters: canonicalize(input.parameters) ?? '{}',
          accepted_at: now,
          request_hash: Buffer.from(requestHash(input.task, input.parameters)).toString('hex'),
        },
        Date.now(),
        deps.walletLimits.openExecutions,
      );
      const openBefore = now + OPEN_WINDOW_SECONDS;
      await journal.openSigned(row, await signOpen(chain, row, usdcMint, openBefore), openBefore);
      return row;
    } catch (error) {
      release();
      if (error instanceof JournalConflict && input.repeatable) throw inProgress(executionId);
      if (error instanceof OpenLimitReached) throw tooManyOpen(deps.walletLimits.openExecutions);
      throw error;
    } finally {
      starting.delete(executionId);
    }
  }

  /** A call that may be a repeated one is refused for money only if the first has not just taken it. */
  async function reserveOnce(principal: Principal, agent: Agent, input: PaidCall, executionId: string) {
    const record = input.repeatable ? findExecution(parseUuid(executionId)!) : null;
    try {
      const reserved = await reserveFunds(chain, reservations, principal, usdcMint, agent.price, record);
      if (!reserved.isTaken) return reserved;
      reserved.release();
    } catch (error) {
      const first = record === null ? undefined : await journal.get(executionId);
      if (!first || first.state === 'void') throw error;
    }
    throw inProgress(executionId);
  }

  /** Take a funded record; what follows is what follows a confirmed open of ours. */
  async function startOpened(agent: Agent, input: OpenedCall): Promise<string> {
    const { record } = input;
    const wallet = record.caller.toBase58();
    await requireWithinWalletLimits(journal, deps.walletLimits, wallet, Date.now());
    const executionId = formatUuid(record.executionId);
    const row = {
      execution_id: executionId,
      wallet,
      key_id: Buffer.from(record.keyId).toString('hex'),
      listing: agent.listing,
      listing_version: BigInt(record.listingVersion),
      metadata_hash: agent.metadataHash,
      // The wallet's own; nobody needs it again.
      nonce: '',
      fingerprint: null,
      price: record.price,
      max_cost: record.price,
      timeout_seconds: BigInt(input.timeoutSeconds),
      listing_timeout_seconds: BigInt(agent.timeoutSeconds),
      task: input.task,
      parameters: canonicalize(input.parameters) ?? '{}',
      accepted_at: record.openedAt,
      request_hash: Buffer.from(record.requestHash).toString('hex'),
    };
    try {
      await journal.claimOpened(row, record, Date.now(), deps.walletLimits.openExecutions);
    } catch (error) {
      if (error instanceof JournalConflict) throw inProgress(executionId);
      if (error instanceof OpenLimitReached) throw tooManyOpen(deps.walletLimits.openExecutions);
      throw error;
    }
    return executionId;
  }

  /** Wait for the end of an execution, for so many ms: also where another relay has taken it over meanwhile. */
  async function awaitEnd(executionId: string, live: Live, ended: Promise<void>, ms: number): Promise<void> {
    const until = performance.now() + ms;
    await within(ended, ms);
    while (live.ended === null && performance.now() < until && !stopping.signal.aborted) {
      const row = await journal.get(executionId);
      const isOver = row && ['ended', 'unpaid'].includes(standingOf(row));
      if (!row || row.lease_owner === journal.owner || isOver) return;
      await sleep(WAIT_FIRST_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  /** The answer for a row as it is now, or the error that it ended with. */
  async function outcome(executionId: string, live: Live): Promise<ExecuteOutcome> {
    const row = live.ended ?? (await journal.get(executionId))!;
    if (row.state === 'settled') {
      const result = live.result ?? (await journal.result(executionId));
      if (!result || row.settle_signature === null) throw lostResult(executionId);
      return {
        kind: 'completed',
        executionId,
        result: result.result,
        resultHash: result.result_hash,
        price: row.price,
        tokensUsed: result.tokens_used === null ? null : Number(result.tokens_used),
        executionTimeMs: Number(result.execution_time_ms),
        settleSignature: row.settle_signature,
        resultToken: result.token,
      };
    }
    if (live.refused) throw live.refused;
    // While its refund is on its way it has not ended.
    if (row.state === 'void' || standingOf(row) === 'ended') {
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
    async execute(principal: Principal, agent: Agent, input: PaidCall): Promise<ExecuteOutcome> {
      let signalOpened: () => void = () => undefined;
      const opened = new Promise<void>((resolve) => {
        signalOpened = resolve;
      });
      const live = newLive({ isFresh: true, opened: signalOpened });
      const started = await start(principal, agent, input, live);
      const executionId = started.execution_id;
      const ended = work(executionId, live, started);
      if (input.async) {
        await within(opened, ASYNC_WAIT_MS);
        const row = (await journal.get(executionId))!;
        if (row.state === 'accepted' || row.state === 'open_signed') return { kind: 'running', executionId };
        return row.state === 'void' ? outcome(executionId, live) : { kind: 'pending', executionId };
      }
      await awaitEnd(executionId, live, ended, input.timeoutSeconds * 1_000 + SYNC_MARGIN_MS);
      return outcome(executionId, live);
    },
    /** Run an execution that its wallet opened itself. */
    async start(agent: Agent, input: OpenedCall): Promise<ExecuteOutcome> {
      const executionId = await startOpened(agent, input);
      const live = newLive({ isFresh: false });
      const ended = work(executionId, live);
      if (input.async) return { kind: 'pending', executionId };
      await awaitEnd(executionId, live, ended, input.timeoutSeconds * 1_000 + SYNC_MARGIN_MS);
      return outcome(executionId, live);
    },
    /** What is answered for an execution that has ended, or will end so for certain. */
    outcomeOf: (executionId: string) => outcome(executionId, newLive({ isFresh: false })),
    /** Give every open record that we sponsored and have no row of a row, so that its money finds its way back. */
    adoptOrphans: () => adoptOrphans(chain, journal, log),
    /** Take what dead relays have left, and carry on every unfinished row that nobody works on. */
    async recover(): Promise<void> {
      await journal.takeRowsOfOthersThan(leases.alive(Date.now()));
      for (let page = await unfinished(); page.length > 0; page = await unfinished(page.at(-1))) {
        for (const row of page) {
          const id = row.execution_id;
          if (working.has(id) || starting.has(id)) continue;
          const payer = { wallet: row.wallet, keyId: row.key_id };
          // Its open may still take the money that a new call would count on.
          const release = row.state === 'open_signed' ? reservations.reserve(payer, row.price) : undefined;
          work(id, newLive({ isFresh: false, opened: release }));
        }
      }
    },
    /** Look once more at what has ended, when the chain cannot take it back any longer. */
    proveEnds: () => proveEnds(chain, journal, log),
    inFlight: () => working.size,
    /** Resolves when nothing of what is being worked on now is any more. */
    idle: () => Promise.allSettled(working.values()),
    /** End all waiting and let the present steps return. */
    async stop(): Promise<void> {
      stopping.abort(new Error('stopping'));
      await Promise.allSettled(working.values());
    },
  };
}
