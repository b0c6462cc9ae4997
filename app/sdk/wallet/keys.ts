/**
 * API keys, as their owner makes and ends them. A key is made here; the wallet signs its caps and the allowance on-chain
 * in one transaction; the marketplace learns the key's hash. The local network makes its callers' keys the same way.
 */
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import { formatTime } from '../../cli/output.ts';
import { createManagementClient } from '../client/client.ts';
import {
  approveSpender,
  closeGrant,
  createGrant,
  findGrant,
  findSpender,
  type GrantLimits,
  type KeyGrant,
  revokeGrant,
  updateGrant,
} from '../program/program.ts';
import { createApiKey, hashApiKey, keyIdOf, keyIdOfHash } from '../receipt/apiKey.ts';
import type { KeySummary, ProcedureInput } from '../wire/procedures.ts';
import { formatUsdc } from '../wire/usdc.ts';
import { readAccount, readClock, sendTransaction } from './chain.ts';
import { ask, type Chain, type Marketplace, openSession, type Report, readUsdcAccount } from './marketplace.ts';
import { Refusal, UnknownOutcome } from './refusal.ts';

export interface CreateKeyOptions {
  wallet: Keypair;
  /** Free text by which the owner knows the key. */
  name: string;
  limits: GrantLimits;
  /**
   * Base units that the wallet's spender may take, all keys of the wallet together. Default: the present allowance,
   * raised to this key's total limit where it is less.
   */
  allowance?: bigint;
  /** Take the place of another delegate of the wallet's USDC account, which loses its allowance. */
  replaceDelegate?: boolean;
  /** A key that exists already, for a chain that does not know it yet. */
  apiKey?: string;
  /** What the marketplace shall allow the key, less than its grant does. */
  restrictions?: KeyRestrictions;
  report: Report;
}

/** As the marketplace keeps them; what is not named stays, or is not there. */
export type KeyRestrictions = Omit<ProcedureInput<'keys.update'>, 'key_id'>;

export interface KeyResult {
  api_key: string;
  key_id: string;
  wallet: string;
  name: string;
  /** What all keys of the wallet together may spend now. */
  allowance_usdc: string;
  expires_at: string | null;
  /** Of the transaction. */
  signature: string;
}

/** Makes a key. `onGranted` hears of it as soon as it can or might spend, before anything else can fail. */
export async function createKey(
  marketplace: Marketplace,
  options: CreateKeyOptions,
  onGranted: (apiKey: string) => void = () => {},
): Promise<KeyResult> {
  const { wallet, name, limits, report } = options;
  const apiKey = options.apiKey ?? createApiKey(marketplace.environment);
  const keyId = keyIdOf(apiKey);
  const owner = wallet.publicKey;
  const { allowance, instructions } = await planAllowance(marketplace, options);
  const grant = createGrant({ wallet: owner, payer: owner, keyId, limits });
  let signature: string;
  try {
    signature = await sendTransaction(marketplace.connection, [grant, ...instructions], [wallet]);
  } catch (error) {
    if (error instanceof UnknownOutcome) onGranted(apiKey);
    throw error;
  }
  onGranted(apiKey);
  const key = { wallet: owner.toBase58(), keyHash: hashApiKey(apiKey), name };
  if (options.restrictions) await registerRestricted(marketplace, wallet, key, options.restrictions);
  else await registerKey(marketplace, key);
  report(`Key "${name}" is registered.`);
  return {
    api_key: apiKey,
    key_id: Buffer.from(keyId).toString('hex'),
    wallet: owner.toBase58(),
    name,
    allowance_usdc: formatUsdc(allowance),
    expires_at: formatTime(limits.expiresAt),
    signature,
  };
}

/** Tells the marketplace of a key whose grant is on-chain. Repeating it changes nothing. */
export async function registerKey(
  { baseUrl }: Pick<Marketplace, 'baseUrl'>,
  key: { wallet: string; keyHash: string; name: string },
): Promise<string> {
  const { wallet, keyHash: key_hash, name } = key;
  await ask(baseUrl, () => createManagementClient({ baseUrl }).call('keys.register', { wallet, key_hash, name }));
  return keyIdOfHash(key_hash);
}

