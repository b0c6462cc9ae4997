/**
 * /mcp: the MCP server over Streamable HTTP, for a host that has an API key as Bearer token, or pays each call by x402.
 * It keeps no session: each request gets its own server, whose tools call this relay's routes with the caller's key.
 */
import { Readable } from 'node:stream';
import { createMcpHandler, originValidationResponse } from '@modelcontextprotocol/server';
import type { Response as Answer, Request, RequestHandler } from 'express';
import { z } from 'zod';
import {
  APPROVE_ABOVE,
  carriesPayment,
  createMarket,
  createMcpServer,
  createSession,
  lenientMessage,
  MarketplaceError,
} from '../../mcp/server.ts';
import { EVENT_STREAM, isEventStream, readEvents, renderEvent } from '../../sdk/wire/eventStream.ts';
import { ADDRESS } from '../../sdk/wire/fields.ts';
import { parseUsdc } from '../../sdk/wire/usdc.ts';
import { askerOf, askerOfKey } from '../access/asker.ts';
import { authenticate } from '../access/auth.ts';
import { readBearer } from '../access/bearer.ts';
import { ownOrigin } from '../access/cookie.ts';
import type { PublicLimit } from '../access/publicLimit.ts';
import { X402Query } from '../calls/x402/sell.ts';
import type { Principal } from '../execution/contract.ts';
import { JsonError, parseJson } from '../json.ts';
import { invalid, jsonFault, parse, readQuery } from '../parse.ts';
import type { RelayDeps } from './deps.ts';
import { challengeFor } from './oauth.ts';
import { readJsonBody, requireMethod } from './request.ts';
import type { createFetchWithin } from './within.ts';

const JSON_TYPE = 'application/json';
/** Limited, because each agent is read for every request, and described to the model. */
const MOST_AGENTS = 10;
/** A request builds a server of its own. The requests of its tools count separately. */
const WEIGHT = 3;
/** More than a model writes in one message. All of it is read and checked in the main thread, in 40 ms at worst. */
const MAX_BYTES = 128 * 1024;
const MAX_VALUES = 5_000;
/** Reading so many bytes costs as much as an ordinary request. */
const BYTES_OF_ONE = 4 * 1024;
const AMOUNT_RULE = 'must be an amount of USDC with at most 6 decimal places';

/** The user's settings, in the query of the URL that the host uses. */
const McpQuery = z.strictObject({
  agents: z
    .string()
    .refine((text) => text.split(',').every((id) => ADDRESS.test(id)), 'must be agent ids, separated by commas')
    .transform((text) => text.split(','))
    .pipe(z.array(z.string()).max(MOST_AGENTS))
    .default([]),
  approve_above_usdc: z
    .string()
    .transform((text, context) => {
      try {
        return parseUsdc(text);
      } catch {
        context.addIssue(AMOUNT_RULE);
        return z.NEVER;
      }
    })
    .prefault(APPROVE_ABOVE),
  /** The wallet that pays for a host without a key. Quotes then name it. */
  payer: X402Query.shape.payer,
  /** `key`: a request without an API key is refused, so that the host asks its user to sign in. */
  pay_by: z.literal('key', 'must be key').optional(),
});

/**
 * `fetchFor` sends requests to the routes of this relay on behalf of a request. With a page, a refused host is told how
 * to get a key by OAuth.
 */
export function createMcp(
  deps: RelayDeps,
  limit: PublicLimit,
  fetchFor: ReturnType<typeof createFetchWithin>,
  hasPage: boolean,
): RequestHandler {
  return async (request, response) => {
    requireMethod(request, response, ['POST']);
    // Its payment, if any, is in the body.
    await limit.admitBare(request, { weight: WEIGHT, isUrgent: true });
    const hasKey = request.headers.authorization !== undefined;
    async function requireKey(): Promise<Principal> {
      try {
        return await authenticate(deps, request, null);
      } catch (error) {
        await limit.admitRefused(request, error);
        if (hasPage) response.setHeader('WWW-Authenticate', challengeFor(deps, request));
        throw error;
      }
    }
    // Without a key, each tool's own request is limited like any other of this address.
    const principal = hasKey || !deps.x402 ? await requireKey() : null;
    const settings = parse(McpQuery, readQuery(request.url), 'query');
    if (settings.pay_by === 'key' && !hasKey) await requireKey();
    const ask = () => (principal ? askerOfKey(deps, principal.wallet) : askerOf(deps, request, null));
    const bytes = await readJsonBody(request, MAX_BYTES, ask);
    const more = Math.floor(bytes.length / BYTES_OF_ONE);
    if (more > 0) await limit.admitBare(request, { weight: more, isUrgent: true });
    const body = readMessage(bytes);
    if (!carriesPayment(body)) await limit.admitUnpaid(request, WEIGHT + more);
    const asked = toWebRequest(deps, request, body);
    const refused = originValidationResponse(asked, [new URL(ownOrigin(deps, request)).hostname]);
    const answer = refused ?? (await serve(deps, settings, request, asked, fetchFor(request)));
    await sendWeb(response, await inForm(answer, formFor(request)));
  };
}

