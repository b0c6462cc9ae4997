/**
 * What every command stands on: the marketplace's service and its chain, and a wallet's session with the service. The
 * mint, the limits and the collateral tiers are read from the chain and not from the service, because money moves by
 * them.
 */
import { type Account, TokenAccountNotFoundError, unpackAccount } from '@solana/spl-token';
import type { Connection, Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { fundingAdvice } from '../../cli/config.ts';
import { report } from '../../cli/output.ts';
import { createClient, createManagementClient, MarketplaceError, type Patience, repeat } from '../client/client.ts';
import { type Config, findConfig, findTokenAccount, PROGRAM_ID } from '../program/program.ts';
import type { Environment } from '../receipt/apiKey.ts';
import { connect, readAccount } from './chain.ts';
import { Refusal } from './refusal.ts';

/** A service that is busy is asked again for a minute, as the help of every command says. */
const PATIENCE: Patience = {
  repeats: Number.POSITIVE_INFINITY,
  pauseMs: 60_000,
  totalMs: 60_000,
  onRepeat(error, pauseMs) {
    const reason = error instanceof MarketplaceError ? error.message.replace(/\.$/, '') : 'the connection broke off';
    report(`The marketplace does not answer now: ${reason}. Trying again in ${Math.ceil(pauseMs / 1_000)} s ...`);
  },
};
/** What a connection that was made ends with; where none could be made, nobody is there to be patient with. */
const BROKEN_CONNECTION = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];

/** The chain alone: what everybody can use, whether or not a service runs. */
export interface Chain {
  connection: Connection;
  /** As it is on-chain. */
  config: Config;
}

export interface Marketplace extends Chain {
  /** Without a trailing slash. */
  baseUrl: string;
  environment: Environment;
}

/** One line about what happens now, for the person who waits. */
export type Report = (line: string) => void;

/** Finds the chain. The service is asked for a node only where none is named. */
export async function openChain({ baseUrl, rpcUrl }: { baseUrl: string; rpcUrl: string | null }): Promise<Chain> {
  const url = rpcUrl ?? (await askForNode(baseUrl));
  const connection = connect(url);
  const config = await readAccount(connection, 'Config', findConfig(), `The chain at ${url} has no marketplace.`);
  return { connection, config };
}

/** Finds service and chain, and that both speak of the program this CLI was made for. */
export async function openMarketplace(settings: { baseUrl: string; rpcUrl: string | null }): Promise<Marketplace> {
  const { baseUrl, rpcUrl } = settings;
  const { environment, rpc_url } = await findService(baseUrl);
  return { baseUrl, environment, ...(await openChain({ baseUrl, rpcUrl: rpcUrl ?? rpc_url })) };
}

async function askForNode(baseUrl: string): Promise<string> {
  try {
    return (await findService(baseUrl)).rpc_url;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(`${error.message} This command needs only a Solana node: name one by --rpc-url.`);
  }
}

async function findService(baseUrl: string) {
  const service = await ask(baseUrl, () => createManagementClient({ baseUrl }).call('config.get'));
  if (service.program_id === PROGRAM_ID.toBase58()) return service;
  throw new Refusal(`${baseUrl} runs on program ${service.program_id}; this CLI is made for ${PROGRAM_ID}.`);
}

/** Signs the service's challenge, and returns a client that the wallet's own procedures answer, with its token. */
export async function openSession({ baseUrl }: Marketplace, wallet: Keypair) {
  const anonymous = createManagementClient({ baseUrl });
  const address = wallet.publicKey.toBase58();
  return ask(baseUrl, async () => {
    const { message } = await anonymous.call('auth.challenge', { wallet: address });
    const signature = bs58.encode(nacl.sign.detached(Buffer.from(message, 'utf8'), wallet.secretKey));
    const { token } = await anonymous.call('auth.verify', { wallet: address, message, signature });
    return { ...createManagementClient({ baseUrl, session: token, fetch: await patientFetch() }), token };
  });
}

/** Node's own fetch gives an answer five minutes to begin; the test of a slow agent may take an hour. */
async function patientFetch(): Promise<typeof fetch> {
  const undici = await import('undici');
  const dispatcher = new undici.Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const send: typeof undici.fetch = (url, init) => undici.fetch(url, { ...init, dispatcher });
  // The types of both packages describe one standard.
  return send as unknown as typeof fetch;
}

/** The REST API, for what needs no wallet. */
export function restClient({ baseUrl }: Pick<Marketplace, 'baseUrl'>) {
  return createClient({ baseUrl, patience: PATIENCE });
}

/**
 * Runs one call of the service that may be repeated, again for as long as the service is busy. An error answer, or
 * none, becomes a Refusal.
 */
export function ask<T>(baseUrl: string, call: () => Promise<T>): Promise<T> {
  return askOnce(baseUrl, () =>
    repeat(
      () =>
        call().catch((error: unknown) => {
          // Only a TypeError is repeated: this one will not pass.
          throw isUnreachable(error) ? nobodyAt(baseUrl, error) : error;
        }),
      PATIENCE,
    ),
  );
}

/** The same for a call that must not be repeated, or that repeats itself. */
export async function askOnce<T>(baseUrl: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof MarketplaceError) throw new Refusal(`${error.message} (${error.code})`, { cause: error });
    if (isBroken(error)) throw new Refusal(`The connection to ${baseUrl} broke off.`, { cause: error });
    throw isUnreachable(error) ? nobodyAt(baseUrl, error) : error;
  }
}

function nobodyAt(baseUrl: string, cause: unknown): Refusal {
  return new Refusal(`Nothing answers at ${baseUrl}. Is the marketplace running (\`npm start\`)?`, { cause });
}

/** `fetch` says the same of every failure and hides its reason in a chain of causes. */
function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed' && !isBroken(error);
}

function isBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return BROKEN_CONNECTION.includes((error as NodeJS.ErrnoException).code ?? '') || isBroken(error.cause);
}

/** The wallet's USDC account. Throws Refusal when there is none: nobody but its owner should pay for it. */
export async function readUsdcAccount({ connection, config }: Chain, wallet: PublicKey): Promise<Account> {
  const address = findTokenAccount(wallet, config.usdcMint);
  const account = await connection.getAccountInfo(address);
  try {
    return unpackAccount(address, account);
  } catch (error) {
    if (!(error instanceof TokenAccountNotFoundError)) throw error;
    throw new Refusal(
      `The wallet ${wallet} has no USDC account. Send USDC (mint ${config.usdcMint}) to its associated token account ` +
        `${address} first.${fundingAdvice(connection.rpcEndpoint, wallet)}`,
    );
  }
}