/** With restrictions from its first moment, for which the wallet itself must ask. */
async function registerRestricted(
  marketplace: Marketplace,
  wallet: Keypair,
  key: { wallet: string; keyHash: string; name: string },
  restrictions: KeyRestrictions,
): Promise<void> {
  const session = await openSession(marketplace, wallet);
  const input = { wallet: key.wallet, key_hash: key.keyHash, name: key.name, ...restrictions };
  await ask(marketplace.baseUrl, () => session.call('keys.register', input));
}

/** Changes what the marketplace allows a key; its limits on-chain stay. */
export async function restrictKey(
  marketplace: Marketplace,
  { wallet, keyId, restrictions }: OwnKey & { restrictions: KeyRestrictions },
): Promise<KeySummary> {
  const session = await openSession(marketplace, wallet);
  return ask(marketplace.baseUrl, () => session.call('keys.update', { key_id: keyId, ...restrictions }));
}

/**
 * A new key in the place of an old one: the same limits on-chain and the same restrictions, and from `graceSeconds` on
 * the old one is taken no more. The old one changes last, so that whatever fails before leaves it as it was; its grant
 * stays on-chain until it ends by itself or is revoked.
 */
export async function rotateKey(
  marketplace: Marketplace,
  options: { wallet: Keypair; keyId: string; graceSeconds: number; report: Report },
  onGranted: (apiKey: string) => void = () => {},
): Promise<KeyResult & { replaces: string; replaced_until: string }> {
  const { wallet, keyId, graceSeconds, report } = options;
  const grant = await readGrant(marketplace, options);
  const old = (await listKeys(marketplace, wallet)).find((key) => key.key_id === keyId && !key.revoked);
  if (!old) throw new Refusal(`The wallet ${wallet.publicKey} has no live key ${keyId} at ${marketplace.baseUrl}.`);
  const { perExecutionMax, periodMax, totalMax, periodSeconds, expiresAt } = grant;
  const limits = { perExecutionMax, periodMax, totalMax, periodSeconds, expiresAt };
  const restrictions = { scopes: old.scopes, allowed_ips: old.allowed_ips };
  const made = await createKey(marketplace, { wallet, name: old.name, limits, restrictions, report }, onGranted);
  const end = new Date(Math.min(Date.now() + graceSeconds * 1_000, Date.parse(old.expires_at ?? made.expires_at!)));
  const replaced = await restrictKey(marketplace, {
    wallet,
    keyId,
    restrictions: { expires_at: end.toISOString() },
  });
  report(`The old key ${keyId} is taken until ${replaced.expires_at}.`);
  return { ...made, replaces: keyId, replaced_until: end.toISOString() };
}

/** The wallet's keys as the marketplace knows them, with their use. */
export async function listKeys(marketplace: Marketplace, wallet: Keypair) {
  const session = await openSession(marketplace, wallet);
  return (await ask(marketplace.baseUrl, () => session.call('keys.list'))).keys;
}

/**
 * Ends a key: with the next request at the marketplace, and for good on-chain, where the wallet itself signs if the
 * marketplace could not. Returns the transaction's signature; null where the grant had been revoked before.
 */
export async function revokeKey(
  marketplace: Marketplace,
  options: { wallet: Keypair; keyId: string; report: Report },
): Promise<string | null> {
  const { wallet, keyId, report } = options;
  const session = await openSession(marketplace, wallet);
  const { on_chain } = await ask(marketplace.baseUrl, () => session.call('keys.revoke', { key_id: keyId }));
  report('The marketplace takes the key no more.');
  return on_chain.signature ?? revokeOnChain(marketplace, options);
}

/** Ends a key's grant by the wallet's signature alone, without the marketplace. Null where it is revoked already. */
export async function revokeOnChain(connected: Connected, { wallet, keyId }: OwnKey): Promise<string | null> {
  const { revoked } = await readGrant(connected, { wallet, keyId });
  if (revoked) return null;
  const owner = wallet.publicKey;
  const instruction = revokeGrant({ authority: owner, wallet: owner, keyId: Buffer.from(keyId, 'hex') });
  return sendTransaction(connected.connection, [instruction], [wallet]);
}

