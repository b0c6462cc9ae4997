/** The balances of all parties of a call, lamports and USDC, so that a test can check every change exactly. */
import { decodeRents, RENT_ADDRESS } from '../../../app/relay/chain/rent.ts';
import { findSpender } from '../../../app/sdk/program/program.ts';
import type { TestMarketplace } from './marketplace.ts';

export interface Funds {
  /** Lamports. */
  authority: bigint;
  wallet: bigint;
  gasBalance: bigint;
  /** Base units. */
  callerUsdc: bigint;
  creatorUsdc: bigint;
  treasuryUsdc: bigint;
}

/** Reads the balances of the caller and the operator. */
export async function readFunds(market: TestMarketplace, caller: number): Promise<Funds> {
  const { connection } = market.node;
  const { wallet } = market.callers[caller]!;
  const addresses = [market.authority.publicKey, wallet.publicKey, findSpender(wallet.publicKey)];
  const lamports = await Promise.all(addresses.map((address) => connection.getBalance(address, 'confirmed')));
  const { callers, creator, treasury } = await market.balances();
  const [authority, walletHas, gasBalance] = lamports.map(BigInt) as [bigint, bigint, bigint];
  return {
    authority,
    wallet: walletHas,
    gasBalance,
    callerUsdc: callers[caller]!,
    creatorUsdc: creator,
    treasuryUsdc: treasury,
  };
}

/** The changes since `before`. Unchanged balances are left out. */
export function movedSince(before: Funds, after: Funds): Partial<Funds> {
  const moved = Object.entries(before).map(([name, had]) => [name, after[name as keyof Funds] - had] as const);
  return Object.fromEntries(moved.filter(([, amount]) => amount !== 0n));
}

/** The node's rents. */
export async function readRents(market: TestMarketplace) {
  const account = await market.node.connection.getAccountInfo(RENT_ADDRESS, 'confirmed');
  return decodeRents(account!.data);
}
