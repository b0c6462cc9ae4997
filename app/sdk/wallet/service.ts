/**
 * The marketplace's service as a wallet meets it: patient where it is busy, plain where it refuses, and with a session
 * where it must know who asks.
 */
import bs58 from 'bs58';
import { MarketplaceError } from '../client/answer.ts';
import { createClient } from '../client/client.ts';
import { createManagementClient } from '../client/management.ts';
import { type Patience, repeat } from '../client/repeat.ts';
import type { Progress } from './format.ts';
import { Refusal } from './refusal.ts';
import { signText } from './send.ts';
import type { Signer } from './signer.ts';

/** Where a service is, and how it is asked. */
export interface Service {
  /** Such as `http://127.0.0.1:8787`, with or without a trailing slash. */
  baseUrl: string;
  /** Default the platform's own. */
  fetch?: typeof fetch;
  /** Told when a busy service is asked again. */
  onProgress?: Progress;
  /** Base58: the wallet that is signed in already, by a cookie that `fetch` sends along. It need not sign in again. */
  signedInAs?: string;
}

/** A service that is busy is asked again for a minute, which is as long as a person waits. */
const PATIENCE_MS = 60_000;
/** What a connection that was made ends with; where none could be made, nobody is there to be patient with. */
const BROKEN_CONNECTION = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];
/** What `fetch` says of every request that had no answer: Node, Chromium, Safari, Firefox. */
const NO_ANSWER = /^(fetch failed|Failed to fetch|Load failed|NetworkError when attempting)/;

function patienceOf({ onProgress = () => {} }: Service): Patience {
  return {
    repeats: Number.POSITIVE_INFINITY,
    pauseMs: PATIENCE_MS,
    totalMs: PATIENCE_MS,
    onRepeat(error, pauseMs) {
      const reason = error instanceof MarketplaceError ? error.message.replace(/\.$/, '') : 'the connection broke off';
      onProgress(`The marketplace does not answer now: ${reason}. Trying again in ${Math.ceil(pauseMs / 1_000)} s ...`);
    },
  };
}

/** The REST API, for what needs no wallet, or with the token of its session for what does. */
export function restClient(service: Service, session?: string) {
  const { baseUrl, fetch } = service;
  const own = { ...(fetch && { fetch }), ...(session && { apiKey: session }) };
  return createClient({ baseUrl, patience: patienceOf(service), ...own });
}

/** The procedures of /trpc; those of a wallet's own need the token of its session. */
export function managementClient({ baseUrl, fetch }: Service, session?: string) {
  return createManagementClient({ baseUrl, ...(fetch && { fetch }), ...(session && { session }) });
}

/** Signs the service's challenge, and returns a client that the wallet's own procedures answer, with its token. */
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

/**
 * Runs one call of the service that may be repeated, again for as long as the service is busy. An error answer, or
 * none, becomes a Refusal.
 */
export function ask<T>(service: Service, call: () => Promise<T>): Promise<T> {
  return askOnce(service, () =>
    repeat(
      () =>
        call().catch((error: unknown) => {
          // Only a TypeError is repeated: this one will not pass.
          throw isUnreachable(error) ? nobodyAt(service, error) : error;
        }),
      patienceOf(service),
    ),
  );
}

/** The same for a call that must not be repeated, or that repeats itself. */
export async function askOnce<T>(service: Service, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof MarketplaceError) throw new Refusal(`${error.message} (${error.code})`, { cause: error });
    if (isBroken(error)) throw new Refusal(`The connection to ${service.baseUrl} broke off.`, { cause: error });
    throw isUnreachable(error) ? nobodyAt(service, error) : error;
  }
}

function nobodyAt({ baseUrl }: Service, cause: unknown): Refusal {
  return new Refusal(`Nothing answers at ${baseUrl}.`, { cause, code: 'service_unreachable' });
}

/** `fetch` says the same of every failure and hides its reason in a chain of causes. */
function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError && NO_ANSWER.test(error.message) && !isBroken(error);
}

function isBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return BROKEN_CONNECTION.includes((error as Error & { code?: string }).code ?? '') || isBroken(error.cause);
}
