/**
 * What each REST route does, a thin skin: parse, call, and a value that leaves through the answer's schema. What is
 * checked in which order is to be read here: size and media type, key, path, agent, status, body, parameters; money is
 * the engine's.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from 'express';
import { MAX_METADATA_BYTES } from '../../sdk/wire/metadata.ts';
import { AgentsQuery, ExecuteBody, ExecutionsQuery, MAX_BODY_BYTES, StartBody } from '../../sdk/wire/wire.ts';
import { authenticate, authenticateReader, readBearer } from '../access/auth.ts';
import { type Agent, findParameterFaults, getAgent, listAgents, requireAgent } from '../agents/catalog.ts';
import { acceptMetadata } from '../agents/metadata.ts';
import { readIdempotencyKey, refuseByRecord, repeatableOf } from '../calls/idempotency.ts';
import { identityOf, readOpened, requireRequest, requireStartable } from '../calls/opened.ts';
import { answerFirst, answerKnown, replyOf } from '../calls/outcomes.ts';
import { findResult, getExecution, listExecutions } from '../calls/records.ts';
import type { RelayDeps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { JsonError, parseJsonObject } from '../json.ts';
import { createReadiness, readHealth } from '../operation/health.ts';
import { invalid, parse, readObject, show } from '../parse.ts';
import { createPage, createRootPage, DOCS_POLICY } from './docs/page.ts';
import { createDocument } from './openapi/document.ts';
import { readJsonBody, readQuery } from './request.ts';
import type { Handlers } from './router.ts';

const IDL = readFileSync(join(import.meta.dirname, '..', '..', 'sdk', 'program', 'idl', 'marketplace.json'));

export function createHandlers(deps: RelayDeps): Handlers {
  // Written when the first is asked for, because the address is known only once the server listens.
  let document: Buffer | undefined;
  let page: Buffer | undefined;
  const readReadiness = createReadiness(deps);
  const openapi = () => createDocument({ baseUrl: deps.baseUrl(), environment: deps.config.environment });

  return {
    async listAgents(request) {
      const query = parse(AgentsQuery, readQuery(request.url), 'query');
      return { status: 200, value: await listAgents(deps, query) };
    },

    async getAgent(request) {
      const agent = await getAgent(deps, param(request, 'agent_id'));
      requireNoQuery(request);
      return { status: 200, value: agent };
    },

    async executeAgent(request) {
      const body = await readJsonBody(request, MAX_BODY_BYTES);
      const principal = await authenticate(deps, request, 'execute');
      const repeatable = readRepeatable(request, principal.wallet, body);
      // A repeated request gets its answer, whatever has become of the agent since.
      const known = repeatable && (await answerKnown(deps, repeatable));
      if (known) return known;
      if (repeatable) await refuseByRecord(deps, repeatable);
      const agent = await requireAgent(deps, param(request, 'agent_id'));
      if (agent.status === 'paused') throw new ApiError('agent_paused', 'The agent is paused by its creator');
      requireNoQuery(request);
      const input = await readExecuteBody(deps, agent, body);
      if (!repeatable) return replyOf(deps, await deps.engine.execute(principal, agent, input));
      return answerFirst(deps, repeatable, () => deps.engine.execute(principal, agent, { ...input, repeatable }));
    },

    async startExecution(request) {
      const bytes = await readJsonBody(request, MAX_BODY_BYTES);
      const hasKey = request.headers.authorization !== undefined;
      const principal = hasKey ? await authenticate(deps, request, 'execute') : null;
      const opened = await readOpened(deps, param(request, 'execution_id'), principal ?? readProof(bytes));
      requireNoQuery(request);
      const body = parse(StartBody, readObject(bytes), 'body');
      requireRequest(opened, body);
      const { record, executionId } = opened;
      const repeatable = { executionId, ...identityOf(record), fingerprint: null, async: body.async };
      const known = await answerKnown(deps, repeatable);
      if (known) return known;
      const agent = await requireAgent(deps, repeatable.listing);
      const timeoutSeconds = requireStartable(opened, agent);
      await requireParameters(deps, agent, body.parameters);
      const { task, parameters } = body;
      const input = { record, task, parameters, async: body.async, timeoutSeconds };
      return answerFirst(deps, repeatable, () => deps.engine.start(agent, input));
    },

    async listExecutions(request) {
      const { wallet } = await authenticateReader(deps, request);
      const query = parse(ExecutionsQuery, readQuery(request.url), 'query');
      return { status: 200, value: await listExecutions(deps, wallet, query) };
    },

    async getExecution(request) {
      const { wallet } = await authenticateReader(deps, request);
      const execution = await getExecution(deps, wallet, param(request, 'execution_id'));
      requireNoQuery(request);
      return { status: 200, value: execution };
    },

    async postMetadata(request) {
      const bytes = await readJsonBody(request, MAX_METADATA_BYTES);
      return { status: 200, value: await acceptMetadata(deps, bytes, readSession(deps, request)) };
    },

    async getResult(request) {
      const text = await findResult(deps, param(request, 'execution_id'), param(request, 'token'));
      if (!text) throw new ApiError('not_found', 'There is no result at this address');
      // No browser may take a stranger's text for a page.
      return { status: 200, value: text, headers: { 'Content-Security-Policy': 'sandbox' } };
    },

    async getKeyDirectory(request) {
      requireNoQuery(request);
      return { status: 200, value: deps.keyDirectory };
    },

    async getRoot(request) {
      const url = deps.baseUrl();
      const value = { docs: `${url}/docs`, openapi: `${url}/openapi.json`, idl: `${url}/idl.json` };
      const headers = { Vary: 'Accept', 'Content-Security-Policy': DOCS_POLICY };
      const wantsPage = request.accepts(['json', 'html']) === 'html';
      return { status: 200, value: wantsPage ? Buffer.from(createRootPage(value)) : value, headers };
    },

    async getIdl() {
      return { status: 200, value: IDL };
    },

    async getHealth() {
      return { status: 200, value: readHealth(deps) };
    },

    async getReady() {
      const readiness = await readReadiness();
      return readiness.status === 'ready' ? { status: 200, value: readiness } : { status: 503, value: readiness };
    },

    async getOpenapi() {
      document ??= Buffer.from(JSON.stringify(openapi()));
      return { status: 200, value: document };
    },

    async getDocs() {
      const { environment, publicRpcUrl } = deps.config;
      page ??= Buffer.from(createPage(openapi(), { environment, rpcUrl: publicRpcUrl }));
      return { status: 200, value: page, headers: { 'Content-Security-Policy': DOCS_POLICY } };
    },
  };
}

async function readExecuteBody(deps: RelayDeps, agent: Agent, bytes: Buffer) {
  const body = parse(ExecuteBody, readObject(bytes), 'body');
  const timeoutSeconds = body.timeout_seconds ?? agent.timeoutSeconds;
  if (timeoutSeconds < agent.minTimeoutSeconds || timeoutSeconds > agent.timeoutSeconds) {
    const expected = `must be from ${agent.minTimeoutSeconds} to ${agent.timeoutSeconds} for this agent`;
    const issue = { in: 'body', path: 'timeout_seconds', expected, got: show(timeoutSeconds) } as const;
    throw invalid(`The field "timeout_seconds" ${expected}`, issue);
  }
  await requireParameters(deps, agent, body.parameters);
  return {
    task: body.task,
    parameters: body.parameters,
    async: body.async,
    timeoutSeconds,
    maxCost: body.max_cost_usdc ?? agent.price,
  };
}

async function requireParameters(deps: RelayDeps, agent: Agent, parameters: Record<string, unknown>): Promise<void> {
  const faults = await findParameterFaults(deps, agent, parameters);
  const [first] = faults;
  if (!first) return;
  const issues = faults.map(({ path, expected, got }) => ({ in: 'body' as const, path, expected, got: show(got) }));
  throw invalid(`The field "parameters" does not fit the agent's schema: ${first.message}`, ...issues);
}

/** What a request with an Idempotency-Key is known by; null without one, and for a body that no request can have. */
function readRepeatable(request: Request, wallet: string, bytes: Buffer) {
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  if (key === null) return null;
  try {
    return repeatableOf(wallet, param(request, 'agent_id'), key, parseJsonObject(bytes));
  } catch (error) {
    // It is refused where bodies are, after what is checked before them.
    if (error instanceof JsonError) return null;
    throw error;
  }
}

