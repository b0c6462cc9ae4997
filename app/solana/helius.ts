/**
 * Helius, if an API key is configured: its URLs, its client, and its estimate of priority fees. It also returns the
 * program's whole history, oldest first, which a plain node does not.
 */
import { createHelius, type HeliusClient } from 'helius-sdk';
import { type Dispatcher, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { ANY_VERSION } from '../sdk/program/foreign.ts';

export interface HeliusOptions {
  apiKey: string;
  /** Ends in a slash. */
  baseUrl: string;
}

/** One transaction of the history. */
export interface HistoricTransaction {
  signature: string;
  slot: number;
  hasFailed: boolean;
  /** Null if the node stored none. */
  logs: string[] | null;
}

export interface HistoryPage {
  transactions: HistoricTransaction[];
  /** Token of the next page; null after the last. */
  next: string | null;
}

/** The program's transactions in the order of the chain, page by page, from the first or from the given token. */
export type History = (address: string, from: string | null) => AsyncIterable<HistoryPage>;

/** Most transactions per answer, if transactions are included. */
const PAGE = 100;

/** From the environment; null without HELIUS_API_KEY. */
export function readHelius(env: {
  HELIUS_API_KEY?: string | undefined;
  HELIUS_URL?: string | undefined;
  ENVIRONMENT: 'live' | 'test';
}): HeliusOptions | null {
  if (env.HELIUS_API_KEY === undefined) return null;
  const network = env.ENVIRONMENT === 'live' ? 'mainnet' : 'devnet';
  return { apiKey: env.HELIUS_API_KEY, baseUrl: env.HELIUS_URL ?? `https://${network}.helius-rpc.com/` };
}

/** URLs for JSON-RPC and WebSockets. Both contain the API key, so they must not appear in links or logs. */
export function heliusUrls({ apiKey, baseUrl }: HeliusOptions): { rpcUrl: string; wsUrl: string } {
  const rpc = new URL(baseUrl);
  rpc.searchParams.set('api-key', apiKey);
  const ws = new URL(rpc);
  ws.protocol = rpc.protocol === 'https:' ? 'wss:' : 'ws:';
  return { rpcUrl: rpc.href, wsUrl: ws.href };
}

let isLengthSaidOnce = false;

/** Helius' own client. */
function connectHelius(options: HeliusOptions): HeliusClient {
  if (!isLengthSaidOnce) setGlobalDispatcher(getGlobalDispatcher().compose(sayLengthOnce));
  isLengthSaidOnce = true;
  return createHelius(options);
}

/** The whole history of an address from Helius. Throws if a transaction lacks its outcome. */
export function heliusHistory(options: HeliusOptions): History {
  const helius = connectHelius(options);
  return async function* read(address, from) {
    let paginationToken = from;
    do {
      const page = (await helius.getTransactionsForAddress([
        address,
        {
          transactionDetails: 'full',
          sortOrder: 'asc',
          limit: PAGE,
          commitment: 'finalized',
          // In JSON the signature has the same place in every version, known or not.
          encoding: 'json',
          maxSupportedTransactionVersion: ANY_VERSION,
          filters: { status: 'any' },
          ...(paginationToken !== null && { paginationToken }),
        },
      ])) as unknown as Page;
      paginationToken = page.paginationToken ?? null;
      yield { transactions: page.data.map(toHistoric), next: paginationToken };
    } while (paginationToken !== null);
  };
}

/**
 * The price that Helius recommends for a transaction with these accounts, micro-lamports per compute unit. Throws if it
 * gives none.
 */
export function heliusPrice(options: HeliusOptions, accountKeys: string[]): () => Promise<bigint> {
  const helius = connectHelius(options);
  return async () => {
    const estimate = await helius.getPriorityFeeEstimate({ accountKeys, options: { recommended: true } });
    const price = estimate.priorityFeeEstimate;
    if (typeof price !== 'number' || !(price >= 0)) throw new Error('Helius returned no fee estimate');
    return BigInt(Math.ceil(price));
  };
}

/** The fields of an answer that are used here. */
interface Page {
  data: readonly {
    slot: number;
    transaction: { signatures: string[] };
    meta: { err: unknown; logMessages?: string[] | null } | null;
  }[];
  paginationToken?: string | null;
}

function toHistoric({ slot, transaction, meta }: Page['data'][number]): HistoricTransaction {
  const [signature] = transaction.signatures;
  if (signature === undefined || meta === null) throw new Error('Helius returned a transaction without its outcome');
  return { signature, slot, hasFailed: meta.err !== null, logs: meta.logMessages ?? null };
}

/**
 * The SDK's transport sets Content-Length, Node's `fetch` adds it again, and undici refuses `66, 66`. The SDK accepts
 * no custom `fetch`, so the two headers are merged before sending.
 */
function sayLengthOnce(dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
  return (request, handler) => {
    const { headers } = request;
    const isRecord = headers !== null && typeof headers === 'object' && !(Symbol.iterator in headers);
    if (!isRecord || !('content-length' in headers)) return dispatch(request, handler);
    const [length, ...others] = String(headers['content-length']).split(', ');
    if (others.some((other) => other !== length)) return dispatch(request, handler);
    return dispatch({ ...request, headers: { ...headers, 'content-length': length } }, handler);
  };
}
