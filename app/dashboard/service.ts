/** The marketplace's service as the page asks it: same origin, by the session's cookie, never by a key that it keeps. */
import { QueryClient, queryOptions } from '@tanstack/react-query';
import { MarketplaceError } from '../sdk/client/answer.ts';
import { createClient } from '../sdk/client/client.ts';
import { createManagementClient } from '../sdk/client/management.ts';
import type { MarketplaceConfig } from '../sdk/wire/procedures.ts';

export const BASE_URL = window.location.origin;

const meta = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

/** What style elements must carry, as the page's policy says. */
export const styleNonce = (): string => meta('style-nonce');
/** Where this network gives away wallets to try things with; empty on any but a local one. */
export const developmentWalletsPath = (): string => meta('development-wallets');

/** The REST API. */
export const rest = createClient({ baseUrl: BASE_URL });
/** The procedures of /trpc, typed by the SDK. */
export const { call } = createManagementClient({ baseUrl: BASE_URL });

const RETRIES = 3;

/** Only what may pass is asked again: no answer at all, and a busy service. */
const mayPass = (error: unknown): boolean =>
  error instanceof MarketplaceError ? error.status === 503 || error.status === 429 : error instanceof TypeError;

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

/** What a client must know of this deployment. */
export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: () => call('config.get'),
  staleTime: 5 * 60_000,
});

/** A page about an account or a transaction, in the explorer that the deployment names. */
export function explorerUrl(config: MarketplaceConfig, kind: 'address' | 'tx', id: string): string {
  return `https://explorer.solana.com/${kind}/${id}${config.explorer_query}`;
}

/** An error in words for a person, with what the service calls it. */
export function explain(error: unknown): string {
  if (error instanceof MarketplaceError) return error.message;
  if (error instanceof TypeError) return 'The marketplace does not answer. It is asked again as soon as you retry.';
  return error instanceof Error ? error.message : String(error);
}