/** Gives a key other limits; those not named stay. What it has spent stays counted. */
export async function updateKey(
  connected: Connected,
  { wallet, keyId, change }: OwnKey & { change: Partial<GrantLimits> },
) {
  const present = await readGrant(connected, { wallet, keyId });
  const { perExecutionMax, periodMax, totalMax, periodSeconds, expiresAt } = present;
  const limits = { perExecutionMax, periodMax, totalMax, periodSeconds, expiresAt, ...change };
  const instruction = updateGrant({ wallet: wallet.publicKey, keyId: Buffer.from(keyId, 'hex'), limits });
  const now = formatTime(await readClock(connected.connection));
  const signature = await sendTransaction(connected.connection, [instruction], [wallet], {
    GrantExpiryOutOfBounds: `It would end at ${formatTime(limits.expiresAt)}; the chain's clock shows ${now}.`,
  });
  return {
    key_id: keyId,
    per_execution_usdc: formatUsdc(limits.perExecutionMax),
    per_period_usdc: formatUsdc(limits.periodMax),
    period_seconds: limits.periodSeconds,
    total_usdc: formatUsdc(limits.totalMax),
    total_spent_usdc: formatUsdc(present.totalSpent),
    expires_at: formatTime(limits.expiresAt),
    signature,
  };
}

/** Removes a key's grant, and with it its right to spend; the rent goes to whoever paid it. */
export async function closeKey(connected: Connected, { wallet, keyId }: OwnKey) {
  const { rentSponsor } = await readGrant(connected, { wallet, keyId });
  const instruction = closeGrant({ wallet: wallet.publicKey, keyId: Buffer.from(keyId, 'hex'), rentSponsor });
  const signature = await sendTransaction(connected.connection, [instruction], [wallet]);
  return { key_id: keyId, closed: true, rent_sponsor: rentSponsor.toBase58(), signature };
}

type Connected = Pick<Chain, 'connection'>;

interface OwnKey {
  wallet: Keypair;
  /** 32 hex digits. */
  keyId: string;
}

function readGrant({ connection }: Connected, { wallet, keyId }: OwnKey): Promise<KeyGrant> {
  const missing = `The wallet ${wallet.publicKey} has no key ${keyId} on this chain.`;
  return readAccount(connection, 'KeyGrant', findGrant(wallet.publicKey, Buffer.from(keyId, 'hex')), missing);
}

/**
 * One SPL delegate and one amount exist per token account, and approving replaces both: so an allowance that other keys
 * live on is only ever raised, unless the owner names an amount.
 */
async function planAllowance(
  marketplace: Marketplace,
  { wallet, limits, allowance: wanted, replaceDelegate, report }: CreateKeyOptions,
): Promise<{ allowance: bigint; instructions: TransactionInstruction[] }> {
  const owner = wallet.publicKey;
  const account = await readUsdcAccount(marketplace, owner);
  const isOurs = account.delegate?.equals(findSpender(owner)) === true;
  if (account.delegate && !isOurs && account.delegatedAmount > 0n && !replaceDelegate) {
    throw new Refusal(
      `${account.address} has given ${account.delegate} an allowance of ${formatUsdc(account.delegatedAmount)} USDC. ` +
        'A token account has one delegate only; --replace-delegate takes its place.',
    );
  }
  const present = isOurs ? account.delegatedAmount : 0n;
  const allowance = wanted ?? (present > limits.totalMax ? present : limits.totalMax);
  const shared = `${formatUsdc(allowance)} USDC, shared by all keys of this wallet`;
  if (allowance === present) {
    report(`The wallet's allowance stays at ${shared}.`);
    return { allowance, instructions: [] };
  }
  report(`The wallet's allowance goes from ${formatUsdc(present)} to ${shared}.`);
  const approve = approveSpender({ wallet: owner, usdcMint: marketplace.config.usdcMint, amount: allowance });
  return { allowance, instructions: [approve] };
}
