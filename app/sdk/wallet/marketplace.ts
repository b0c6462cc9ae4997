/**
 * The base of all functions here: a marketplace's chain, and its service if needed. Mint, limits and collateral tiers
 * are read from the chain and not from the service, because they decide how money moves.
 */
import type { Connection, PublicKey } from '@solana/web3.js';
import { type Config, findConfig, findTokenAccount, PROGRAM_ID } from '../program/program.ts';
import type { Environment } from '../receipt/apiKey.ts';
import { originOf } from '../wire/secrets.ts';
import { connect, readAccount } from './connection.ts';
import { Refusal } from './refusal.ts';
import { ask, clientOf, type Service } from './service.ts';
import { decodeTokenAccount, type TokenAccount } from './tokenAccount.ts';

/** The chain alone, which everybody can use with or without a service. */
export interface MarketplaceChain {
  connection: Connection;
  /** As stored on-chain. */
  config: Config;
}

/** Chain and service. */
export interface Marketplace extends MarketplaceChain, Service {
  environment: Environment;
}

export interface MarketplaceOptions extends Service {
  /** JSON-RPC URL of a Solana node. Default: the node that the service names. */
  rpcUrl?: string | null;
}

/**
 * Opens the chain. Asks the service for a node only if none is given. Throws Refusal if no node answers, or if its
 * chain has no marketplace.
 */
export async function openChain(options: MarketplaceOptions): Promise<MarketplaceChain> {
  const url = options.rpcUrl ?? (await findNode(options));
  const connection = connect(url, options.fetch);
  const config = await readAccount(
    connection,
    'Config',
    findConfig(),
    `The chain at ${originOf(url)} has no marketplace.`,
  );
  return { connection, config };
}

/** Finds service and chain. Checks that the service uses the program that this library is made for. */
export async function openMarketplace(options: MarketplaceOptions): Promise<Marketplace> {
  const { rpcUrl, ...service } = options;
  const { environment, rpc_url } = await findService(service);
  return { ...service, environment, ...(await openChain({ ...service, rpcUrl: rpcUrl ?? rpc_url })) };
}

/** URL of the Solana node that the service names. Throws Refusal if it names none. */
export async function findNode(service: Service): Promise<string> {
  try {
    return (await findService(service)).rpc_url;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.message, { cause: error, code: 'node_unknown' });
  }
}

async function findService(service: Service) {
  const found = await ask(service, () => clientOf(service).call('config.get'));
  if (found.program_id === PROGRAM_ID.toBase58()) return found;
  throw new Refusal(
    `${originOf(service.baseUrl)} runs on program ${found.program_id}; this client is made for ${PROGRAM_ID}.`,
  );
}

/** The wallet's USDC account. Throws Refusal if it does not exist: only its owner should pay for its creation. */
export async function readUsdcAccount(
  { connection, config }: MarketplaceChain,
  wallet: PublicKey,
): Promise<TokenAccount> {
  const address = findTokenAccount(wallet, config.usdcMint);
  const account = decodeTokenAccount(address, await connection.getAccountInfo(address));
  if (account) return account;
  throw new Refusal(
    `The wallet ${wallet} has no USDC account. Send USDC (mint ${config.usdcMint}) to its associated token account ` +
      `${address} first.`,
    { code: 'funds_missing', wallet: wallet.toBase58(), rpcUrl: connection.rpcEndpoint },
  );
}
