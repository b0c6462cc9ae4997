/** A connection to a Solana node, and reading accounts by it. */
import { type Commitment, Connection, type PublicKey } from '@solana/web3.js';
import { CLOCK_ADDRESS, decodeClock } from '../program/clock.ts';
import { type Accounts, decodeAccount, PROGRAM_ID } from '../program/program.ts';
import { Refusal } from './refusal.ts';
import { decodeTokenAccount } from './tokenAccount.ts';

/** At which everything here reads, and until which a transaction that was sent is waited for. */
export const COMMITMENT: Commitment = 'confirmed';
/** A node that takes longer for one answer does not answer. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * A connection that reads at `confirmed` and sends its requests by `send`. Throws Refusal for what is no URL of a node;
 * its methods throw one where no node answers there.
 */
export function connect(rpcUrl: string, send: typeof fetch = globalThis.fetch): Connection {
  const request: typeof fetch = async (url, init) => {
    try {
      return await send(url, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    } catch (error) {
      throw new Refusal(`No Solana node answers at ${rpcUrl}.`, { cause: error });
    }
  };
  try {
    return new Connection(rpcUrl, { commitment: COMMITMENT, fetch: request });
  } catch {
    throw new Refusal(`${rpcUrl} is not a URL of a Solana node: it must start with http:// or https://`);
  }
}

/** An account of the program. Throws Refusal with the text `missing` where there is none of this kind. */
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
    // An account of another kind is at this address.
  }
  throw new Refusal(missing);
}

/** Base units in a token account; null where there is none. */
export async function readTokens(connection: Connection, address: PublicKey): Promise<bigint | null> {
  const account = await connection.getAccountInfo(address);
  return account && decodeTokenAccount(address, account).amount;
}

/** The chain's clock, unix seconds. What the program compares with is this and not the computer's clock. */
export async function readClock(connection: Connection): Promise<bigint> {
  const account = await connection.getAccountInfo(CLOCK_ADDRESS);
  if (!account) throw new Error('the node has no Clock sysvar');
  return decodeClock(account.data);
}
