/**
 * Typed clients of the marketplace: the REST API for those who execute agents, and the procedures of /trpc for those
 * who manage keys and listings. Both read answers through the schemas that the relay writes them with.
 */
import { createTRPCUntypedClient, httpLink, TRPCClientError } from '@trpc/client';
import { z } from 'zod';
import { PROCEDURES, type ProcedureInput, type ProcedureName, type ProcedureOutput } from './procedures.ts';
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
} from './wire.ts';

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
  ) {
    super(message);
  }
}

export interface ClientOptions {
  /** Such as `http://127.0.0.1:8787`, with or without a trailing slash. */
  baseUrl: string;
  /** Needed for execute and for reading executions. */
  apiKey?: string;
  fetch?: typeof fetch;
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

export type ExecuteAnswer = ExecuteCompleted | ExecuteAccepted;
export type MarketplaceClient = ReturnType<typeof createClient>;

/**
 * The REST API. Methods throw MarketplaceError for error answers and TypeError where there was no answer at all;
 * nothing is tried again, because a second execute is a second charge.
 */
export function createClient(options: ClientOptions) {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const send = options.fetch ?? fetch;

  async function call<T>(schema: z.ZodType<T>, path: string, init: RequestInit = {}): Promise<T> {
    const headers = new Headers(init.headers);
    if (options.apiKey) headers.set('authorization', `Bearer ${options.apiKey}`);
    const response = await send(baseUrl + path, { ...init, headers });
    const body: unknown = await response.json().catch(() => null);
    if (!response.ok && path !== '/health') throw toError(response, body);
    return schema.parse(body);
  }

  const post = (body: RequestInit['body'], signal?: AbortSignal): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: signal ?? null,
  });

  return {
    listAgents: (filters: AgentFilters = {}) => call(AgentPage, `/v1/agents${toQuery(filters)}`),
    getAgent: (agentId: string) => call(AgentFull, `/v1/agents/${encodeURIComponent(agentId)}`),
    /** A `completed` answer, or `pending` / `running`: then ask `getExecution` until it has ended. */
    execute: (agentId: string, body: ExecuteInput, signal?: AbortSignal): Promise<ExecuteAnswer> =>
      call(
        z.union([ExecuteCompleted, ExecuteAccepted]),
        `/v1/agents/${encodeURIComponent(agentId)}/execute`,
        post(JSON.stringify(body), signal),
      ),
    getExecution: (executionId: string) => call(ExecutionFull, `/v1/executions/${encodeURIComponent(executionId)}`),
    listExecutions: (filters: ExecutionFilters = {}) => call(ExecutionPage, `/v1/executions${toQuery(filters)}`),
    /** `bytes` as `encodeMetadata` makes them. */
    postMetadata: (bytes: Uint8Array) => call(MetadataAccepted, '/v1/metadata', post(Buffer.from(bytes))),
    health: () => call(Health, '/health'),
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
        return output.parse(answer) as ProcedureOutput<Name>;
      } catch (error) {
        if (error instanceof TRPCClientError && error.data) throw fromProcedure(error);
        throw error;
      }
    },
  };
}

function fromProcedure(error: { message: string; data: unknown }): MarketplaceError {
  const data = error.data as { httpStatus?: number; code?: string; request_id?: string };
  return new MarketplaceError(
    data.httpStatus ?? 500,
    data.code ?? 'internal_error',
    error.message,
    null,
    data.request_id ?? null,
  );
}

function toError(response: Response, body: unknown): MarketplaceError {
  const requestId = response.headers.get('x-request-id');
  const parsed = ErrorBody.safeParse(body);
  if (!parsed.success) {
    const message = `${response.url} answered with status ${response.status} and no error that this client knows`;
    return new MarketplaceError(response.status, 'unknown', message, null, requestId);
  }
  const { code, message, execution_id } = parsed.data.error;
  return new MarketplaceError(response.status, code, message, execution_id, requestId);
}

function toQuery(filters: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
