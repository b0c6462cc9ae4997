/**
 * The typed client of the REST API. It reads answers with the schemas that the relay writes them with, and drops fields
 * that a newer relay adds.
 */
import * as z from 'zod';
import { MarketplaceEvent as EventSchema, type MarketplaceEvent } from '../wire/events.ts';
import { checkedApiKey, checkedUrl } from '../wire/secrets.ts';
import {
  ArchiveLine,
  ContentDeleted,
  ExecuteAccepted,
  ExecuteCompleted,
  type ExecuteInput,
  Health,
  MetadataAccepted,
  OwnKey,
  Ready,
  type StartInput,
} from '../wire/wire.ts';
import { type AgentFilters, createAgentMethods } from './agentRoutes.ts';
import { read } from './answer.ts';
import { createEventStreams } from './events.ts';
import { type HttpRequest, jsonOf, type ReadOptions, send } from './http.ts';
import { createRecordMethods, type ExecutionFilters, type StatementFilters } from './recordRoutes.ts';
import { PATIENCE, type Patience, repeat } from './repeat.ts';
import type { OnDelta } from './streamed.ts';
import { createWebhookMethods } from './webhookRoutes.ts';

export interface ClientOptions {
  /** Such as `http://127.0.0.1:8787`, with or without a trailing slash. */
  baseUrl: string;
  /** An API key, or the token of a session where the route takes one. */
  apiKey?: string;
  /** Limits for the retries of reads, `execute` and `startExecution`. */
  patience?: Partial<Patience>;
  /** False if the caller repeats failed reads itself. */
  repeatReads?: boolean;
  /** Longest wait for one answer of a read, or for the next sign of life of a stream of events, ms. */
  readTimeoutMs?: number;
  fetch?: typeof fetch;
}

/** The service answers a read within seconds, even when its node is away. */
const READ_TIMEOUT_MS = 60_000;

export type { AgentFilters, ExecutionFilters, ReadOptions, StatementFilters };

/** What a method says of its request; the rest is the client's. */
type Init = Partial<Omit<HttpRequest, 'baseUrl' | 'path'>>;

const ExecuteAnswer = z.discriminatedUnion('status', [ExecuteCompleted, ExecuteAccepted]);
export type ExecuteAnswer = ExecuteCompleted | ExecuteAccepted;

export type MarketplaceClient = ReturnType<typeof createClient>;

const readEvent = (data: string) => read<unknown>(EventSchema, JSON.parse(data)) as MarketplaceEvent;

export interface ExecuteOptions extends ReadOptions {
  /** Idempotency key of this call: 1 to 255 visible ASCII characters. Random by default, so that retries are safe. */
  idempotencyKey?: string;
  /**
   * Receives the agent's output as it is written, if the agent streams. It is not verified and is not the result. After
   * a lost connection only the result follows.
   */
  onDelta?: OnDelta;
  /** With `onDelta`: receives the execution's id before any output. The price may not be in escrow yet. */
  onBegun?: (executionId: string) => void;
}

/**
 * The REST API. Throws TypeError for a wrong address, and for a key with a character that no key has. Methods throw
 * MarketplaceError for error answers, and TypeError if there was no answer. Reads, `execute` and `startExecution` are
 * then retried automatically, which never charges twice. A read that gets no answer in time throws a DOMException named
 * TimeoutError.
 */