async function serve(
  deps: RelayDeps,
  settings: z.output<typeof McpQuery>,
  request: Request,
  asked: globalThis.Request,
  fetch: typeof globalThis.fetch,
): Promise<globalThis.Response> {
  const apiKey = readBearer(request.headers.authorization);
  const { payer } = settings;
  if (apiKey !== null && payer !== undefined) {
    const issue = { in: 'query', path: 'payer', expected: 'must be absent with an API key', got: payer } as const;
    throw invalid('The parameter "payer" is only for calls without an API key', issue);
  }
  const market = createMarket({ baseUrl: deps.baseUrl(), apiKey, rpcUrl: null, fetch });
  const agents = await Promise.all(settings.agents.map((id) => market.request('getAgent', { agent_id: id }))).catch(
    (error) => {
      if (!(error instanceof MarketplaceError) || error.code !== 'agent_not_found') throw error;
      const issue = { in: 'query', path: 'agents', expected: 'must be ids of listed agents', got: 'others' } as const;
      throw invalid('The parameter "agents" names an agent that is not listed', issue);
    },
  );
  const session = createSession({ budget: null, approveAbove: settings.approve_above_usdc });
  const raiseApproval = 'add ?approve_above_usdc=AMOUNT to the address of /mcp';
  // No subscriptions: the list of tools never changes, and an open stream would delay a stop.
  const { fetch: answer } = createMcpHandler(
    () => createMcpServer({ market, session, raiseApproval, agents, payment: apiKey === null ? 'host' : 'key', payer }),
    {
      maxSubscriptions: 0,
      onerror: (error) => deps.log.debug({ error }, 'an MCP request was refused'),
    },
  );
  return answer(asked);
}

/**
 * The form of answer for a host: the handler's own choice for one that accepts both, as the protocol asks. Many hosts
 * accept only one, or anything. Null for a host that accepts neither.
 */
function formFor(request: Request): 'any' | 'json' | 'stream' | null {
  const { accept = '*/*' } = request.headers;
  const types = accept.split(',').map((part) => part.split(';')[0]?.trim().toLowerCase() ?? '');
  const isJson = types.some((type) => [JSON_TYPE, 'application/*', '*/*'].includes(type));
  if ([EVENT_STREAM, 'text/*'].some((type) => types.includes(type))) return isJson ? 'any' : 'stream';
  return isJson ? 'json' : null;
}

/** A good answer in this form. A stream is read to its end: no tool sends anything after its result. */
async function inForm(answer: globalThis.Response, form: ReturnType<typeof formFor>): Promise<globalThis.Response> {
  const isStream = isEventStream(answer.headers.get('content-type'));
  if (!answer.ok || !answer.body || form === 'any' || form === null || isStream === (form === 'stream')) return answer;
  const headers = new Headers(answer.headers);
  headers.delete('content-length');
  headers.set('content-type', form === 'json' ? JSON_TYPE : EVENT_STREAM);
  const body = form === 'json' ? await resultIn(answer.body) : renderEvent('message', await answer.text());
  return new globalThis.Response(body, { status: answer.status, headers });
}

/** The last message of a stream: the response, after any notifications. */
async function resultIn(stream: ReadableStream<Uint8Array>): Promise<string> {
  let last = '';
  for await (const { data } of readEvents(stream)) last = data || last;
  return last;
}

/** Throws ApiError for a body that costs too much, and for a batch: it would multiply the request's cost. */
function readMessage(bytes: Buffer): unknown {
  let body: unknown;
  try {
    body = parseJson(bytes, { maxValues: MAX_VALUES });
  } catch (error) {
    throw error instanceof JsonError ? jsonFault(error, 'a JSON-RPC request') : error;
  }
  if (Array.isArray(body)) {
    const issue = { in: 'body', path: '', expected: 'must be one JSON-RPC request', got: 'an array' } as const;
    throw invalid('Batches are not supported. Send one JSON-RPC request.', issue);
  }
  return body;
}

function toWebRequest(deps: RelayDeps, request: Request, body: unknown): globalThis.Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) if (typeof value === 'string') headers.set(name, value);
  nameTask(headers, body);
  // The handler requires both.
  if (formFor(request) !== null) headers.set('accept', `${JSON_TYPE}, ${EVENT_STREAM}`);
  headers.delete('content-length');
  const url = new URL(request.url, deps.baseUrl());
  return new globalThis.Request(url, { method: 'POST', headers, body: JSON.stringify(lenientMessage(body)) });
}

/** Adds the header that names a task, which only proxies need. Hosts in Python do not send it, and the SDK requires it. */
function nameTask(headers: Headers, body: unknown): void {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { taskId?: unknown } | null };
  const taskId = params?.taskId;
  if (headers.has('mcp-name') || typeof taskId !== 'string' || !/^[\w-]+$/.test(taskId)) return;
  if (typeof method === 'string' && method.startsWith('tasks/')) headers.set('mcp-name', taskId);
}

async function sendWeb(response: Answer, { status, headers, body }: globalThis.Response): Promise<void> {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.status(status);
  for (const [name, value] of headers) response.setHeader(name, value);
  if (body === null) response.end();
  else Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]).pipe(response);
}
