/**
 * Before money moves: can this key pay? By balance, allowance and caps as the accounts have them now, less what is
 * reserved for earlier calls.
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
import { formatUsdc, toUsdc } from '../../sdk/wire/usdc.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import { ApiError, chainUnreadable } from '../errors.ts';
import type { Payer, PayerAccounts, Reservations } from './reservations.ts';

/** How long a call waits for earlier ones whose opens decide whether its money is there. */
const MAX_WAIT_MS = 5_000;
/** How often the payer's accounts are read again because a reservation was given back meanwhile. */
const MAX_READINGS = 3;

const LIMIT_TEXT: Record<SpendingLimit, (wallet: string, have: string) => string> = {
  balance: (wallet, have) => `Wallet ${wallet} holds ${have} USDC`,
  allowance: (wallet, have) => `Wallet ${wallet} has delegated ${have} USDC to its spender address`,
  per_execution: (wallet, have) => `The API key of wallet ${wallet} may spend ${have} USDC per execution`,
  period: (wallet, have) => `The API key of wallet ${wallet} has ${have} USDC left in this period`,
  total: (wallet, have) => `The API key of wallet ${wallet} has ${have} USDC left in all`,
};

function insufficient({ limit, have: left, renewsAt }: Shortage, wallet: string, need: bigint): ApiError {
  const have = left > 0n ? left : 0n;
  const renews_at = renewsAt === null ? null : new Date(Number(renewsAt) * 1000).toISOString();
  const message = `${LIMIT_TEXT[limit](wallet, formatUsdc(have))}; this call needs ${formatUsdc(need)} USDC`;
  return new ApiError('insufficient_balance', message, {
    details: { limit, wallet, have_usdc: toUsdc(have), need_usdc: toUsdc(need), renews_at },
  });
}

/** `renewsAt`: unix seconds, for the limit that a new period lifts. */
interface Shortage {
  limit: SpendingLimit;
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
  const keys = [findTokenAccount(wallet, usdcMint), findGrant(wallet, Buffer.from(payer.keyId, 'hex'))];
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
  const available: [SpendingLimit, bigint][] = [
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

/**
 * Check that the key can pay `price` now, from the accounts themselves and less what is reserved for earlier calls,
 * and reserve it. Where only those stand in the way, it waits for them: an open that has landed and whose reservation
 * is still held would otherwise count twice. Returns the chain's clock, how to give the reservation back, and whether
 * the record named exists already. Throws ApiError 402 naming the limit, or 401 where the grant is no longer live.
 */
export async function reserveFunds(
  chain: Pick<RelayChain, 'read'>,
  reservations: Reservations,
  payer: Payer,
  usdcMint: PublicKey,
  price: bigint,
  record: PublicKey | null,
): Promise<{ now: bigint; release: () => void; isTaken: boolean }> {
  const patientUntil = performance.now() + MAX_WAIT_MS;
  let read = await readPayer(chain, reservations, payer, usdcMint, record);
  const isTaken = (read.accounts[2] ?? null) !== null;
  for (;;) {
    const reserved = { ofWallet: reservations.ofWallet(payer), ofKey: reservations.ofKey(payer) };
    const shortage = findShortage(read, reserved, price);
    // Between the check and here nothing else ran.
    if (!shortage) return { now: read.now, release: reservations.reserve(payer, price), isTaken };
    const isShortAnyway = findShortage(read, { ofWallet: 0n, ofKey: 0n }, price);
    const leftMs = patientUntil - performance.now();
    if (isShortAnyway || leftMs <= 0) {
      throw insufficient(isShortAnyway ?? shortage, payer.wallet, price);
    }
    await reservations.nextGiveBack(payer, leftMs);
    read = await reservations.readTogether(payer, () => readPayer(chain, reservations, payer, usdcMint, null));
  }
}
