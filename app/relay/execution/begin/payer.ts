/**
 * Checks before money moves that this key can pay: balance, allowance, caps and gas balance as the accounts show them
 * now. The ledger knows the reservations of earlier calls, and decides when it claims the call's row.
 */
import type { PublicKey } from '@solana/web3.js';
import {
  decodeOwn,
  findGrant,
  findSpender,
  findTokenAccount,
  type KeyGrant,
  ownAccount,
  parseAddress,
} from '../../../sdk/program/program.ts';
import type { SpendingLimit } from '../../../sdk/wire/errorDetails.ts';
import { toTime } from '../../../sdk/wire/time.ts';
import { formatUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import type { AccountsAt } from '../../chain/reader.ts';
import type { RelayChain } from '../../chain/relayChain.ts';
import { decodeRents, RENT_ADDRESS } from '../../chain/rent.ts';
import { readToken } from '../../chain/tokenAccounts.ts';
import { ApiError, chainUnreadable, INVALID_KEY, withRenewal } from '../../errors.ts';
import type { Funds } from '../../ledger/funding.ts';
import type { Held } from '../../ledger/sums.ts';
import type { Means } from './waysToPay.ts';

/** The payer: a wallet, through one of its keys, 32 hex digits. */
export interface Payer {
  wallet: string;
  keyId: string;
}

/** A payer's token account, grant and gas balance, the Rent sysvar, and the call's record if it was requested. */
export interface PayerAccounts extends AccountsAt {
  wallet: PublicKey;
}

type PriceLimit = Exclude<SpendingLimit, 'gas'>;

const LIMIT_TEXT: Record<PriceLimit, (wallet: string, have: string) => string> = {
  balance: (wallet, have) => `Wallet ${wallet} holds ${have} USDC`,
  allowance: (wallet, have) => `Wallet ${wallet} has an allowance of ${have} USDC`,
  per_execution: (wallet, have) => `The API key of wallet ${wallet} may spend ${have} USDC per call`,
  period: (wallet, have) => `The API key of wallet ${wallet} has ${have} USDC left in this period`,
  total: (wallet, have) => `The API key of wallet ${wallet} has ${have} USDC left of its total`,
};

function insufficient({ limit, have: left, renewsAt }: Shortage, wallet: string, need: bigint): ApiError {
  const have = left > 0n ? left : 0n;
  const renews_at = renewsAt === null ? null : toTime(renewsAt);
  const shortage = `${LIMIT_TEXT[limit](wallet, formatUsdc(have))}; this call needs ${formatUsdc(need)} USDC`;
  const message = limit === 'allowance' ? withRenewal(shortage) : shortage;
  return new ApiError('insufficient_balance', message, {
    details: { limit, wallet, have_usdc: toUsdc(have), need_usdc: toUsdc(need), renews_at },
  });
}

/** `renewsAt`: unix seconds, for the limit that a new period resets. */
interface Shortage {
  limit: PriceLimit;
  have: bigint;
  renewsAt: bigint | null;
}

/** True if nothing was spent in the grant's current period. Periods follow one another from created_at. */
export const isNewPeriod = (grant: KeyGrant, now: bigint): boolean =>
  now - grant.periodStart >= BigInt(grant.periodSeconds);

/** The rest of the grant's current period, before reservations. */
export const periodLeft = (grant: KeyGrant, now: bigint): bigint =>
  isNewPeriod(grant, now) ? grant.periodMax : grant.periodMax - grant.periodSpent;

/** Start of the next period, unix seconds. */
export function periodEnd(grant: KeyGrant, now: bigint): bigint {
  const seconds = BigInt(grant.periodSeconds);
  return grant.periodStart + ((now - grant.periodStart) / seconds + 1n) * seconds;
}

/** Reads the payer's accounts now. Throws ApiError 503 if the node does not answer. */
export async function readPayer(
  chain: Pick<RelayChain, 'read'>,
  payer: Payer,
  usdcMint: PublicKey,
  record: PublicKey | null,
): Promise<PayerAccounts> {
  const wallet = parseAddress(payer.wallet);
  const grant = findGrant(wallet, Buffer.from(payer.keyId, 'hex'));
  const keys = [findTokenAccount(wallet, usdcMint), grant, findSpender(wallet), RENT_ADDRESS];
  if (record) keys.push(record);
  return { wallet, ...(await chain.read(keys).catch(chainUnreadable)) };
}

/** True if the requested record exists. */
export const hasRecord = ({ accounts }: PayerAccounts): boolean => ownAccount(accounts[4]) !== null;

/** The money that the payer can spend according to its accounts. Each limit is before reservations. */
export interface Allowed {
  grant: KeyGrant;
  balance: bigint;
  delegated: bigint;
  periodLeft: bigint;
  totalLeft: bigint;
}

/** Throws ApiError 401 if the grant is no longer live. */
export function allowedBy({ wallet, now, accounts }: PayerAccounts): Allowed {
  const [tokenAccount, grantAccount] = accounts;
  const grant = decodeOwn('KeyGrant', grantAccount);
  if (!grant || grant.revoked || grant.expiresAt <= now) throw new ApiError('unauthorized', INVALID_KEY);
  const token = readToken(tokenAccount);
  return {
    grant,
    balance: token?.amount ?? 0n,
    delegated: token?.delegateOption && token.delegate.equals(findSpender(wallet)) ? token.delegatedAmount : 0n,
    periodLeft: periodLeft(grant, now),
    totalLeft: grant.totalMax - grant.totalSpent,
  };
}

const NOTHING_HELD = { held_wallet: 0n, held_key: 0n };

/** Throws ApiError 402 with the first limit that the price exceeds after reservations. */
export function requirePayable(
  { wallet, now }: PayerAccounts,
  { grant, balance, delegated, periodLeft, totalLeft }: Allowed,
  price: bigint,
  { held_wallet, held_key }: Pick<Held, 'held_wallet' | 'held_key'> = NOTHING_HELD,
): void {
  const available: [PriceLimit, bigint][] = [
    ['balance', balance - held_wallet],
    ['allowance', delegated - held_wallet],
    ['per_execution', grant.perExecutionMax],
    ['period', periodLeft - held_key],
    ['total', totalLeft - held_key],
  ];
  for (const [limit, have] of available) {
    const renewsAt = limit === 'period' ? periodEnd(grant, now) : null;
    if (have < price) throw insufficient({ limit, have, renewsAt }, wallet.toBase58(), price);
  }
}

/** The payer's money for one call, as input of the ledger's claim. */
export function fundsOf(
  { slot, accounts }: PayerAccounts,
  { balance, delegated, periodLeft, totalLeft }: Allowed,
  { keyId }: Payer,
  price: bigint,
): Funds {
  const [, , gasBalance, rent] = accounts;
  return {
    slot: BigInt(slot),
    keyId,
    price,
    wallet: balance < delegated ? balance : delegated,
    key: periodLeft < totalLeft ? periodLeft : totalLeft,
    gasBalance: BigInt(gasBalance?.lamports ?? 0),
    gasBalanceRest: rentsOf(rent).empty,
  };
}

/** The money for the call's transactions. `cost` are their network fees, lamports. */
export function meansOf({ accounts }: PayerAccounts, { grant }: Allowed, cost: Pick<Means, 'fee' | 'gas'>): Means {
  const [, , gasBalance, rent] = accounts;
  return {
    ...cost,
    maxGas: BigInt(grant.maxGasLamports),
    rents: rentsOf(rent),
    gasBalance: BigInt(gasBalance?.lamports ?? 0),
  };
}

function rentsOf(rent: PayerAccounts['accounts'][number] | undefined) {
  if (!rent) throw new Error('the node has no Rent sysvar');
  return decodeRents(rent.data);
}
