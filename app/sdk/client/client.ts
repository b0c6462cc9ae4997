/**
 * Typed clients of the marketplace: the REST API for those who execute agents, and the procedures of /trpc for those
 * who manage keys and listings. Both read answers through the schemas that the relay writes them with, and leave out what
 * a newer relay says beyond them.
 */
import { createTRPCUntypedClient, httpLink, TRPCClientError } from '@trpc/client';
import { z } from 'zod';
import { PROCEDURES, type ProcedureInput, type ProcedureName, type ProcedureOutput } from '../wire/procedures.ts';
import {
  AgentFull,
  AgentPage,
  type AgentsQuery,
  ErrorBody,
  ExecuteAccepted,
  ExecuteCompleted,
  type ExecuteInput,
  ExecutionFull,
  ExecutionPage,
  Health,
  MetadataAccepted,
  Ready,
  type StartInput,
} from '../wire/wire.ts';

/** An answer that is an error. `code` and `message` are the marketplace's own. */
export class MarketplaceError extends Error {
  override name = 'MarketplaceError';
  constructor(
    /** HTTP status. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly executionId: string | null,
    /** X-Request-Id, for whoever looks into the logs. */
    readonly requestId: string | null,
    /** What the code's entry in errorCodes.ts says; null where there are none. */
    readonly details: Record<string, unknown> | null = null,
    /** When the service says that it is worth trying again. */
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }
}

export interface ClientOptions {
  /** Such as `http://127.0.0.1:8787`, with or without a trailing slash. */
  baseUrl: string;
  /** Needed for execute and for reading executions. */
  apiKey?: string;
  /** How long `execute` and `startExecution` are repeated. */
  patience?: Partial<Patience>;
  fetch?: typeof fetch;
}

/** How long a request is repeated that got no answer, or one that says "not now". */
export interface Patience {
  /** Most repeats of one request. */
  repeats: number;
  /** Longest pause before one; a service that asks for a longer one is told of to the caller instead. */
  pauseMs: number;
  /** No repeat begins later than this after the first request. */
  totalMs: number;
  /** Hears of each repeat, before the pause. */
  onRepeat: (error: unknown, pauseMs: number) => void;
}

