/**
 * The typed client of the REST API. It reads answers with the schemas that the relay writes them with, and drops fields
 * that a newer relay adds.
 */
import * as z from 'zod';
import { Receipt } from '../wire/receipt.ts';
import {
  AgentFull,
  AgentPage,
  AgentStatistics,
  type AgentsQuery,
  ArchiveLine,
  ContentDeleted,
  DailyStatement,
  ExecuteAccepted,
  ExecuteCompleted,
  type ExecuteInput,
  ExecutionArchive,
  ExecutionFull,
  ExecutionPage,
  Health,
  MetadataAccepted,
  Ready,
  SpendStatement,
  type StartInput,
  type StatementRole,
} from '../wire/wire.ts';
import { read, readJson, toError } from './answer.ts';
import { createEventStreams } from './events.ts';
import { PATIENCE, type Patience, repeat } from './repeat.ts';

export interface ClientOptions {
  /** Such as `http://127.0.0.1:8787`, with or without a trailing slash. */
  baseUrl: string;
  /** Needed for execute and for reading executions. */
  apiKey?: string;
  /** Limits for the retries of reads, `execute` and `startExecution`. */
  patience?: Partial<Patience>;
  /** False if the caller repeats failed reads itself. */
  repeatReads?: boolean;
  /** Longest wait for one answer of a read, ms. */
  readTimeoutMs?: number;
  fetch?: typeof fetch;
}

/** The service answers a read within seconds, even when its node is away. */
const READ_TIMEOUT_MS = 60_000;

/** Filters of GET /v1/agents, as text or numbers. */
export type AgentFilters = Partial<{
  limit: number;
  offset: number;
  tags: string;
  min_success_rate: number;
  min_executions: number;
  verified_only: boolean;
  /** Words of its name, tagline, tags or creator's name; or an agent_id or a wallet. */
  q: string;
  creator: string;
  sort: AgentsQuery['sort'];
}>;

/** Filters of GET /v1/executions; `from` and `to` are ISO 8601 with a zone, exclusive. */
export type ExecutionFilters = Partial<{
  limit: number;
  offset: number;
  status: string;
  agent_id: string;
  from: string;
  to: string;
}>;

export type StatementFilters = Partial<{ role: StatementRole; from: string; to: string }>;

const ExecuteAnswer = z.discriminatedUnion('status', [ExecuteCompleted, ExecuteAccepted]);
export type ExecuteAnswer = ExecuteCompleted | ExecuteAccepted;

export type MarketplaceClient = ReturnType<typeof createClient>;

export interface ReadOptions {
  /** Ends the wait, and all retries. */
  signal?: AbortSignal;
}

export interface ExecuteOptions extends ReadOptions {
  /** Idempotency key of this call: 1 to 255 visible ASCII characters. Random by default, so that retries are safe. */
  idempotencyKey?: string;
}

/** Also accepts answers of older relays: a pending refund shown as failed, no signatures of the creator, no archive, no deletion. */
const ReadExecution = z.strictObject({
  ...ExecutionFull.shape,
  refund: z.enum(['pending', 'claimable', 'blocked', 'handed_over', 'done']).nullable(),
  signature: ExecutionFull.shape.signature.default(null),
  execution_signature: ExecutionFull.shape.execution_signature.default(null),
  archive: ExecutionFull.shape.archive.default(null),
  content_deleted_at: ExecutionFull.shape.content_deleted_at.default(null),
});

/**
 * The REST API. Methods throw MarketplaceError for error answers, and TypeError if there was no answer. Reads, `execute`
 * and `startExecution` are then retried automatically, which never charges twice. A read that gets no answer in time
 * throws a DOMException named TimeoutError.
 */
