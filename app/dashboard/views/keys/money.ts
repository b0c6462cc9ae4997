/**
 * A wallet's money and keys on the chain: grants, allowance, gas. They are read together, so that they match.
 */
import { hexToBytes } from '@noble/hashes/utils.js';
import { queryOptions } from '@tanstack/react-query';
import type { KeyGrant } from '../../../sdk/program/program.ts';
import { least } from '../../../sdk/wire/amounts.ts';
import { DAY_SECONDS } from '../../parts/days.ts';
import { openChain } from '../../wallet/chain.ts';

/** Amounts are base units of USDC; gas is lamports. */
export interface WalletMoney {
  /** The chain's clock, unix seconds. */
  now: number;
  /** Balance of the wallet's USDC account; null if it does not exist. */
  balance: bigint | null;
  /** Total that the wallet's keys may still spend. */
  allowance: bigint;
  /** Another program's delegate, which replaced ours, and its allowance; null if there is none. */
  otherDelegate: { address: string; allowance: bigint } | null;
  gas: bigint;
  /** Minimum of a gas balance that is not empty. */
  leastGas: bigint;
  /** Refundable deposit that the gas balance lends each call until it ends. */
  callDeposit: bigint;
  /** Refundable deposit of a new grant. */
  grantDeposit: bigint;
  /** By key id; closed grants are absent. */
  grants: ReadonlyMap<string, KeyGrant>;
  /** The program's own limits. */
  limits: { grantDays: number; gasPerCall: number; usualGasPerCall: number };
}

/** Limit of accounts per request of a node. */
const ACCOUNTS_AT_ONCE = 100;

export const moneyQuery = (wallet: string, keyIds: readonly string[]) =>
  queryOptions({
    queryKey: ['wallet-money', wallet, ...keyIds],
    queryFn: () => readMoney(wallet, keyIds),
    // React Query cannot compare a Map or a bigint by content.
    structuralSharing: false,
    refetchInterval: 10_000,
  });

