/** What the chain says of a wallet and its keys: grants, allowance, gas. Read together, so that it is of one moment. */
import { hexToBytes } from '@noble/hashes/utils.js';
import { queryOptions } from '@tanstack/react-query';
import type { KeyGrant } from '../../../sdk/program/program.ts';
import { openChain } from '../../wallet/chain.ts';

/** Amounts are base units of USDC, those of gas lamports. */
export interface WalletMoney {
  /** The chain's clock, unix seconds. */
  now: number;
  /** Of the wallet's USDC account; null where there is none. */
  balance: bigint | null;
  /** What the wallet's keys together may still spend. */
  allowance: bigint;
  /** Another's delegate with an allowance, which stands where ours would; null where none does. */
  otherDelegate: { address: string; allowance: bigint } | null;
  gas: bigint;
  /** A tank that is not empty must keep at least this. */
  leastGas: bigint;
  /** By key id; a grant that was closed is not there. */
  grants: ReadonlyMap<string, KeyGrant>;
  /** The program's own. */
  limits: { grantDays: number; gasPerCall: number; usualGasPerCall: number };
}

const DAY_SECONDS = 86_400;
/** What a node answers at once. */
const ACCOUNTS_AT_ONCE = 100;

export const moneyQuery = (wallet: string, keyIds: readonly string[]) =>
  queryOptions({
    queryKey: ['wallet-money', wallet, ...keyIds],
    queryFn: () => readMoney(wallet, keyIds),
    // Neither a Map nor a bigint is compared piece by piece.
    structuralSharing: false,
    refetchInterval: 30_000,
  });

async function readMoney(wallet: string, keyIds: readonly string[]): Promise<WalletMoney> {
  const { marketplace, program, PublicKey, decodeTokenAccount, readClock } = await openChain();
  const { connection, config } = marketplace;
  const owner = new PublicKey(wallet);
  const spender = program.findSpender(owner);
  const source = program.findTokenAccount(owner, config.usdcMint);
  const addresses = [spender, source, ...keyIds.map((id) => program.findGrant(owner, hexToBytes(id)))];
  const [now, leastGas, accounts] = await Promise.all([
    readClock(connection),
    connection.getMinimumBalanceForRentExemption(0),
    readAll(addresses, (part) => connection.getMultipleAccountsInfo(part)),
  ]);
  const [tank, held, ...granted] = accounts;
  const token = held && decodeTokenAccount(source, held);
  const isOurs = token?.delegate?.equals(spender) === true;
  const grants = new Map<string, KeyGrant>();
  for (const [index, id] of keyIds.entries()) {
    const account = granted[index];
    if (account) grants.set(id, program.decodeAccount('KeyGrant', account.data));
  }
  const isOthers = token?.delegate && !isOurs && token.delegatedAmount > 0n;
  return {
    now: Number(now),
    balance: token ? token.amount : null,
    allowance: token && isOurs ? token.delegatedAmount : 0n,
    otherDelegate: isOthers ? { address: token.delegate!.toBase58(), allowance: token.delegatedAmount } : null,
    gas: BigInt(tank?.lamports ?? 0),
    leastGas: BigInt(leastGas),
    grants,
    limits: {
      grantDays: program.constants.maxGrantSeconds / DAY_SECONDS,
      gasPerCall: program.constants.maxGasLamports,
      usualGasPerCall: program.constants.defaultMaxGasLamports,
    },
  };
}

async function readAll<In, Out>(all: In[], read: (part: In[]) => Promise<Out[]>): Promise<Out[]> {
  const parts: In[][] = [];
  for (let at = 0; at < all.length; at += ACCOUNTS_AT_ONCE) parts.push(all.slice(at, at + ACCOUNTS_AT_ONCE));
  return (await Promise.all(parts.map(read))).flat();
}

/** What a grant still lets its key spend now: the least of what its period and its total have left. */
export function leftOf(grant: KeyGrant, now: number): { period: bigint; total: bigint } {
  const isOver = BigInt(now) >= grant.periodStart + BigInt(grant.periodSeconds);
  const spent = isOver ? 0n : grant.periodSpent;
  const above = (value: bigint) => (value > 0n ? value : 0n);
  return { period: above(grant.periodMax - spent), total: above(grant.totalMax - grant.totalSpent) };
}

/** Whether the chain lets the key spend at all. */
export const isLive = (grant: KeyGrant | undefined, now: number): grant is KeyGrant =>
  grant !== undefined && !grant.revoked && BigInt(now) < grant.expiresAt;

/** How many calls a tank pays at the least, where each takes as much as the keys let it. */
export function callsPaid(money: WalletMoney): number {
  const live = [...money.grants.values()].filter((grant) => isLive(grant, money.now));
  const most = Math.max(0, ...live.map((grant) => grant.maxGasLamports)) || money.limits.usualGasPerCall;
  const usable = money.gas - money.leastGas;
  return usable > 0n ? Number(usable / BigInt(most)) : 0;
}
