/** `client.executions` and `client.statements`. */
import type { Check } from '../receipt/checks.ts';
import type { Client, RequestOptions } from './client.ts';
import { NotFoundError } from './error.ts';
import { followExecution, type StreamOptions } from './events.ts';
import { anyOf } from './limit.ts';
import { Listing } from './listing.ts';
import { type CallOptions, executeRequest, type RunInput, startCall, type WaitOptions, waitForEnd } from './paid.ts';
import { isProven, verifyReceipt } from './receipts.ts';
import type {
  CompletedExecution,
  DailyStatement,
  DeletedContent,
  Execution,
  ExecutionArchive,
  ExecutionEvent,
  ExecutionSummary,
  Receipt,
  SpendStatement,
  StartedExecution,
} from './types.ts';

export interface ExecutionFilter {
  status?: ExecutionSummary['status'] | undefined;
  agent_id?: string | undefined;
  /** The API key that paid, 32 hex digits. */
  key_id?: string | undefined;
  /** The key of the call, such as `error.idempotencyKey`. Empty: no call with it has begun. */
  idempotency_key?: string | undefined;
  /** Exclusive. Text must be ISO 8601 with a time zone. */
  from?: Date | string | undefined;
  /** Exclusive. */
  to?: Date | string | undefined;
  /** Executions per page, 1 to 100. Default: 100. */
  limit?: number | undefined;
  /** Executions to skip. */
  offset?: number | undefined;
}

/** The outcome of a receipt's checks. */
export interface Verification {
  /** True if no check failed, and the chain itself shows that the price was paid for this result. */
  ok: boolean;
  /** Every check with the values that it compared. */
  checks: Check[];
  receipt: Receipt;
}

const LARGEST_PAGE = 100;

export class Executions {
  readonly #client: Client;
  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Pays for one execution and returns as soon as its escrow is funded. Use `wait` to wait for the end. A retry with
   * the same idempotency key after the end returns the result.
   */
  create(agentId: string, input: RunInput, options: CallOptions = {}): Promise<CompletedExecution | StartedExecution> {
    return startCall(this.#client, executeRequest(agentId, input, options, true));
  }

  /** Runs an execution whose escrow a wallet opened itself, and returns at once. Its id makes retries safe. */
  start(
    executionId: string,
    { task, parameters = {} }: RunInput,
    { walletSignature, signal }: RequestOptions & { walletSignature?: string } = {},
  ): Promise<CompletedExecution | StartedExecution> {
    const body = { task, parameters, async: true, wallet_signature: walletSignature };
    return startCall(this.#client, { route: 'startExecution', input: { execution_id: executionId, body }, signal });
  }

  /** One record in full. */
  retrieve(executionId: string, { signal }: RequestOptions = {}): Promise<Execution> {
    return this.#client.request('getExecution', { execution_id: executionId }, { signal });
  }

  /** The wallet's records, newest first, in pages of `limit`. */
  list(
    { offset = 0, limit = LARGEST_PAGE, from, to, ...filter }: ExecutionFilter = {},
    { signal }: RequestOptions = {},
  ): Listing<ExecutionSummary> {
    const times = { from: toTime(from), to: toTime(to) };
    return new Listing(async (start) => {
      const query = { ...filter, ...times, limit, offset: start };
      const { executions, ...page } = await this.#client.request('listExecutions', query, { signal });
      return { items: executions, ...page };
    }, offset);
  }

  /**
   * Waits for the end and returns the record: `completed`, `failed` (refunded) or `disputed`. Throws WaitTimeoutError.
   */
  wait(executionId: string, options: WaitOptions = {}): Promise<Execution> {
    return waitForEnd(this.#client, executionId, options);
  }

  /**
   * Iterates over the events of an execution, from the first until it has ended. Lost connections are resumed. `after`
   * is the id of the last event that you have.
   */
  events(executionId: string, options: StreamOptions = {}): AsyncGenerator<ExecutionEvent, void, undefined> {
    return followExecution(this.#client, executionId, options);
  }

  /** The proof that a settled execution was answered and paid. */
  receipt(executionId: string, { signal }: RequestOptions = {}): Promise<Receipt> {
    return this.#client.request('getExecutionReceipt', { execution_id: executionId }, { signal });
  }

  /** Reads the receipt and checks it with a Solana node of your choice. `rpcUrl: null` skips the checks with a node. */
  async verify(
    executionId: string,
    { rpcUrl, signal }: RequestOptions & { rpcUrl: string | null },
  ): Promise<Verification> {
    const receipt = await this.receipt(executionId, { signal });
    const findArchive = async (id: string) => {
      try {
        return await this.archive(id, { signal });
      } catch (error) {
        if (error instanceof NotFoundError) return null;
        throw error;
      }
    };
    const checks = await verifyReceipt(receipt, {
      rpcUrl,
      executionId,
      fetch: endingWith(signal, this.#client.fetch),
      findArchive,
    });
    // The checks treat an abort like a node that does not answer.
    signal?.throwIfAborted();
    return { ok: isProven(checks), checks, receipt };
  }

  /** The proof of an archived execution; needs no key. */
  archive(executionId: string, { signal }: RequestOptions = {}): Promise<ExecutionArchive> {
    return this.#client.request('getExecutionArchive', { execution_id: executionId }, { signal });
  }

  /** Permanently deletes task, parameters and result of an ended execution from the service. */
  deleteContent(executionId: string, { signal }: RequestOptions = {}): Promise<DeletedContent> {
    return this.#client.request('deleteExecutionContent', { execution_id: executionId }, { signal });
  }
}

/** The first and last UTC day, such as 2026-01-31. At most 92 days. */
export interface Days {
  from?: string | undefined;
  to?: string | undefined;
}

export class Statements {
  readonly #client: Client;
  constructor(client: Client) {
    this.#client = client;
  }

  /** The amounts that the wallet paid, or earned as a creator, per UTC day. */
  daily(
    filter: Days & { role?: 'caller' | 'creator' | undefined } = {},
    { signal }: RequestOptions = {},
  ): Promise<DailyStatement> {
    return this.#client.request('getDailyStatement', filter, { signal });
  }

  /** The amounts that the wallet paid, per UTC day, API key and agent. */
  spend(filter: Days = {}, { signal }: RequestOptions = {}): Promise<SpendStatement> {
    return this.#client.request('getSpend', filter, { signal });
  }
}

/** Returns a fetch whose requests `signal` aborts too. */
function endingWith(signal: AbortSignal | undefined, fetcher: typeof fetch): typeof fetch {
  if (!signal) return fetcher;
  return (input, init) => fetcher(input, { ...init, signal: anyOf(signal, init?.signal) });
}

const toTime = (time: Date | string | undefined): string | undefined =>
  time instanceof Date ? time.toISOString() : time;