async function readMoney(wallet: string, keyIds: readonly string[]): Promise<WalletMoney> {
  const { marketplace, program, PublicKey, decodeTokenAccount, readClock } = await openChain();
  const { connection, config } = marketplace;
  const owner = new PublicKey(wallet);
  const spender = program.findSpender(owner);
  const source = program.findTokenAccount(owner, config.usdcMint);
  const addresses = [spender, source, ...keyIds.map((id) => program.findGrant(owner, hexToBytes(id)))];
  const [now, leastGas, callDeposit, grantDeposit, accounts] = await Promise.all([
    readClock(connection),
    connection.getMinimumBalanceForRentExemption(0),
    connection.getMinimumBalanceForRentExemption(program.TOKEN_ACCOUNT_SIZE),
    connection.getMinimumBalanceForRentExemption(program.GRANT_SIZE),
    readAll(addresses, (part) => connection.getMultipleAccountsInfo(part)),
  ]);
  const [gasBalance, held, ...granted] = accounts;
  const token = decodeTokenAccount(source, held);
  const isOurs = token?.delegate?.equals(spender) === true;
  const grants = new Map<string, KeyGrant>();
  for (const [index, id] of keyIds.entries()) {
    const grant = program.decodeOwn('KeyGrant', granted[index]);
    if (grant) grants.set(id, grant);
  }
  const isOthers = token?.delegate && !isOurs && token.delegatedAmount > 0n;
  return {
    now: Number(now),
    balance: token ? token.amount : null,
    allowance: token && isOurs ? token.delegatedAmount : 0n,
    otherDelegate: isOthers ? { address: token.delegate!.toBase58(), allowance: token.delegatedAmount } : null,
    gas: BigInt(gasBalance?.lamports ?? 0),
    leastGas: BigInt(leastGas),
    callDeposit: BigInt(callDeposit),
    grantDeposit: BigInt(grantDeposit),
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

/** The USDC that a key may still spend in its period and in total. */
export function leftOf(grant: KeyGrant, now: number): { period: bigint; total: bigint } {
  const isOver = BigInt(now) >= grant.periodStart + BigInt(grant.periodSeconds);
  const spent = isOver ? 0n : grant.periodSpent;
  const above = (value: bigint) => (value > 0n ? value : 0n);
  return { period: above(grant.periodMax - spent), total: above(grant.totalMax - grant.totalSpent) };
}

/** What ends a key's spend first: `fees` if the gas balance does not pay for a call. */
export type SpendLimit = 'fees' | 'wallet' | 'allowance' | 'period' | 'total';

/** The USDC that a key can spend now, and what limits it. `isSponsored`: the operator pays the network fees. */
export function spendableNow(
  grant: KeyGrant,
  money: WalletMoney,
  isSponsored: boolean,
): { amount: bigint; limit: SpendLimit } {
  if (!isSponsored && callsPaid(money) === 0) return { amount: 0n, limit: 'fees' };
  const { period, total } = leftOf(grant, money.now);
  const limits: [SpendLimit, bigint][] = [
    ['total', total],
    ['period', period],
    ['wallet', money.balance ?? 0n],
    ['allowance', money.allowance],
  ];
  const amount = least(...(limits.map(([, left]) => left) as [bigint, ...bigint[]]));
  return { amount, limit: limits.find(([, left]) => left === amount)![0] };
}

/** The USDC that these keys together can spend now, and what limits it. They share the wallet and the allowance. */
export function allSpendableNow(
  keyIds: readonly string[],
  money: WalletMoney,
  isSponsored: boolean,
): { amount: bigint; limit: SpendLimit | 'keys' } {
  if (!isSponsored && callsPaid(money) === 0) return { amount: 0n, limit: 'fees' };
  let ofKeys = 0n;
  for (const id of keyIds) {
    const grant = money.grants.get(id);
    if (!isLive(grant, money.now)) continue;
    const { period, total } = leftOf(grant, money.now);
    ofKeys += least(period, total);
  }
  const amount = least(ofKeys, money.balance ?? 0n, money.allowance);
  const limit = amount === ofKeys ? 'keys' : amount === (money.balance ?? 0n) ? 'wallet' : 'allowance';
  return { amount, limit };
}

/** The USDC that all live keys together may still spend in total. */
export function spendableOf({ grants, now }: Pick<WalletMoney, 'grants' | 'now'>): bigint {
  let sum = 0n;
  for (const grant of grants.values()) if (isLive(grant, now)) sum += leftOf(grant, now).total;
  return sum;
}

/** When the grant's next period begins, ISO 8601. */
export function renewalOf({ periodStart, periodSeconds }: KeyGrant, now: number): string {
  const periods = Math.floor((now - Number(periodStart)) / periodSeconds) + 1;
  return new Date((Number(periodStart) + periods * periodSeconds) * 1_000).toISOString();
}

/** True if the chain lets the key spend. */
export const isLive = (grant: KeyGrant | undefined, now: number): grant is KeyGrant =>
  grant !== undefined && !grant.revoked && BigInt(now) < grant.expiresAt;

/** Two signatures, a share of the archive and usual priority fees, lamports. */
const USUAL_CALL_LAMPORTS = 11_950n;

/** The gas balance, where the operator pays what it does not cover. */
export const OPTIONAL_GAS = 'Optional: this marketplace pays the network fees that the gas balance does not cover.';

/** About how many calls a gas balance pays at usual fees, to two digits. */
export function callsPaid({
  gas,
  leastGas,
  callDeposit,
}: Pick<WalletMoney, 'gas' | 'leastGas' | 'callDeposit'>): number {
  const usable = gas - leastGas - callDeposit;
  return usable > 0n ? Number(Number(usable / USUAL_CALL_LAMPORTS).toPrecision(2)) : 0;
}
