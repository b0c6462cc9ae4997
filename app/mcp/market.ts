/**
 * The marketplace from the tools' view. Only this file uses the SDK's client, so that another client needs changes in
 * one file.
 */

import { type Client, createClient, type RouteAnswer, readAs } from '../sdk/client/client.ts';
import { MarketplaceError } from '../sdk/client/error.ts';
import { fetchDirect, parseJson, toError } from '../sdk/client/http.ts';
import { createManagement } from '../sdk/client/management.ts';
import { isProven } from '../sdk/client/receipts.ts';
import { PATIENCE } from '../sdk/client/repeat.ts';
import { type Check, verifyReceipt } from '../sdk/receipt/verify.ts';
import { checkedUrl, originOf } from '../sdk/wire/secrets.ts';

export { MarketplaceError };
export type Execution = RouteAnswer<'getExecution'>;
export type Agent = RouteAnswer<'getAgent'>;

export interface Market {
  request: Client['request'];
  /**
   * Checks the receipt of an execution of the key's wallet. `node` is null if no node was known. `isProven` is true
   * only if the chain itself shows the payment of this execution.
   */
  verify(executionId: string): Promise<{ node: string | null; isProven: boolean; checks: Check[] }>;
  /** Opens a dispute with the configured wallet, with a text as evidence; null without a wallet. */
  dispute: ((executionId: string, evidence: string) => Promise<Disputed>) | null;
  /** Calls an agent by x402. Throws TypeError if no answer came. */
  callX402Route(call: X402Call): Promise<X402Answer>;
}

export interface Disputed {
  /** Signature of the transaction. */
  signature: string;
  evidence_hash: string;
  bond_lamports: number;
}

/** A call that is paid by x402 instead of an API key. */
export interface X402Call {
  agentId: string;
  /** The body, as for an execution with a key. */
  body: object;
  idempotencyKey: string | undefined;
  /** The wallet that will pay, which the quote then names; null if it is not known. */
  payer: string | null;
  /** The header PAYMENT-SIGNATURE; null to get a quote. */
  payment: string | null;
  signal: AbortSignal;
}

export interface X402Answer {
  /** The header PAYMENT-REQUIRED with a quote, if a payment is needed. */
  required: string | null;
  /** The outcome of the payment, from the header PAYMENT-RESPONSE. */
  receipt: Json | null;
  /** True if the call is in progress. The same payment polls for its answer. */
  isRunning: boolean;
  /** A good answer, or the error of a failed one. */
  body: Bought | MarketplaceError;
}
export type Bought = RouteAnswer<'executeAgent'>;
type Json = Record<string, unknown>;

export interface MarketOptions {
  baseUrl: string;
  /** Null if only `callX402Route` can pay. */
  apiKey: string | null;
  /** A Solana node that the user trusts; null for the node that the marketplace names. */
  rpcUrl: string | null;
  /** Opens disputes; null without a wallet. */
  dispute?: Market['dispute'];
  /** Sends requests to the marketplace. */
  fetch?: typeof fetch;
}

/** A silent service must be reported before hosts give up, after 60 s. */
const ANSWER_MS = 15_000;
/** No retry starts later than this after the first request. */
const RETRY_MS = 25_000;

/** Throws TypeError for a wrong address or key. */
export function createMarket({ apiKey, rpcUrl, dispute = null, fetch, ...options }: MarketOptions): Market {
  const baseUrl = checkedUrl(options.baseUrl);
  // A model that must wait longer is told so.
  const patience = { repeats: PATIENCE.repeats, pauseMs: PATIENCE.pauseMs, totalMs: RETRY_MS };
  const limits = { baseUrl, fetch, timeout: ANSWER_MS, patience };
  const { request } = createClient({ ...limits, apiKey: apiKey ?? undefined });
  const { call } = createManagement(createClient(limits));
  return {
    request,
    dispute,
    callX402Route: (call) => callX402Route(fetch ?? globalThis.fetch, baseUrl, call),
    async verify(executionId) {
      const receipt = await request('getExecutionReceipt', { execution_id: executionId });
      const named = rpcUrl ?? (await call('config.get')).rpc_url;
      const findArchive = (id: string) => request('getExecutionArchive', { execution_id: id });
      const checks = await verifyReceipt(receipt, { rpcUrl: named, findArchive, executionId });
      // A model reads the answer, and a node's URL often has a key.
      return { node: originOf(named), isProven: isProven(checks), checks };
    },
  };
}

/** Decodes the JSON in a header of x402. */
export function decodeHeader(header: string | null): Json | null {
  return header === null ? null : JSON.parse(Buffer.from(header, 'base64').toString());
}

export const encodeHeader = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

async function callX402Route(fetcher: typeof fetch, baseUrl: string, call: X402Call): Promise<X402Answer> {
  const { agentId, idempotencyKey, payer, payment, signal } = call;
  const path = `/v1/x402/agents/${encodeURIComponent(agentId)}/execute${payer === null ? '' : `?payer=${payer}`}`;
  const response = await fetchDirect(fetcher, baseUrl, path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(payment !== null && { 'payment-signature': payment }),
    },
    body: JSON.stringify(call.body),
    signal,
  });
  const text = await response.text().catch(() => '');
  return {
    required: response.status === 402 ? response.headers.get('payment-required') : null,
    receipt: decodeHeader(response.headers.get('payment-response')),
    isRunning: response.status === 202,
    body: response.ok ? readBought(response, text) : toError(response, parseJson(text)),
  };
}

function readBought(response: Response, text: string): X402Answer['body'] {
  try {
    return readAs('executeAgent', { response, text });
  } catch (error) {
    if (error instanceof MarketplaceError) return error;
    throw error;
  }
}