/** The wallet's signature, which a request without an API key must carry. */
function readProof(bytes: Buffer): { signature: string } {
  const { wallet_signature: signature } = parse(StartBody, readObject(bytes), 'body');
  if (signature !== undefined) return { signature };
  throw new ApiError('unauthorized', 'Send the header Authorization: Bearer <API key>, or a wallet_signature');
}

/**
 * The wallet of the session whose token came; null without one. An API key is none, since clients send it everywhere; an
 * ended session is told rather than taken for none.
 */
function readSession({ sessions }: RelayDeps, request: Request): string | null {
  const { authorization } = request.headers;
  const token = readBearer(authorization);
  if (authorization === undefined || token?.startsWith('crtx_')) return null;
  const wallet = sessions.walletOf(token);
  if (wallet !== null) return wallet;
  throw new ApiError(
    'unauthorized',
    'Send the token of auth.verify as Authorization: Bearer <token>, or no Authorization',
  );
}

function param(request: Request, name: string): string {
  return String(request.params[name]);
}

function requireNoQuery(request: Request): void {
  const [name] = Object.keys(readQuery(request.url));
  if (name === undefined) return;
  const issue = { in: 'query', path: name.slice(0, 60), expected: 'no query parameter', got: 'one' } as const;
  throw invalid(`There is no query parameter ${JSON.stringify(name.slice(0, 60))} here`, issue);
}
