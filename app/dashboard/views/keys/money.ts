/**
 * A wallet's money and keys on the chain: grants, allowance, gas. They are read together, so that they match.
 */
import { hexToBytes } from '@noble/hashes/utils.js';
import { queryOptions, useQuery } from '@tanstack/react-query';
import bs58 from 'bs58';
import { constants } from '../../../sdk/program/constants.ts';
import { CLOCK } from '../../../sdk/program/foreign.ts';
import { tokenAddress } from '../../../sdk/program/tokenAddress.ts';
import { decodeOwnInText, type GrantFields, grantAddress, spenderAddress } from '../../../sdk/receipt/onChain.ts';
import { least } from '../../../sdk/wire/amounts.ts';
import { DAY_SECONDS } from '../../parts/days.ts';
import { call, configQuery, queryClient } from '../../service.ts';
import { readAccounts, timeOf, tokenOf } from '../../wallet/accounts.ts';
import { depositsQuery } from '../../wallet/deposits.ts';

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
  grants: ReadonlyMap<string, GrantFields>;
  /** The program's own limits. */
  limits: { grantDays: number; gasPerCall: number; usualGasPerCall: number };
}

const moneyQuery = (wallet: string, keyIds: readonly string[]) =>
  queryOptions({
    queryKey: ['wallet-money', wallet, ...keyIds],
    queryFn: () => readMoney(wallet, keyIds),
    // React Query cannot compare a Map or a bigint by content.
    structuralSharing: false,
    refetchInterval: 10_000,
  });

async function readMoney(wallet: string, keyIds: readonly string[]): Promise<WalletMoney> {
  const { usdc_mint } = await queryClient.ensureQueryData(configQuery);
  const spender = spenderAddress(wallet);
  const granted = keyIds.map((id) => grantAddress(wallet, hexToBytes(id)));
  const [deposits, [clock, gasBalance, held, ...grants]] = await Promise.all([
    queryClient.ensureQueryData(depositsQuery),
    readAccounts([CLOCK, spender, tokenAddress(wallet, usdc_mint), ...granted]),
  ]);
  const token = tokenOf(held);
  const delegate = token?.delegate && { address: bs58.encode(token.delegate), allowance: token.delegatedAmount };
  const isOurs = delegate?.address === spender;
  return {
    now: timeOf(clock),
    balance: token?.amount ?? null,
    allowance: delegate && isOurs ? delegate.allowance : 0n,
    otherDelegate: delegate && !isOurs && delegate.allowance > 0n ? delegate : null,
    gas: gasBalance?.lamports ?? 0n,
    leastGas: deposits.empty,
    callDeposit: deposits.token,
    grantDeposit: deposits.grant,
    grants: new Map(
      keyIds.flatMap((id, at) => {
        const grant = decodeOwnInText('KeyGrant', grants[at]);
        return grant ? [[id, grant]] : [];
      }),
    ),
    limits: {
      grantDays: constants.maxGrantSeconds / DAY_SECONDS,
      gasPerCall: constants.maxGasLamports,
      usualGasPerCall: constants.defaultMaxGasLamports,
    },
  };
}

/** The USDC that a key may still spend in its period and in total. */
export function leftOf(grant: GrantFields, now: number): { period: bigint; total: bigint } {
  const isOver = BigInt(now) >= grant.periodStart + BigInt(grant.periodSeconds);
  const spent = isOver ? 0n : grant.periodSpent;
  const above = (value: bigint) => (value > 0n ? value : 0n);
  return { period: above(grant.periodMax - spent), total: above(grant.totalMax - grant.totalSpent) };
}

/** What limits the spend: `fees` if the gas balance does not pay for a call. */
export type SpendLimit = 'fees' | 'wallet' | 'allowance' | 'keys';

/**
 * The USDC that these keys together can spend now, and what limits it. They share the wallet and the allowance.
 * `isSponsored`: the operator pays the network fees.
 */
export function spendableNow(
  keyIds: readonly string[],
  money: WalletMoney,
  isSponsored: boolean,
): { amount: bigint; limit: SpendLimit } {
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
export function renewalOf({ periodStart, periodSeconds }: GrantFields, now: number): string {
  const periods = Math.floor((now - Number(periodStart)) / periodSeconds) + 1;
  return new Date((Number(periodStart) + periods * periodSeconds) * 1_000).toISOString();
}

/** True if the chain lets the key spend. */
export const isLive = (grant: GrantFields | undefined, now: number): grant is GrantFields =>
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

/** A wallet's keys, also ended ones. */
export const keysQuery = (wallet: string) =>
  queryOptions({ queryKey: ['keys', wallet], queryFn: async () => (await call('keys.list')).keys });

/** A wallet's keys, and its money on the chain with theirs; undefined until both are known. */
export function useWalletKeys(wallet: string) {
  const listed = useQuery({ ...keysQuery(wallet), refetchInterval: 5_000 });
  const ids = [...new Set(listed.data?.map(({ key_id }) => key_id))];
  const chain = useQuery({
    ...moneyQuery(wallet, ids),
    enabled: listed.data !== undefined,
    // The wallet's figures stay visible while a key is added.
    placeholderData: (before) => before,
  });
  return { listed, money: chain.data, chain };
}
