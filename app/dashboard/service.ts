/** Access to the marketplace's service: same origin, with the session's cookie, never with a stored key. */
import { QueryClient, queryOptions } from '@tanstack/react-query';
import type { RouteInput } from '../sdk/client/client.ts';
import { APIConnectionError, APITimeoutError, MarketplaceError } from '../sdk/client/error.ts';
import type { MarketplaceConfig } from '../sdk/wire/procedures.ts';

/** Empty while the page is prerendered, which sends no requests. */
export const BASE_URL = typeof location === 'undefined' ? '' : location.origin;

const meta = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

/** Nonce of style elements, required by the page's CSP. */
export const styleNonce = (): string => meta('style-nonce');
/** Path where a local network offers test wallets; empty on other networks. */
export const developmentWalletsPath = (): string => meta('development-wallets');

type Api = ReturnType<typeof import('./api.ts').createApi>;
let api: Promise<Api> | null = null;

export function loadApi(): Promise<Api> {
  api ??= import('./api.ts').then(
    ({ createApi }) => createApi(BASE_URL),
    (error: unknown) => {
      api = null;
      throw error;
    },
  );
  return api;
}

/** The routes of the REST API, typed by the SDK; loaded with the first request. */
export const request: Api['request'] = async (...input) => (await loadApi()).request(...input);
/** The procedures of /trpc. */
export const call: Api['call'] = async (...input) => (await loadApi()).call(...input);

const RETRIES = 3;

/** True for temporary failures: a lost connection, or a busy service. Only these are retried. */
const mayPass = (error: unknown): boolean =>
  (isUnanswered(error) && !(error instanceof APITimeoutError)) ||
  (error instanceof MarketplaceError && (error.status === 503 || error.status === 429));

/** True if no answer came. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof APIConnectionError || error instanceof TypeError;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < RETRIES && mayPass(error),
      retryDelay: (count, error) =>
        error instanceof MarketplaceError && error.retryAfterSeconds !== null
          ? error.retryAfterSeconds * 1_000
          : Math.min(1_000 * 2 ** count, 8_000),
      refetchOnWindowFocus: true,
    },
  },
});

/** The public configuration of this deployment. */
export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: () => call('config.get'),
  staleTime: 5 * 60_000,
});

/**
 * Changes of settings that are proposed, and who may change them. It is polled, because the remaining time comes from the
 * last answer, by the chain's clock.
 */
export const changesQuery = queryOptions({
  queryKey: ['config.changes'],
  queryFn: () => call('config.changes'),
  refetchInterval: 5_000,
});

/** A page of the catalogue. */
export const agentsQuery = (filters: RouteInput<'listAgents'>) =>
  queryOptions({ queryKey: ['agents', filters], queryFn: () => request('listAgents', filters) });

export const agentQuery = (agentId: string) =>
  queryOptions({ queryKey: ['agent', agentId], queryFn: () => request('getAgent', { agent_id: agentId }) });

/** The example of an agent: a passed test by its creator, and the signed result. Null if there is none. */
export const exampleQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['example', agentId],
    queryFn: async () => (await call('agents.example', { agent_id: agentId })).example,
    staleTime: 60_000,
  });

/** A dispute and its call, for its parties and the admin. */
export const caseQuery = (executionId: string) =>
  queryOptions({
    queryKey: ['disputes.case', executionId],
    queryFn: () => call('disputes.case', { execution_id: executionId }),
  });

/** The URL of an account or a transaction in the deployment's explorer. */
export function explorerUrl(config: MarketplaceConfig, kind: 'address' | 'tx', id: string): string {
  return `https://explorer.solana.com/${kind}/${id}${config.explorer_query}`;
}

/** An error as text for people. */
export function explain(error: unknown): string {
  if (isUnanswered(error)) return 'The marketplace does not answer. Retry in a moment.';
  return inPrint(error instanceof Error ? error.message : String(error));
}

/** A message of the service, which has the apostrophe of a terminal. */
export const inPrint = (message: string): string => message.replace(/(?<=\w)'(?=\w)/g, '’');
