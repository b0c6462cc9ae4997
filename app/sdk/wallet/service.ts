/**
 * The marketplace's service for a wallet: retries while the service is busy, turns errors into refusals, and opens a
 * session where one is needed.
 */
import bs58 from 'bs58';
import { createClient, type MarketplaceClient } from '../client/client.ts';
import { MarketplaceError } from '../client/error.ts';
import { createManagementClient } from '../client/management.ts';
import { type Patience, repeat } from '../client/repeat.ts';
import { originOf } from '../wire/secrets.ts';
import type { Progress } from './format.ts';
import { Refusal } from './refusal.ts';
import { signText } from './send.ts';
import type { Signer } from './signer.ts';

/** The address of a service, and how to call it. */
export interface Service {
  /** Such as `http://127.0.0.1:8787`, with or without a trailing slash. */
  baseUrl: string;
  /** Default: the platform's `fetch`. */
  fetch?: typeof fetch;
  /** Called before a busy service is asked again. */
  onProgress?: Progress;
  /** The wallet, base58, whose session cookie `fetch` already sends. It need not sign in again. */
  signedInAs?: string;
}

/** A busy service is retried for a minute, about as long as a person waits. */
const PATIENCE_MS = 60_000;
/** Errors of a connection that was established. If none could be established, retrying does not help. */
const BROKEN_CONNECTION = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];
/** Message of `fetch` for every request without an answer: Node, Chromium, Safari, Firefox. */
const NO_ANSWER = /^(fetch failed|Failed to fetch|Load failed|NetworkError when attempting)/;

function patienceOf({ onProgress = () => {} }: Service): Partial<Patience> {
  return {
    repeats: Number.POSITIVE_INFINITY,
    pauseMs: PATIENCE_MS,
    totalMs: PATIENCE_MS,
    onRepeat(error, pauseMs) {
      const reason = error instanceof MarketplaceError ? error.message.replace(/\.$/, '') : 'the connection was lost';
      onProgress(`The marketplace does not answer: ${reason}. Retrying in ${Math.ceil(pauseMs / 1_000)} s ...`);
    },
  };
}

/** The REST API; `session` is the token for routes that need a wallet. */
export function restClient(service: Service, session?: string) {
  const { baseUrl, fetch } = service;
  const own = { ...(fetch && { fetch }), ...(session && { apiKey: session }) };
  // `ask` retries reads.
  return createClient({ baseUrl, patience: patienceOf(service), repeatReads: false, ...own });
}

/** The procedures of /trpc. Procedures of a wallet need its session's token. */
export function managementClient({ baseUrl, fetch }: Service, session?: string) {
  return createManagementClient({ baseUrl, ...(fetch && { fetch }), ...(session && { session }) });
}

/** Signs the service's challenge. Returns a client for the wallet's procedures, with its token. */
export async function openSession(service: Service, wallet: Signer) {
  const anonymous = managementClient(service);
  const address = wallet.publicKey.toBase58();
  if (service.signedInAs === address) return { ...anonymous, token: undefined };
  return ask(service, async () => {
    const { message } = await anonymous.call('auth.challenge', { wallet: address });
    const signature = bs58.encode(await signText(wallet, message));
    const { token } = await anonymous.call('auth.verify', { wallet: address, message, signature });
    return { ...managementClient(service, token), token };
  });
}

/** The REST API with a session of the wallet. */
export async function openRestClient(service: Service, wallet: Signer): Promise<MarketplaceClient> {
  const { token } = await openSession(service, wallet);
  return restClient(service, token);
}

/**
 * Makes a call that may be retried, and retries it while the service is busy. An error answer, or none, becomes a
 * Refusal.
 */
export function ask<T>(service: Service, call: () => Promise<T>): Promise<T> {
  return askOnce(service, () =>
    repeat(
      () =>
        call().catch((error: unknown) => {
          // `repeat` retries TypeErrors. This failure is permanent, so it becomes a Refusal.
          throw isUnreachable(error) ? nobodyAt(service, error) : error;
        }),
      patienceOf(service),
    ),
  );
}

/** `ask` without retries, for a call that must not be retried or that retries itself. */
export async function askOnce<T>(service: Service, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof MarketplaceError) throw new Refusal(`${error.message} (${error.code})`, { cause: error });
    if (isBroken(error))
      throw new Refusal(`The connection to ${originOf(service.baseUrl)} was lost.`, { cause: error });
    throw isUnreachable(error) ? nobodyAt(service, error) : error;
  }
}

function nobodyAt({ baseUrl }: Service, cause: unknown): Refusal {
  return new Refusal(`No server answers at ${originOf(baseUrl)}.`, { cause, code: 'service_unreachable' });
}

/** `fetch` has one message for every failure and hides the reason in a chain of causes. */
function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError && NO_ANSWER.test(error.message) && !isBroken(error);
}

function isBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return BROKEN_CONNECTION.includes((error as Error & { code?: string }).code ?? '') || isBroken(error.cause);
}
