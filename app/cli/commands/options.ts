/**
 * Options that several commands share, and their parsers. Code that only an action needs is loaded when it runs, here
 * and in the commands' files.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { type Command, InvalidArgumentError } from 'commander';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import type { Marketplace, MarketplaceChain } from '../../sdk/wallet/marketplace.ts';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import type { Service } from '../../sdk/wallet/service.ts';
import type { Signer } from '../../sdk/wallet/signer.ts';
import { parseSol } from '../../sdk/wire/sol.ts';
import { parseUsdc } from '../../sdk/wire/usdc.ts';
import { type CommonOptions, ENVIRONMENT_HELP, fromCaller, readSettings } from '../config.ts';
import { report } from '../output.ts';

/** Options of a command that uses a marketplace. */
export function withMarketplace(command: Command): Command {
  return command
    .option('--base-url <url>', 'base URL of the marketplace (default: $MARKETPLACE_URL, or the one of `npm start`)')
    .option('--rpc-url <url>', 'URL of a Solana node (default: $SOLANA_RPC_URL, or the one that the marketplace names)')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', ENVIRONMENT_HELP);
}

/** Options of a command that needs a wallet's signature. */
export function withWallet(command: Command): Command {
  return withMarketplace(command).option(
    '--keypair <path>',
    "the wallet's keypair file (default: $SOLANA_KEYPAIR, or ~/.config/solana/id.json)",
  );
}

/** Help for commands that need the proof of a leaf. */
export const PROOF_HELP =
  'The proof of the leaf comes from the marketplace and is checked on the Solana node. Without a valid one, it is ' +
  "rebuilt from the chain's transactions. If no marketplace answers, name a node with --rpc-url; it must still have " +
  'the transactions of that time.';

/** The service alone, for commands without chain and wallet. */
export function serviceOf(options: CommonOptions): Service {
  return { baseUrl: readSettings(options).baseUrl, onProgress: report };
}

/** Service and chain. */
export async function open(options: CommonOptions): Promise<Marketplace> {
  const { openMarketplace } = await import('../../sdk/wallet/marketplace.ts');
  const { patientFetch } = await import('../patientFetch.ts');
  const { rpcUrl } = readSettings(options);
  return openMarketplace({ ...serviceOf(options), rpcUrl, fetch: patientFetch });
}

/** The chain without the service, which is asked for a node only if none is given. */
export async function openOnChain(options: CommonOptions): Promise<MarketplaceChain> {
  const { openChain } = await import('../../sdk/wallet/marketplace.ts');
  return openChain({ ...serviceOf(options), rpcUrl: readSettings(options).rpcUrl });
}

/** The wallet that signs. */
export async function readWallet(options: CommonOptions): Promise<Signer> {
  const { keypairSigner } = await import('../../sdk/wallet/signer.ts');
  const { readKeypair } = await import('../wallet.ts');
  const keypair = readKeypair(readSettings(options).keypairPath, "the wallet's keypair");
  return { ...keypairSigner(keypair), onExpired: (reason) => report(`${reason} Signing a new one ...`) };
}

/** An address as base58 text of 32 bytes; `publicKeyOf` converts it for the chain's library. */
export type Address = string;

export function isAddress(text: string): text is Address {
  // No address is longer, and decoding a far longer text would be slow.
  return text.length <= 44 && bs58.decodeUnsafe(text)?.length === 32;
}

export function toAddress(text: string): Address {
  if (isAddress(text)) return text;
  throw new InvalidArgumentError('It must be a base58 address.');
}

export async function publicKeyOf(address: Address): Promise<PublicKey> {
  const { parseAddress } = await import('../../sdk/program/addresses.ts');
  return parseAddress(address);
}

const amountBy = (parse: (text: string) => bigint, least: bigint) => (text: string) => {
  let amount: bigint;
  try {
    amount = parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
  if (amount >= least) return amount;
  throw new InvalidArgumentError('It must be above zero.');
};

/** Base units. */
export const toAmount = amountBy(parseUsdc, 1n);
export const toAmountOrZero = amountBy(parseUsdc, 0n);
/** Lamports. */
export const toSol = amountBy(parseSol, 1n);

/** A JSON object. */
export function toObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`It must be JSON: ${(error as Error).message}.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InvalidArgumentError('It must be a JSON object.');
}

export const U32_MAX = 2 ** 32 - 1;

/** A whole number from `minimum` to `maximum`. */
export function toCount(maximum: number, minimum = 1): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[0-9]+$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  };
}

/** This many bytes, as lower-case hex. */
export function toBytes(length: number): (text: string) => Uint8Array {
  return (text) => {
    if (/^[0-9a-f]*$/.test(text) && text.length === 2 * length) return Uint8Array.from(Buffer.from(text, 'hex'));
    throw new InvalidArgumentError(`It must be ${2 * length} lower-case hex digits.`);
  };
}

export function toExecutionId(text: string): Uint8Array {
  const id = parseUuid(text);
  if (id) return id;
  throw new InvalidArgumentError('It must be a UUID in lower case, such as 0a1b2c3d-0000-8000-8000-000000000000.');
}

export const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

/** A file's text, byte for byte; the path is relative to the user's directory. */
export function readText(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readBytes(path));
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal(`${fromCaller(path)} must be a text in UTF-8.`);
    throw error;
  }
}

/** A file's bytes; the path is relative to the user's directory. Throws Refusal. */
export function readBytes(path: string): Buffer {
  const absolute = fromCaller(path);
  try {
    return readFileSync(absolute);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Refusal(code === 'ENOENT' ? `${absolute} does not exist.` : `${absolute} cannot be read: ${message}`);
  }
}