export function createClient(options: ClientOptions) {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const send = options.fetch ?? fetch;
  const patience = { ...PATIENCE, ...options.patience };
  const { apiKey, repeatReads = true, readTimeoutMs = READ_TIMEOUT_MS } = options;

  async function call<T>(schema: z.ZodType<T>, path: string, init: RequestInit = {}, token = apiKey): Promise<T> {
    const headers = new Headers(init.headers);
    if (token) headers.set('authorization', `Bearer ${token}`);
    const response = await send(baseUrl + path, { ...init, headers });
    // An error's body may be anything.
    const body = response.ok ? await readJson(response) : await response.json().catch(() => null);
    if (!response.ok && path !== '/ready') throw toError(response, body);
    return read(schema, body);
  }

  /** A read, which may be retried. */
  function get<T>(schema: z.ZodType<T>, path: string, options?: ReadOptions): Promise<T> {
    return reading((signal) => call(schema, path, { signal }), options);
  }

  function reading<T>(read: (signal: AbortSignal) => Promise<T>, { signal }: ReadOptions = {}): Promise<T> {
    const once = () => {
      const timeout = AbortSignal.timeout(readTimeoutMs);
      return read(signal ? AbortSignal.any([signal, timeout]) : timeout);
    };
    return repeatReads ? repeat(once, patience, signal) : once();
  }

  const post = (
    body: RequestInit['body'],
    signal?: AbortSignal,
    headers: Record<string, string> = {},
  ): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal: signal ?? null,
  });

  return {
    listAgents: (filters: AgentFilters = {}, options?: ReadOptions) =>
      get(AgentPage, `/v1/agents${toQuery(filters)}`, options),
    getAgent: (agentId: string, options?: ReadOptions) =>
      get(AgentFull, `/v1/agents/${encodeURIComponent(agentId)}`, options),
    /** Success and latency for each of the last 30 days. */
    getAgentStatistics: (agentId: string, options?: ReadOptions) =>
      get(AgentStatistics, `/v1/agents/${encodeURIComponent(agentId)}/statistics`, options),
    /**
     * A `completed` answer, or `pending` / `running`: then poll `getExecution` until it has ended. One call is charged
     * at most once, however often it is retried.
     */
    execute(agentId: string, body: ExecuteInput, options: ExecuteOptions = {}): Promise<ExecuteAnswer> {
      const { signal, idempotencyKey = crypto.randomUUID() } = options;
      const init = post(JSON.stringify(body), signal, { 'idempotency-key': idempotencyKey });
      const path = `/v1/agents/${encodeURIComponent(agentId)}/execute`;
      return repeat(() => call(ExecuteAnswer, path, init), patience, signal);
    },
    /** Runs an execution that a wallet opened itself. Its id alone makes retries safe. */
    startExecution: (executionId: string, body: StartInput, signal?: AbortSignal): Promise<ExecuteAnswer> =>
      repeat(
        () =>
          call(
            ExecuteAnswer,
            `/v1/executions/${encodeURIComponent(executionId)}/start`,
            post(JSON.stringify(body), signal),
          ),
        patience,
        signal,
      ),
    getExecution: (executionId: string, options?: ReadOptions) =>
      get(ReadExecution, `/v1/executions/${encodeURIComponent(executionId)}`, options),
    ...createEventStreams({ baseUrl, apiKey, send, patience }),
    /** The receipt, which proves to anyone that a settled execution was answered and paid. For its caller only. */
    getReceipt: (executionId: string, options?: ReadOptions) =>
      get(Receipt, `/v1/executions/${encodeURIComponent(executionId)}/receipt`, options),
    /** Deletes task, parameters and result of an ended execution from the service, for good. */
    deleteExecutionContent: (executionId: string) =>
      call(ContentDeleted, `/v1/executions/${encodeURIComponent(executionId)}/content`, { method: 'DELETE' }),
    /** The proof of an archived execution; needs no key. */
    getExecutionArchive: (executionId: string, options?: ReadOptions) =>
      get(ExecutionArchive, `/v1/executions/${encodeURIComponent(executionId)}/archive`, options),
    /** A page of an archive's leaves from this index on; empty after the last leaf. Needs no key. */
    listLeaves: (archiveIndex: number, first = 0, options?: ReadOptions): Promise<ArchiveLine[]> =>
      reading(async (signal) => {
        const response = await send(`${baseUrl}/v1/archives/${archiveIndex}/leaves?first=${first}`, { signal });
        if (!response.ok) throw toError(response, await response.json().catch(() => null));
        const lines = (await response.text()).split('\n').filter((line) => line !== '');
        return lines.map((line) => read(ArchiveLine, JSON.parse(line)));
      }, options),
    /** What the wallet paid or earned by the day; `from` and `to` are UTC days such as 2026-01-31, inclusive. */
    getDailyStatement: (filters: StatementFilters = {}, options?: ReadOptions) =>
      get(DailyStatement, `/v1/statements/daily${toQuery(filters)}`, options),
    /** What the wallet paid by the UTC day, the API key and the agent. */
    getSpend: (filters: Omit<StatementFilters, 'role'> = {}, options?: ReadOptions) =>
      get(SpendStatement, `/v1/statements/spend${toQuery(filters)}`, options),
    listExecutions: (filters: ExecutionFilters = {}, options?: ReadOptions) =>
      get(ExecutionPage, `/v1/executions${toQuery(filters)}`, options),
    /**
     * `session` is a token of `auth.verify`. It shows who posts the document, so that its endpoint can be tested before
     * listing.
     */
    postMetadata: (bytes: Uint8Array, session = '') =>
      call(MetadataAccepted, '/v1/metadata', post(bytes as Uint8Array<ArrayBuffer>), session),
    /** Shows that the relay answers. */
    health: (options?: ReadOptions) => get(Health, '/health', options),
    /** Shows if the relay can take executions, and otherwise the problems. Does not throw if it cannot. */
    ready: (options?: ReadOptions) => get(Ready, '/ready', options),
  };
}

function toQuery(filters: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
