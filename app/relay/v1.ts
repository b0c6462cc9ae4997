/**
 * The REST API, a thin skin: parse, call, serialize through the answer's schema. What is checked in which order is to be
 * read here: size and media type, key, path, agent, status, body, parameters; money is the engine's.
 */
import type { Application, Request, Response } from 'express';
import { MAX_METADATA_BYTES } from '../sdk/metadata.ts';
import { toUsdc } from '../sdk/usdc.ts';
import {
  AgentFull,
  AgentPage,
  AgentsQuery,
  ExecuteAccepted,
  ExecuteBody,
  ExecuteCompleted,
  ExecutionFull,
  ExecutionPage,
  ExecutionsQuery,
  Health,
  MAX_BODY_BYTES,
  MetadataAccepted,
} from '../sdk/wire.ts';
import { authenticate } from './auth.ts';
import { type Agent, findParameterFault, getAgent, listAgents, requireAgent } from './catalog.ts';
import type { ExecuteOutcome, RelayDeps } from './deps.ts';
import { ApiError } from './errors.ts';
import { findResult, getExecution, listExecutions, resultUrl } from './executions.ts';
import { transactionUrl } from './explorer.ts';
import { readHealth } from './health.ts';
import { JsonError, parseJsonObject } from './json.ts';
import { acceptMetadata } from './metadata.ts';
import { bodyFault, parse } from './parse.ts';
import { readJsonBody, readQuery } from './request.ts';
import { send, sendText } from './respond.ts';

type Handler = (request: Request, response: Response) => Promise<void>;

/** Adds every REST route. A path answers other methods with 405. */
export function addRoutes(app: Application, deps: RelayDeps): void {
  const get = (path: string, handle: Handler) => app.route(path).get(handle).all(refuseMethod('GET, HEAD'));
  const post = (path: string, handle: Handler) => app.route(path).post(handle).all(refuseMethod('POST'));

  get('/v1/agents', async (request, response) => {
    const query = parse(AgentsQuery, readQuery(request.url), 'query parameter');
    send(response, 200, AgentPage, await listAgents(deps, query));
  });

  get('/v1/agents/:agent_id', async (request, response) => {
    const agent = await getAgent(deps, param(request, 'agent_id'));
    requireNoQuery(request);
    send(response, 200, AgentFull, agent);
  });

  post('/v1/agents/:agent_id/execute', async (request, response) => {
    const body = await readJsonBody(request, MAX_BODY_BYTES);
    const principal = await authenticate(deps, request.headers.authorization);
    const agent = await requireAgent(deps, param(request, 'agent_id'));
    if (agent.status === 'paused') throw new ApiError('agent_paused', 'The agent is paused by its creator');
    requireNoQuery(request);
    const input = await readExecuteBody(deps, agent, body);
    sendOutcome(deps, response, await deps.engine.execute(principal, agent, input));
  });

  get('/v1/executions', async (request, response) => {
    const { wallet } = await authenticate(deps, request.headers.authorization);
    const query = parse(ExecutionsQuery, readQuery(request.url), 'query parameter');
    send(response, 200, ExecutionPage, await listExecutions(deps, wallet, query));
  });

  get('/v1/executions/:execution_id', async (request, response) => {
    const { wallet } = await authenticate(deps, request.headers.authorization);
    const execution = await getExecution(deps, wallet, param(request, 'execution_id'));
    requireNoQuery(request);
    send(response, 200, ExecutionFull, execution);
  });

  post('/v1/metadata', async (request, response) => {
    const bytes = await readJsonBody(request, MAX_METADATA_BYTES);
    send(response, 200, MetadataAccepted, await acceptMetadata(deps, bytes));
  });

  get('/results/:execution_id/:token', async (request, response) => {
    const text = await findResult(deps, param(request, 'execution_id'), param(request, 'token'));
    if (!text) throw new ApiError('not_found', 'There is no result at this address');
    sendText(response, text);
  });

  get('/health', async (_request, response) => {
    const health = await readHealth(deps);
    send(response, health.status === 'ok' ? 200 : 503, Health, health);
  });
}

async function readExecuteBody(deps: RelayDeps, agent: Agent, bytes: Buffer) {
  const body = parse(ExecuteBody, readObject(bytes), 'field');
  const timeoutSeconds = body.timeout_seconds ?? agent.timeoutSeconds;
  if (timeoutSeconds < agent.minTimeoutSeconds || timeoutSeconds > agent.timeoutSeconds) {
    const range = `from ${agent.minTimeoutSeconds} to ${agent.timeoutSeconds}`;
    throw new ApiError('invalid_request', `The field "timeout_seconds" must be ${range} for this agent`);
  }
  const fault = await findParameterFault(deps, agent, body.parameters);
  if (fault) throw new ApiError('invalid_request', `The field "parameters" does not fit the agent's schema: ${fault}`);
  return {
    task: body.task,
    parameters: body.parameters,
    async: body.async,
    timeoutSeconds,
    maxCost: body.max_cost_usdc ?? agent.price,
  };
}

function readObject(bytes: Buffer): Record<string, unknown> {
  try {
    return parseJsonObject(bytes);
  } catch (error) {
    if (error instanceof JsonError) throw bodyFault(error);
    throw error;
  }
}

function sendOutcome(deps: RelayDeps, response: Response, outcome: ExecuteOutcome): void {
  const { executionId } = outcome;
  if (outcome.kind !== 'completed') {
    // 202: what becomes of it is not known yet, and the record will tell.
    const status = outcome.kind === 'pending' ? 200 : 202;
    send(response, status, ExecuteAccepted, { execution_id: executionId, status: outcome.kind });
    return;
  }
  send(response, 200, ExecuteCompleted, {
    execution_id: executionId,
    status: 'completed',
    result: outcome.result,
    result_hash: outcome.resultHash,
    cost_usdc: toUsdc(outcome.price),
    tokens_used: outcome.tokensUsed,
    execution_time_ms: outcome.executionTimeMs,
    on_chain_record: transactionUrl(deps, outcome.settleSignature),
    ipfs_url: resultUrl(deps, executionId, outcome.resultToken),
  });
}

function refuseMethod(allowed: string) {
  return (request: Request, response: Response): void => {
    response.setHeader('Allow', allowed);
    throw new ApiError('method_not_allowed', `${request.method} is not allowed here; use ${allowed}`);
  };
}

function param(request: Request, name: string): string {
  return String(request.params[name]);
}

function requireNoQuery(request: Request): void {
  const [name] = Object.keys(readQuery(request.url));
  if (name === undefined) return;
  throw new ApiError('invalid_request', `There is no query parameter ${JSON.stringify(name)} here`);
}
