/** Reads accounts of the chain to show them, without web3.js. What is signed is read again by chain.ts. */
import { CLOCK, decodeClock, decodeTokenData, TOKEN_PROGRAM, type TokenData } from '../../sdk/program/foreign.ts';
import { askNode } from './node.ts';

export interface NodeAccount {
  /** Base58. */
  owner: string;
  lamports: bigint;
  data: Uint8Array;
}

type MaybeAccount = NodeAccount | null | undefined;

/** Limit of accounts per request of a node. */
const ACCOUNTS_AT_ONCE = 100;

/**
 * The final accounts at these addresses, all of one moment if they are at most 100; null where there is none. With
 * `length`, only the first bytes of their data.
 */
export async function readAccounts(addresses: readonly string[], length?: number): Promise<(NodeAccount | null)[]> {
  const parts: Promise<(NodeAccount | null)[]>[] = [];
  for (let at = 0; at < addresses.length; at += ACCOUNTS_AT_ONCE)
    parts.push(readPart(addresses.slice(at, at + ACCOUNTS_AT_ONCE), length));
  return (await Promise.all(parts)).flat();
}

async function readPart(addresses: string[], length: number | undefined): Promise<(NodeAccount | null)[]> {
  const dataSlice = length === undefined ? undefined : { offset: 0, length };
  const options = { encoding: 'base64', commitment: 'finalized', dataSlice };
  const { result } = await askNode('getMultipleAccounts', [addresses, options]);
  if (result?.value?.length !== addresses.length) throw new Error('The node did not return the accounts.');
  return result.value.map(
    (account: { owner: string; lamports: number; data: [string] } | null) =>
      account && {
        owner: account.owner,
        lamports: BigInt(account.lamports),
        data: fromBase64(account.data[0]),
      },
  );
}

export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** A token account; null if the token program has none there, although anyone may have sent lamports to the address. */
export const tokenOf = (account: MaybeAccount): TokenData | null =>
  account?.owner === TOKEN_PROGRAM ? decodeTokenData(account.data) : null;

/** Unix seconds of the account at CLOCK. */
export function timeOf(account: MaybeAccount): number {
  if (!account) throw new Error('The node did not return the clock.');
  return Number(decodeClock(account.data));
}

/** The chain's clock, unix seconds. */
export const readTime = async (): Promise<number> => timeOf((await readAccounts([CLOCK]))[0]);