/** Filters of GET /v1/agents, as text or numbers. */
export type AgentFilters = Partial<{
  limit: number;
  offset: number;
  tags: string;
  min_success_rate: number;
  min_executions: number;
  verified_only: boolean;
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

const ExecuteAnswer = z.discriminatedUnion('status', [ExecuteCompleted, ExecuteAccepted]);
export type ExecuteAnswer = ExecuteCompleted | ExecuteAccepted;

/** The body of an error, also of one that this client does not know yet. */
const ErrorAnswer = z.object({ error: z.object({ ...ErrorBody.shape.error.shape, code: z.string() }) });

export type MarketplaceClient = ReturnType<typeof createClient>;

export interface ExecuteOptions {
  signal?: AbortSignal;
  /** Names this call: 1 to 255 visible ASCII characters. Default a random one, so that repeats are safe. */
  idempotencyKey?: string;
}

const PATIENCE: Patience = { repeats: 4, pauseMs: 10_000, totalMs: Number.POSITIVE_INFINITY, onRepeat: () => {} };
/** Pauses double, unless the service asks for longer ones. */
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 8_000;
/** Answers of a balancer that say nothing of the request behind it. */
const BALANCER_STATUSES = [502, 503, 504];

/** As older relays answer too: a refund on its way shown as failed, and no signatures of the creator. */
const ReadExecution = z.strictObject({
  ...ExecutionFull.shape,
  refund: z.enum(['pending', 'claimable', 'blocked', 'done']).nullable(),
  signature: ExecutionFull.shape.signature.default(null),
  execution_signature: ExecutionFull.shape.execution_signature.default(null),
});

/**
 * The REST API. Methods throw MarketplaceError for error answers and TypeError where there was no answer at all.
 * `execute` and `startExecution` are repeated by themselves where there was none, which charges nothing twice.
 */
export function createClient(options: ClientOptions) {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const send = options.fetch ?? fetch;
  const patience = { ...PATIENCE, ...options.patience };

  async function call<T>(
    schema: z.ZodType<T>,
    path: string,
    init: RequestInit = {},
    token = options.apiKey,
  ): Promise<T> {
    const headers = new Headers(init.headers);
    if (token) headers.set('authorization', `Bearer ${token}`);
    const response = await send(baseUrl + path, { ...init, headers });
    // An answer that breaks off is none, and says so; an error's body may be anything.
    const body: unknown = response.ok ? await response.json() : await response.json().catch(() => null);
    if (!response.ok && path !== '/ready') throw toError(response, body);
    return read(schema, body);
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
    listAgents: (filters: AgentFilters = {}) => call(AgentPage, `/v1/agents${toQuery(filters)}`),
    getAgent: (agentId: string) => call(AgentFull, `/v1/agents/${encodeURIComponent(agentId)}`),
    /**
     * A `completed` answer, or `pending` / `running`: then ask `getExecution` until it has ended. One call is one charge
     * at most, however often the network makes it ask again.
     */
    execute(agentId: string, body: ExecuteInput, options: ExecuteOptions = {}): Promise<ExecuteAnswer> {
      const { signal, idempotencyKey = crypto.randomUUID() } = options;
      const init = post(JSON.stringify(body), signal, { 'idempotency-key': idempotencyKey });
      const path = `/v1/agents/${encodeURIComponent(agentId)}/execute`;
      return repeat(() => call(ExecuteAnswer, path, init), patience, signal);
    },
    /** Runs an execution that a wallet opened itself. Its id alone makes repeating it safe. */
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
    getExecution: (executionId: string) => call(ReadExecution, `/v1/executions/${encodeURIComponent(executionId)}`),
    listExecutions: (filters: ExecutionFilters = {}) => call(ExecutionPage, `/v1/executions${toQuery(filters)}`),
    /** `session`, a token of `auth.verify`: whose document it is, so that its endpoint can be tested before it is listed. */
    postMetadata: (bytes: Uint8Array, session = '') =>
      call(MetadataAccepted, '/v1/metadata', post(bytes as Uint8Array<ArrayBuffer>), session),
    /** That the relay answers. */
    health: () => call(Health, '/health'),
    /** Whether it can take executions, and what is in the way: also a value where it cannot. */
    ready: () => call(Ready, '/ready'),
  };
}

/**
 * The procedures of /trpc, by name: `call('keys.register', { ... })`. `session` is the token of `auth.verify`, for
 * those that need one. Throws MarketplaceError.
 */
export function createManagementClient(options: { baseUrl: string; session?: string; fetch?: typeof fetch }) {
  const client = createTRPCUntypedClient({
    links: [
      httpLink({
        url: `${options.baseUrl.replace(/\/+$/, '')}/trpc`,
        headers: options.session ? { authorization: `Bearer ${options.session}` } : {},
        ...(options.fetch ? { fetch: options.fetch } : {}),
      }),
    ],
  });
  return {
    async call<Name extends ProcedureName>(
      name: Name,
      ...[input]: undefined extends ProcedureInput<Name> ? [] : [ProcedureInput<Name>]
    ): Promise<ProcedureOutput<Name>> {
      const { kind, output } = PROCEDURES[name];
      try {
        const answer = kind === 'query' ? await client.query(name, input) : await client.mutation(name, input);
        return read<unknown>(output, answer) as ProcedureOutput<Name>;
      } catch (error) {
        throw error instanceof TRPCClientError ? fromProcedure(error) : error;
      }
    },
  };
}

/** An answer without the fields that its schema does not know. Throws ZodError where it lacks one, or has another kind. */
function read<T>(schema: z.ZodType<T>, answer: unknown): T {
  const { error, data } = schema.safeParse(answer);
  if (!error) return data as T;
  const known = structuredClone(answer);
  for (const issue of error.issues) {
    if (issue.code !== 'unrecognized_keys') throw error;
    // biome-ignore lint/suspicious/noExplicitAny: the path leads to an object, or there would be another issue
    const object = issue.path.reduce((value: any, key) => value[key], known);
    for (const key of issue.keys) delete object[key];
  }
  return schema.parse(known);
}

/**
 * Makes a request that may be repeated until it has an answer that counts. While the first one still runs, it waits as
 * long as that takes: `signal` ends the waiting.
 */
export async function repeat<T>(
  request: () => Promise<T>,
  patience: Partial<Patience> = {},
  signal?: AbortSignal,
): Promise<T> {
  const { repeats, pauseMs, totalMs, onRepeat } = { ...PATIENCE, ...patience };
  const end = performance.now() + totalMs;
  for (let count = 0; ; ) {
    try {
      return await request();
    } catch (error) {
      const isRunning = error instanceof MarketplaceError && error.code === 'request_in_progress';
      if (!isRunning) count += 1;
      const asked = error instanceof MarketplaceError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
      const pause = Math.max(asked, isRunning ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (count - 1), LAST_PAUSE_MS));
      const isInTime = count <= repeats && pause <= pauseMs && performance.now() + pause <= end;
      if (signal?.aborted || !(isRunning || (isTransient(error) && isInTime))) throw error;
      if (!isRunning) onRepeat(error, pause);
      await sleep(pause, signal);
    }
  }
}

/** Whether the same request may find another answer: not where an execution has ended. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof MarketplaceError)) return error instanceof TypeError;
  if (error.code === 'unknown') return BALANCER_STATUSES.includes(error.status);
  return (error.code === 'service_unavailable' || error.status === 429) && error.executionId === null;
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** The service's own error, that of a balancer in front of it, or what stood in the way of any answer. */
function fromProcedure({ message, data, meta, cause }: TRPCClientError<never>): unknown {
  const { response } = (meta ?? {}) as { response?: Response };
  const retryAfter = response ? retryAfterOf(response) : null;
  if (data) {
    const { httpStatus = 500, code = 'internal_error', request_id = null, details = null } = data as ProcedureErrorData;
    return new MarketplaceError(httpStatus, code, message, null, request_id, details, retryAfter);
  }
  if (response && !response.ok) return unknownAnswer(response);
  return cause ?? new TypeError(message);
}

interface ProcedureErrorData {
  httpStatus?: number;
  code?: string;
  request_id?: string;
  details?: Record<string, unknown>;
}

function retryAfterOf(response: Response): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

function unknownAnswer(response: Response): MarketplaceError {
  const message = `${response.url} answered with status ${response.status} and no error that this client knows`;
  const requestId = response.headers.get('x-request-id');
  return new MarketplaceError(response.status, 'unknown', message, null, requestId, null, retryAfterOf(response));
}

function toError(response: Response, body: unknown): MarketplaceError {
  const parsed = ErrorAnswer.safeParse(body);
  if (!parsed.success) return unknownAnswer(response);
  const { code, message, execution_id, details } = parsed.data.error;
  const requestId = response.headers.get('x-request-id');
  return new MarketplaceError(response.status, code, message, execution_id, requestId, details, retryAfterOf(response));
}

function toQuery(filters: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
