/**
 * The marketplace as the tools see it. This file alone knows the client of the SDK, so that another client takes one
 * edit.
 */

import { toError } from '../sdk/client/http.ts';
import { type MarketplaceClient, MarketplaceError, createClient as newClient } from '../sdk/client/index.ts';
import { createManagementClient } from '../sdk/client/management.ts';
import { type Check, verifyReceipt } from '../sdk/receipt/verify.ts';

export { MarketplaceError };
export type Execution = Awaited<ReturnType<MarketplaceClient['getExecution']>>;
export type Agent = Awaited<ReturnType<MarketplaceClient['getAgent']>>;

export interface Market {
  client: MarketplaceClient;
  /** Checks the receipt of an execution of the key's wallet; `node` is null where none was known. */
  verify(executionId: string): Promise<{ node: string | null; checks: Check[] }>;
  /** Opens a dispute with the configured wallet, with a text as evidence; null without a wallet. */
  dispute: ((executionId: string, evidence: string) => Promise<Disputed>) | null;
  /** Throws TypeError if no answer came. */
  enterDoor(call: DoorCall): Promise<DoorAnswer>;
}

export interface Disputed {
  /** Signature of the transaction. */
  signature: string;
  evidence_hash: string;
  bond_lamports: number;
}

/** A call that is paid by x402 instead of an API key. */
export interface DoorCall {
  agentId: string;
  /** As for an execution with a key. */
  body: object;
  idempotencyKey: string | undefined;
  /** What x402 calls the payment payload; undefined to be told what must be paid. */
  payment: unknown;
  signal: AbortSignal;
}

export interface DoorAnswer {
  /** What must be paid, if nothing was. */
  required: Json | null;
  /** What became of the payment. */
  receipt: Json | null;
  /** The JSON of a good answer, or the error of another one. */
  body: Json | MarketplaceError;
}
type Json = Record<string, unknown>;

export interface MarketOptions {
  baseUrl: string;
  /** Without one, `enterDoor` alone pays. */
  apiKey: string | null;
  /** A Solana node that the user trusts; null: the one that the marketplace names. */
  rpcUrl: string | null;
  /** Opens disputes; null without a wallet. */
  dispute?: Market['dispute'];
  /** Sends requests to the marketplace. */
  fetch?: typeof fetch;
}

export function createMarket({ baseUrl, apiKey, rpcUrl, dispute = null, fetch }: MarketOptions): Market {
  const through = { baseUrl, ...(fetch && { fetch }) };
  const client = newClient({ ...through, ...(apiKey !== null && { apiKey }) });
  return {
    client,
    dispute,
    enterDoor: (call) => enterDoor(fetch ?? globalThis.fetch, baseUrl, call),
    async verify(executionId) {
      const receipt = await client.getReceipt(executionId);
      const named = rpcUrl ?? (await createManagementClient(through).call('config.get')).rpc_url;
      const findArchive = (id: string) => client.getExecutionArchive(id);
      return { node: named, checks: await verifyReceipt(receipt, { rpcUrl: named, findArchive }) };
    },
  };
}

async function enterDoor(fetcher: typeof fetch, baseUrl: string, call: DoorCall): Promise<DoorAnswer> {
  const { agentId, idempotencyKey, payment, signal } = call;
  const response = await fetcher(`${baseUrl}/v1/x402/agents/${encodeURIComponent(agentId)}/execute`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(payment !== undefined && { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') }),
    },
    body: JSON.stringify(call.body),
    signal,
  });
  const inHeader = (name: string): Json | null => {
    const header = response.headers.get(name);
    return header === null ? null : JSON.parse(Buffer.from(header, 'base64').toString());
  };
  const body = (await response.json().catch(() => null)) as Json | null;
  return {
    required: response.status === 402 ? inHeader('payment-required') : null,
    receipt: inHeader('payment-response'),
    body: response.ok && body !== null ? body : toError(response, body),
  };
}
