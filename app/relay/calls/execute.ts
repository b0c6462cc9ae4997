/**
 * Calls by key and starts of calls that wallets have paid, and the order of their checks. Before this, the HTTP layer
 * checks size and media type of the body, then the key and the query. The engine checks the money after it.
 */
import type { ExecuteBody } from '../../sdk/wire/wire.ts';
import { type Agent, type AgentDeps, findParameterFaults, requireAgent } from '../agents/catalog.ts';
import { ApiError } from '../errors.ts';
import type { Engine, OutputStream, PaidCall, Principal } from '../execution/contract.ts';
import { invalid, requireValue, show } from '../parse.ts';
import type { Ask } from '../workers.ts';
import { type AnswersDeps, answerCall, answerKnown, type CallAnswer } from './answers.ts';
import { type Canonical, readExecuteBody, readStartBody } from './body.ts';
import { readIdempotencyKey, tailOf } from './idempotency.ts';
import type { LostCalls } from './lostCalls.ts';
import { identityOf, type OpenedDeps, readOpened, requireRequest, requireStartable } from './opened.ts';
import { findFirst, type KeyedDeps, type RepeatsDeps, refuseByRecord } from './repeats.ts';

export interface ExecuteDeps extends AnswersDeps, RepeatsDeps, AgentDeps {
  lostCalls: LostCalls;
  accounts: OpenedDeps['accounts'] & KeyedDeps['accounts'];
  engine: Pick<Engine, 'execute' | 'start' | 'outcomeOf'>;
}

/** A request to execute, as received. */
interface ExecuteRequest {
  agentId: string;
  /** The header Idempotency-Key. */
  idempotencyKey: string | string[] | undefined;
  /** The body's JSON. */
  bytes: Buffer;
  /** The asker of work in threads. */
  ask: Ask;
  /** Time of arrival by `performance.now`. */
  arrivedMs: number;
  output: CallOutput;
}

/** The caller's end of a stream. Nothing is written before `want` and `begun` were called. */
export interface CallOutput extends OutputStream {
  want(): void;
}

/** A request to start an execution, as received. */
interface StartRequest extends Pick<ExecuteRequest, 'bytes' | 'output'> {
  executionId: string;
  /** The asker of work in threads, for an authenticated wallet or null. */
  askFor(wallet: string | null): Ask;
}

/**
 * POST /v1/agents/{agent_id}/execute. A key must be allowed to call the agent. Then a repeat is looked up: it gets its
 * answer, whatever happened to the agent since. Then come the checks of agent, status, body and parameters. Throws ApiError.
 */
export async function executeAgent(
  deps: ExecuteDeps,
  principal: Principal,
  request: ExecuteRequest,
): Promise<CallAnswer> {
  requireAllowed(principal, request.agentId);
  const key = readIdempotencyKey(request.idempotencyKey);
  const { bytes, agentId, ask } = request;
  const { body, identity } = await readExecuteBody(ask, { bytes, agentId: key === null ? null : agentId });
  if ('value' in body) wantOutput(body.value, request.output);
  const { wallet } = principal;
  const keyed = key !== null && identity ? { wallet, listing: agentId, tail: tailOf(key), ...identity } : null;
  const first = keyed && (await findFirst(deps, keyed));
  if (first) {
    const known = await answerKnown(deps, first);
    if (known) return known;
    await refuseByRecord(deps, first);
  }
  const agent = await requireAgent(deps, agentId);
  if (agent.status === 'paused') throw new ApiError('agent_paused', 'The agent is paused');
  const call = {
    ...(await readCall(deps, agent, requireValue(body), ask)),
    arrivedMs: request.arrivedMs,
    ...outputOf(requireValue(body), request),
  };
  const repeatable = keyed ? { repeatable: keyed } : {};
  return answerCall(deps, () => deps.engine.execute(principal, agent, { ...call, ...repeatable }));
}

/**
 * POST /v1/executions/{execution_id}/start, for the wallet of the principal, or for the wallet that signed the body.
 * Checks in this order: record, body, request hash, earlier answer, agent, time left, parameters. Throws ApiError.
 */
