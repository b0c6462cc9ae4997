/**
 * The marketplace's service for a wallet: retries while the service is busy, turns errors into refusals, and opens a
 * session where one is needed.
 */
import bs58 from 'bs58';
import { createClient } from '../client/client.ts';
import { APIConnectionError, APITimeoutError, MarketplaceError } from '../client/error.ts';
import { createManagement } from '../client/management.ts';
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
  /** How long a busy service is retried, ms. Default: a minute, about as long as a person waits. */
  patienceMs?: number;
}

const PATIENCE_MS = 60_000;
/** Errors of a connection that was established. If none could be established, retrying does not help. */
const BROKEN_CONNECTION = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];
/** Message of `fetch` for every request without an answer: Node, Chromium, Safari, Firefox. */
const NO_ANSWER = /^(fetch failed|Failed to fetch|Load failed|NetworkError when attempting)/;

/** For a call that the client itself retries. */
export function patienceOf({ onProgress = () => {}, patienceMs = PATIENCE_MS }: Service): Partial<Patience> {
  return {
    repeats: Number.POSITIVE_INFINITY,
    pauseMs: patienceMs,
    totalMs: patienceMs,
    onRepeat(error, pauseMs) {
      const isAnswer = error instanceof MarketplaceError && !(error instanceof APIConnectionError);
      const reason = isAnswer ? error.message.replace(/\.$/, '') : 'the connection was lost';
      onProgress(`The marketplace does not answer: ${reason}. Retrying in ${Math.ceil(pauseMs / 1_000)} s ...`);
    },
  };
}

/** The routes of the REST API and the procedures of /trpc, with the token of a session where a wallet is needed. */
export function clientOf({ baseUrl, fetch }: Service, token?: string) {
  // `ask` retries.
  const client = createClient({ baseUrl, fetch, apiKey: token, maxRetries: 0 });
  return { request: client.request, call: createManagement(client).call, token };
}

/** A client with a session of a wallet. */
export type Session = ReturnType<typeof clientOf>;

/** Signs the service's challenge. Returns a client with the wallet's session. */
export async function openSession(service: Service, wallet: Signer): Promise<Session> {
  const anonymous = clientOf(service);
  const address = wallet.publicKey.toBase58();
  if (service.signedInAs === address) return anonymous;
  return ask(service, async () => {
    const { message } = await anonymous.call('auth.challenge', { wallet: address });
    const signature = bs58.encode(await signText(wallet, message));
    const { token } = await anonymous.call('auth.verify', { wallet: address, message, signature });
    return clientOf(service, token);
  });
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
          // This failure is permanent, and is not retried as a Refusal.
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
    if (isUnreachable(error)) throw nobodyAt(service, error);
    if (isBroken(error))
      throw new Refusal(`The connection to ${originOf(service.baseUrl)} was lost.`, { cause: error });
    if (error instanceof MarketplaceError) throw new Refusal(`${error.message} (${error.code})`, { cause: error });
    throw error;
  }
}

function nobodyAt({ baseUrl }: Service, cause: unknown): Refusal {
  return new Refusal(`No server answers at ${originOf(baseUrl)}.`, { cause, code: 'service_unreachable' });
}

/** `fetch` has one message for every failure and hides the reason in a chain of causes. */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof APIConnectionError) || error instanceof APITimeoutError || isBroken(error)) return false;
  return error.cause instanceof Error && NO_ANSWER.test(error.cause.message);
}

function isBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return BROKEN_CONNECTION.includes((error as Error & { code?: string }).code ?? '') || isBroken(error.cause);
}
