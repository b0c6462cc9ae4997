/** A connection to a Solana node, and readers of accounts. */
import { type Commitment, Connection, type PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { CLOCK_ADDRESS, decodeClock } from '../program/clock.ts';
import { type Accounts, accountDiscriminator, decodeAccount, PROGRAM_ID } from '../program/program.ts';
import { originOf } from '../wire/secrets.ts';
import { Refusal } from './refusal.ts';
import { decodeTokenAccount } from './tokenAccount.ts';

/** Used for all reads, and to wait for sent transactions. */
export const COMMITMENT: Commitment = 'finalized';
/** Timeout of one request, ms. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * A connection that reads at `finalized` and sends its requests with `send`. Throws Refusal if the URL cannot be a
 * node's. Its methods throw Refusal if no node answers.
 */
export function connect(rpcUrl: string, send: typeof fetch = globalThis.fetch): Connection {
  const request: typeof fetch = async (url, init) => {
    try {
      return await send(url, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    } catch (error) {
      throw new Refusal(`No Solana node answers at ${originOf(rpcUrl)}.`, { cause: error });
    }
  };
  try {
    return new Connection(rpcUrl, { commitment: COMMITMENT, fetch: request });
  } catch {
    throw new Refusal('The URL of a Solana node must start with http:// or https://');
  }
}

/** An account of the program. Throws Refusal with the text `missing` if there is none of this kind. */
export async function readAccount<Name extends keyof Accounts>(
  connection: Connection,
  name: Name,
  address: PublicKey,
  missing: string,
): Promise<Accounts[Name]> {
  const account = await connection.getAccountInfo(address);
  try {
    if (account?.owner.equals(PROGRAM_ID)) return decodeAccount(name, account.data);
  } catch {
    // The address has an account of another kind.
  }
  throw new Refusal(missing);
}

/** The program's accounts of a kind, optionally only those with this byte at this offset. */
export async function findAccounts<Name extends keyof Accounts>(
  connection: Connection,
  name: Name,
  byte?: readonly [offset: number, value: number],
) {
  const filters = [{ memcmp: { offset: 0, bytes: bs58.encode(accountDiscriminator(name)) } }];
  if (byte) filters.push({ memcmp: { offset: byte[0], bytes: bs58.encode(Uint8Array.of(byte[1])) } });
  const found = await connection.getProgramAccounts(PROGRAM_ID, { filters });
  return found.map(({ pubkey, account }) => {
    return { address: pubkey, lamports: account.lamports, fields: decodeAccount(name, account.data) };
  });
}

/** Base units in a token account; null if it does not exist. */
export async function readTokens(connection: Connection, address: PublicKey): Promise<bigint | null> {
  return decodeTokenAccount(address, await connection.getAccountInfo(address))?.amount ?? null;
}

/** The chain's clock, unix seconds. The program compares times with it, not with the computer's clock. */
export async function readClock(connection: Connection): Promise<bigint> {
  const account = await connection.getAccountInfo(CLOCK_ADDRESS);
  if (!account) throw new Error('the node has no Clock sysvar');
  return decodeClock(account.data);
}
