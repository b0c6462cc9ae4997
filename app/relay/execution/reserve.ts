/**
 * Before money moves: can this key pay? By balance, allowance and caps as the accounts have them now, less what is
 * reserved for earlier calls. What its tank could give is found out at the same moment.
 */
import { AccountLayout, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import type { PublicKey } from '@solana/web3.js';
import {
  decodeAccount,
  findGrant,
  findSpender,
  findTokenAccount,
  type KeyGrant,
  parseAddress,
} from '../../sdk/program/program.ts';
import type { SpendingLimit } from '../../sdk/wire/errorCodes.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { formatUsdc, toUsdc } from '../../sdk/wire/usdc.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import { decodeRents, RENT_ADDRESS } from '../chain/rent.ts';
import { ApiError, chainUnreadable } from '../errors.ts';
import { type Means, mostFromTank } from './protection.ts';
import type { Payer, PayerAccounts, Reservations } from './reservations.ts';

/** How long a call waits for earlier ones whose opens decide whether its money is there. */
const MAX_WAIT_MS = 5_000;
/** How often the payer's accounts are read again because a reservation was given back meanwhile. */
const MAX_READINGS = 3;

type PriceLimit = Exclude<SpendingLimit, 'gas'>;

const LIMIT_TEXT: Record<PriceLimit, (wallet: string, have: string) => string> = {
  balance: (wallet, have) => `Wallet ${wallet} holds ${have} USDC`,
  allowance: (wallet, have) => `Wallet ${wallet} has delegated ${have} USDC to its spender address`,
  per_execution: (wallet, have) => `The API key of wallet ${wallet} may spend ${have} USDC per execution`,
  period: (wallet, have) => `The API key of wallet ${wallet} has ${have} USDC left in this period`,
  total: (wallet, have) => `The API key of wallet ${wallet} has ${have} USDC left in all`,
};

function insufficient({ limit, have: left, renewsAt }: Shortage, wallet: string, need: bigint): ApiError {
  const have = left > 0n ? left : 0n;
  const renews_at = renewsAt === null ? null : toTime(renewsAt);
  const message = `${LIMIT_TEXT[limit](wallet, formatUsdc(have))}; this call needs ${formatUsdc(need)} USDC`;
  return new ApiError('insufficient_balance', message, {
    details: { limit, wallet, have_usdc: toUsdc(have), need_usdc: toUsdc(need), renews_at },
  });
}

/** `renewsAt`: unix seconds, for the limit that a new period lifts. */
interface Shortage {
  limit: PriceLimit;
  have: bigint;
  renewsAt: bigint | null;
}

/** What is left of the grant's present period, before reservations. Periods follow one another from created_at. */
function periodLeft(grant: KeyGrant, now: bigint): bigint {
  const ended = now - grant.periodStart >= BigInt(grant.periodSeconds);
  return ended ? grant.periodMax : grant.periodMax - grant.periodSpent;
}

/** When the period after the present one begins, unix seconds. */
function periodEnd(grant: KeyGrant, now: bigint): bigint {
  const seconds = BigInt(grant.periodSeconds);
  return grant.periodStart + ((now - grant.periodStart) / seconds + 1n) * seconds;
}

/** Accounts that no give-back has overtaken; under a storm of calls the last reading has to do, and the chain decides. */
async function readPayer(
  chain: Pick<RelayChain, 'read'>,
  reservations: Reservations,
  payer: Payer,
  usdcMint: PublicKey,
  record: PublicKey | null,
): Promise<PayerAccounts> {
  const wallet = parseAddress(payer.wallet);
  const grant = findGrant(wallet, Buffer.from(payer.keyId, 'hex'));
  const keys = [findTokenAccount(wallet, usdcMint), grant, findSpender(wallet), RENT_ADDRESS];
  if (record) keys.push(record);
  for (let reading = 1; ; reading += 1) {
    const generation = reservations.generation(payer);
    const read = await chain.read(keys).catch(chainUnreadable);
    if (reservations.generation(payer) === generation || reading === MAX_READINGS) return { wallet, ...read };
  }
}

/** The first limit that the price exceeds; `reserved` is what earlier calls may still take. */
function findShortage(
  payer: PayerAccounts,
  reserved: { ofWallet: bigint; ofKey: bigint },
  price: bigint,
): Shortage | null {
  const { wallet, now } = payer;
  const [tokenAccount, grantAccount] = payer.accounts;
  const grant = grantAccount ? decodeAccount('KeyGrant', grantAccount.data) : null;
  if (!grant || grant.revoked || grant.expiresAt <= now) throw new ApiError('unauthorized', 'The API key is not valid');
  const token = tokenAccount?.owner.equals(TOKEN_PROGRAM_ID) ? AccountLayout.decode(tokenAccount.data) : null;
  const delegated = token?.delegateOption && token.delegate.equals(findSpender(wallet)) ? token.delegatedAmount : 0n;
  const available: [PriceLimit, bigint][] = [
    ['balance', (token?.amount ?? 0n) - reserved.ofWallet],
    ['allowance', delegated - reserved.ofWallet],
    ['per_execution', grant.perExecutionMax],
    ['period', periodLeft(grant, now) - reserved.ofKey],
    ['total', grant.totalMax - grant.totalSpent - reserved.ofKey],
  ];
  for (const [limit, have] of available) {
    if (have < price) return { limit, have, renewsAt: limit === 'period' ? periodEnd(grant, now) : null };
  }
  return null;
}

/** What is promised to a call, and what it may count on beside. */
export interface ReservedFunds {
  /** The chain's clock, unix seconds. */
  now: bigint;
  /** The record named exists already. */
  isTaken: boolean;
  /** As it was before this call. */
  means: Means;
  /** Keep only so much of the tank, lamports: it had all that the call may take. */
  keepTank(lamports: bigint): void;
  /** Give everything back, once. */
  release(): void;
}

/**
 * Check that the key can pay `price` now, from the accounts themselves and less what is reserved for earlier calls,
 * and reserve it, with all that the call may take out of the tank (its rent with `mayOwnRent`). Where only earlier calls stand in the way, it waits
 * for them: an open that has landed and whose reservation is still held would otherwise count twice. `fees` are those of
 * the call's transactions, lamports. Throws ApiError 402 naming the limit, or 401 where the grant is no longer live.
 */
export async function reserveFunds(
  chain: Pick<RelayChain, 'read'>,
  reservations: Reservations,
  payer: Payer,
  usdcMint: PublicKey,
  { price, fees, mayOwnRent }: { price: bigint; fees: bigint; mayOwnRent: boolean },
  record: PublicKey | null,
): Promise<ReservedFunds> {
  const patientUntil = performance.now() + MAX_WAIT_MS;
  let read = await readPayer(chain, reservations, payer, usdcMint, record);
  const isTaken = (read.accounts[4] ?? null) !== null;
  for (;;) {
    const reserved = { ofWallet: reservations.ofWallet(payer), ofKey: reservations.ofKey(payer) };
    const shortage = findShortage(read, reserved, price);
    // Between the check and here nothing else ran.
    if (!shortage) {
      const means = meansOf(read, reservations, payer, fees);
      return { now: read.now, isTaken, means, ...hold(reservations, payer, price, mostFromTank(means, mayOwnRent)) };
    }
    const isShortAnyway = findShortage(read, { ofWallet: 0n, ofKey: 0n }, price);
    const leftMs = patientUntil - performance.now();
    if (isShortAnyway || leftMs <= 0) {
      throw insufficient(isShortAnyway ?? shortage, payer.wallet, price);
    }
    await reservations.nextGiveBack(payer, leftMs);
    read = await reservations.readTogether(payer, () => readPayer(chain, reservations, payer, usdcMint, null));
  }
}

function meansOf({ accounts }: PayerAccounts, reservations: Reservations, payer: Payer, fees: bigint): Means {
  const [, grant, tank, rent] = accounts;
  if (!grant || !rent) throw new Error('the node gave no grant or no Rent sysvar');
  const maxGas = BigInt(decodeAccount('KeyGrant', grant.data).maxGasLamports);
  const lamports = BigInt(tank?.lamports ?? 0);
  return { fees, maxGas, rents: decodeRents(rent.data), tank: { lamports, reserved: reservations.ofTank(payer) } };
}

function hold(reservations: Reservations, payer: Payer, price: bigint, lamports: bigint) {
  const releasePrice = reservations.reserve(payer, price);
  let releaseTank = reservations.reserveTank(payer, lamports);
  return {
    keepTank(lamports: bigint) {
      const releaseMost = releaseTank;
      releaseTank = reservations.reserveTank(payer, lamports);
      releaseMost();
    },
    release() {
      releasePrice();
      releaseTank();
    },
  };
}
