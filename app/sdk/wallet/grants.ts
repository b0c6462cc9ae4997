/**
 * The on-chain half of API keys: each key's limits, and the allowance that all keys of a wallet share. A wallet changes
 * both alone, with or without the service.
 */
import { hexToBytes } from '@noble/hashes/utils.js';
import type { TransactionInstruction } from '@solana/web3.js';
import {
  approveSpender,
  closeGrant,
  findGrant,
  findSpender,
  type GrantLimits,
  type KeyGrant,
  revokeGrant,
  updateGrant,
} from '../program/program.ts';
import { greatest } from '../wire/amounts.ts';
import { formatUsdc } from '../wire/usdc.ts';
import { readAccount, readClock } from './connection.ts';
import { formatTime, type Progress } from './format.ts';
import { type MarketplaceChain, readUsdcAccount } from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { sendTransaction } from './send.ts';
import type { Signer } from './signer.ts';
import { lastingAllowance } from './usualAmounts.ts';

type Connected = Pick<MarketplaceChain, 'connection'>;

/** A key and the wallet that granted it. */
export interface OwnKey {
  wallet: Signer;
  /** 32 hex digits. */
  keyId: string;
}

/** The limits of a key's grant. Throws Refusal if the wallet has no such key. */
export async function readLimits(connected: Connected, key: OwnKey): Promise<GrantLimits> {
  return limitsOf(await readGrant(connected, key));
}

/** Ends a key's grant with the wallet's signature alone, without the marketplace. Null if it is already revoked. */
export async function revokeOnChain(connected: Connected, { wallet, keyId }: OwnKey): Promise<string | null> {
  const { revoked } = await readGrant(connected, { wallet, keyId });
  if (revoked) return null;
  const owner = wallet.publicKey;
  const instruction = revokeGrant({ authority: owner, wallet: owner, keyId: hexToBytes(keyId) });
  return sendTransaction(connected.connection, [instruction], wallet);
}

/** Changes the given limits of a key and keeps the others. The spent amount stays counted. */
export async function updateKey(
  connected: Connected,
  { wallet, keyId, change }: OwnKey & { change: Partial<GrantLimits> },
) {
  const present = await readGrant(connected, { wallet, keyId });
  const limits = { ...limitsOf(present), ...change };
  const instruction = updateGrant({ wallet: wallet.publicKey, keyId: hexToBytes(keyId), limits });
  const now = formatTime(await readClock(connected.connection));
  const signature = await sendTransaction(connected.connection, [instruction], wallet, {
    GrantExpiryOutOfBounds: `The key would expire at ${formatTime(limits.expiresAt)}; the chain's clock shows ${now}.`,
  });
  return {
    key_id: keyId,
    per_execution_usdc: formatUsdc(limits.perExecutionMax),
    per_period_usdc: formatUsdc(limits.periodMax),
    period_seconds: limits.periodSeconds,
    total_usdc: formatUsdc(limits.totalMax),
    total_spent_usdc: formatUsdc(present.totalSpent),
    max_gas_lamports: limits.maxGasLamports,
    expires_at: formatTime(limits.expiresAt),
    signature,
  };
}

/** Removes a key's grant, and so its right to spend. The rent goes to the wallet that paid it. */
export async function closeKey(connected: Connected, { wallet, keyId }: OwnKey) {
  const { rentSponsor } = await readGrant(connected, { wallet, keyId });
  const instruction = closeGrant({ wallet: wallet.publicKey, keyId: hexToBytes(keyId), rentSponsor });
  const signature = await sendTransaction(connected.connection, [instruction], wallet);
  return { key_id: keyId, closed: true, rent_sponsor: rentSponsor.toBase58(), signature };
}

/** How a new key changes the allowance of its wallet. */
export interface AllowanceOptions {
  wallet: Signer;
  limits: GrantLimits;
  /**
   * Base units that the wallet's spender may take for all keys together. Default: the present allowance, raised to twice
   * this key's total limit if that is more.
   */
  allowance?: bigint;
  /** True to replace another delegate of the wallet's USDC account, which then loses its allowance. */
  replaceDelegate?: boolean;
}

/**
 * A token account has one SPL delegate with one amount, and approving replaces both. Other keys share the allowance, so
 * it is only raised, unless the owner names an amount. Throws Refusal if the account has another delegate.
 */
export async function planAllowance(
  chain: MarketplaceChain,
  { wallet, limits, allowance: wanted, replaceDelegate }: AllowanceOptions,
  onProgress: Progress,
): Promise<{ allowance: bigint; instructions: TransactionInstruction[] }> {
  const owner = wallet.publicKey;
  const account = await readUsdcAccount(chain, owner);
  const isOurs = account.delegate?.equals(findSpender(owner)) === true;
  if (account.delegate && !isOurs && account.delegatedAmount > 0n && !replaceDelegate) {
    throw new Refusal(
      `${account.address} has given ${account.delegate} an allowance of ${formatUsdc(account.delegatedAmount)} USDC. ` +
        'A token account can have only one delegate.',
      { code: 'delegate_taken' },
    );
  }
  const present = isOurs ? account.delegatedAmount : 0n;
  const allowance = wanted ?? greatest(present, lastingAllowance(limits.totalMax));
  const shared = `${formatUsdc(allowance)} USDC, shared by all keys of this wallet and used up by refunded calls too`;
  if (allowance === present) {
    onProgress(`The wallet's allowance stays at ${shared}.`);
    return { allowance, instructions: [] };
  }
  onProgress(`The wallet's allowance goes from ${formatUsdc(present)} to ${shared}.`);
  const approve = approveSpender({ wallet: owner, usdcMint: chain.config.usdcMint, amount: allowance });
  return { allowance, instructions: [approve] };
}

/**
 * Sets the total that all keys of the wallet may spend from now on, base units. Any other delegate of its USDC account
 * loses its allowance.
 */
export async function changeAllowance(
  chain: MarketplaceChain,
  { wallet, allowance }: { wallet: Signer; allowance: bigint },
) {
  const owner = wallet.publicKey;
  const { address } = await readUsdcAccount(chain, owner);
  const instruction = approveSpender({ wallet: owner, usdcMint: chain.config.usdcMint, amount: allowance });
  const signature = await sendTransaction(chain.connection, [instruction], wallet);
  return { source: address.toBase58(), allowance_usdc: formatUsdc(allowance), signature };
}

function limitsOf(grant: KeyGrant): GrantLimits {
  const { perExecutionMax, periodMax, totalMax, periodSeconds, expiresAt, maxGasLamports } = grant;
  return { perExecutionMax, periodMax, totalMax, periodSeconds, expiresAt, maxGasLamports };
}

function readGrant({ connection }: Connected, { wallet, keyId }: OwnKey): Promise<KeyGrant> {
  const missing = `The wallet ${wallet.publicKey} has no key ${keyId} on this chain.`;
  return readAccount(connection, 'KeyGrant', findGrant(wallet.publicKey, hexToBytes(keyId)), missing);
}