export async function startExecution(
  deps: ExecuteDeps,
  principal: Principal | null,
  request: StartRequest,
): Promise<CallAnswer> {
  const reading = await readStartBody(request.askFor(principal?.wallet ?? null), request.bytes);
  const opened = await readOpened(deps, request.executionId, principal ?? requireProof(requireValue(reading)));
  const body = requireValue(reading);
  wantOutput(body, request.output);
  requireRequest(opened, body);
  const { record, executionId } = opened;
  if (principal) requireAllowed(principal, record.listing.toBase58());
  const repeatable = { executionId, ...identityOf(record), fingerprint: null, async: body.async };
  const known = await answerKnown(deps, repeatable);
  if (known) return known;
  const agent = await requireAgent(deps, repeatable.listing);
  const timeoutSeconds = requireStartable(opened, agent);
  await requireParameters(deps, agent, body.parameters, request.askFor(record.caller.toBase58()));
  const { task, parameters } = body;
  const call = { record, task, parameters, async: body.async, timeoutSeconds, ...outputOf(body, request) };
  return answerCall(deps, () => deps.engine.start(agent, call));
}

/** Also for a repeat, whose answer is streamed too. Throws ApiError. */
function wantOutput({ async, stream }: { async: boolean; stream: boolean }, output: CallOutput): void {
  if (async && stream) {
    const expected = 'must not be true together with "async"';
    throw invalid(`The field "stream" ${expected}`, { in: 'body', path: 'stream', expected, got: 'true' });
  }
  if (stream) output.want();
}

function outputOf({ stream }: { stream: boolean }, { output }: Pick<ExecuteRequest, 'output'>) {
  return stream ? { output } : {};
}

/**
 * Throws ApiError 403 if the wallet limited this key to other agents. Only this service checks it: on-chain, the grant
 * pays for any agent.
 */
function requireAllowed({ allowedAgents }: Principal, agentId: string): void {
  if (allowedAgents === null || allowedAgents.includes(agentId)) return;
  const details = { agent_id: agentId };
  throw new ApiError('agent_not_allowed', `This API key may not call the agent ${show(agentId)}`, { details });
}

/** Reads the call from a body, and checks that it fits the agent. Throws ApiError 400. */
export async function readCall(
  deps: AgentDeps,
  agent: Agent,
  body: Canonical<ExecuteBody>,
  ask: Ask,
): Promise<Omit<PaidCall, 'arrivedMs'>> {
  const timeoutSeconds = body.timeout_seconds ?? agent.timeoutSeconds;
  if (timeoutSeconds < agent.minTimeoutSeconds || timeoutSeconds > agent.timeoutSeconds) {
    const expected = `must be from ${agent.minTimeoutSeconds} to ${agent.timeoutSeconds} for this agent`;
    const issue = { in: 'body', path: 'timeout_seconds', expected, got: show(timeoutSeconds) } as const;
    throw invalid(`The field "timeout_seconds" ${expected}`, issue);
  }
  await requireParameters(deps, agent, body.parameters, ask);
  return {
    task: body.task,
    parameters: body.parameters,
    requestHash: body.requestHash,
    async: body.async,
    timeoutSeconds,
    maxCost: body.max_cost_usdc ?? agent.price,
  };
}

async function requireParameters(deps: AgentDeps, agent: Agent, parameters: string, ask: Ask): Promise<void> {
  const faults = await findParameterFaults(deps, agent, parameters, ask);
  const [first] = faults;
  if (!first) return;
  const issues = faults.map(({ path, expected, got }) => ({ in: 'body' as const, path, expected, got }));
  throw invalid(`The field "parameters" does not fit the agent's schema: ${first.message}`, ...issues);
}

/** The wallet's signature; a request without an API key must carry it. */
function requireProof({ wallet_signature: signature }: { wallet_signature?: string | undefined }) {
  if (signature !== undefined) return { signature };
  throw new ApiError(
    'unauthorized',
    'Authentication is missing. Send the header Authorization: Bearer <API key>, or a wallet_signature.',
  );
}