export function createClient(options: ClientOptions) {
  const baseUrl = checkedUrl(options.baseUrl);
  const fetcher = options.fetch ?? fetch;
  const patience = { ...PATIENCE, ...options.patience };
  const paid = { ...patience, isPaid: true };
  const apiKey = checkedApiKey(options.apiKey);
  const { repeatReads = true, readTimeoutMs = READ_TIMEOUT_MS } = options;

  /** Sends a request with the key, or with this token. */
  function ask(path: string, { method = 'GET', headers = {}, ...init }: Init = {}, token = apiKey) {
    const sent = token ? { ...headers, authorization: `Bearer ${token}` } : headers;
    return send(fetcher, { timeoutMs: null, ...init, method, baseUrl, path, headers: sent });
  }

  const call = async <T>(schema: z.ZodType<T>, path: string, init?: Init, token?: string): Promise<T> =>
    read(schema, jsonOf(await ask(path, init, token)));

  /** A read, which may be retried. */
  function reading<T>(once: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return repeatReads ? repeat(once, patience, signal) : once();
  }

  function get<T>(schema: z.ZodType<T>, path: string, { signal }: ReadOptions = {}, accepts?: number[]): Promise<T> {
    return reading(() => call(schema, path, { signal, timeoutMs: readTimeoutMs, accepts }), signal);
  }

  const openStream = (path: string, headers: Record<string, string>, signal: AbortSignal | undefined) =>
    repeat(() => ask(path, { headers, signal, keepsOpen: true }), patience, signal);

  const post = (body: RequestInit['body'], signal?: AbortSignal, headers: Record<string, string> = {}): Init => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal,
  });

  const change = <T>(schema: z.ZodType<T>, method: string, path: string, body?: object): Promise<T> =>
    call(schema, path, body === undefined ? { method } : { ...post(JSON.stringify(body)), method });

  return {
    ...createAgentMethods({ get }),
    /**
     * A `completed` answer, or `pending` / `running`: then poll `getExecution` until it has ended. One call is charged
     * at most once, however often it is retried.
     */
    execute(agentId: string, body: ExecuteInput, options: ExecuteOptions = {}): Promise<ExecuteAnswer> {
      const { signal, idempotencyKey, onDelta, onBegun } = options;
      const headers = { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() };
      const sent = post(JSON.stringify(onDelta ? { ...body, stream: true } : body), signal, headers);
      const init = { ...sent, onDelta, onBegun };
      const path = `/v1/agents/${encodeURIComponent(agentId)}/execute`;
      return repeat(() => call(ExecuteAnswer, path, init), paid, signal);
    },
    /** Runs an execution that a wallet opened itself. Its id alone makes retries safe. */
    startExecution(
      executionId: string,
      body: StartInput,
      signal?: AbortSignal,
      onDelta?: OnDelta,
    ): Promise<ExecuteAnswer> {
      const init = { ...post(JSON.stringify(onDelta ? { ...body, stream: true } : body), signal), onDelta };
      const path = `/v1/executions/${encodeURIComponent(executionId)}/start`;
      return repeat(() => call(ExecuteAnswer, path, init), paid, signal);
    },
    ...createRecordMethods({ get }),
    ...createEventStreams<MarketplaceEvent>({
      open: openStream,
      read: readEvent,
      silenceMs: readTimeoutMs,
    }),
    /** Deletes task, parameters and result of an ended execution from the service, for good. */
    deleteExecutionContent: (executionId: string) =>
      call(ContentDeleted, `/v1/executions/${encodeURIComponent(executionId)}/content`, { method: 'DELETE' }),
    /** A page of an archive's leaves from this index on; empty after the last leaf. Needs no key. */
    listLeaves: (archiveIndex: number, first = 0, { signal }: ReadOptions = {}): Promise<ArchiveLine[]> =>
      reading(async () => {
        const init = { signal, timeoutMs: readTimeoutMs };
        const { text } = await ask(`/v1/archives/${archiveIndex}/leaves?first=${first}`, init, '');
        const lines = text.split('\n').filter((line) => line !== '');
        return lines.map((line) => read(ArchiveLine, JSON.parse(line)));
      }, signal),
    /** What the client's API key may still spend, and its restrictions. */
    getKey: (options?: ReadOptions) => get(OwnKey, '/v1/key', options),
    ...createWebhookMethods({ get, change }),
    /**
     * `session` is a token of `auth.verify`. It shows who posts the document, so that its endpoint can be tested before
     * listing.
     */
    postMetadata: (bytes: Uint8Array, session = '') =>
      call(MetadataAccepted, '/v1/metadata', post(bytes as Uint8Array<ArrayBuffer>), session),
    /** Shows that the relay answers. */
    health: (options?: ReadOptions) => get(Health, '/health', options),
    /** Shows if the relay can take executions, and otherwise the problems. Does not throw if it cannot. */
    ready: (options?: ReadOptions) => get(Ready, '/ready', options, [503]),
  };
}
