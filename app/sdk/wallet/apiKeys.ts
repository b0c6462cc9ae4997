/**
 * API keys for their owner: create, change, rotate and end. The key is made here. The wallet signs its limits and the
 * allowance on-chain in one transaction. The marketplace learns only the key's hash.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import type { TransactionInstruction } from '@solana/web3.js';
import { createGrant, depositGas } from '../program/program.ts';
import { createApiKey, hashApiKey, keyIdOf, keyIdOfHash } from '../receipt/apiKey.ts';
import { accessProcedures } from '../wire/accessProcedures.ts';
import { DEFAULT_SCOPES, type KeyScope } from '../wire/keyScopes.ts';
import type { KeySummary, ProcedureInput } from '../wire/procedures.ts';
import { formatSol } from '../wire/sol.ts';
import { formatUsdc } from '../wire/usdc.ts';
import { formatTime, type Progress } from './format.ts';
import { readGas, requireGasBalance } from './gas.ts';
import { type AllowanceOptions, type OwnKey, planAllowance, readLimits, revokeOnChain } from './grants.ts';
import type { Marketplace } from './marketplace.ts';
import { Refusal, UnknownOutcome } from './refusal.ts';
import { sendTransaction } from './send.ts';
import { ask, clientOf, openSession, type Service } from './service.ts';
import type { Signer } from './signer.ts';

export interface CreateKeyOptions extends AllowanceOptions {
  /** Free text that helps the owner recognise the key. */
  name: string;
  /** An existing key that has no grant on this chain yet. */
  apiKey?: string;
  /** Lamports that the same transaction adds to the wallet's gas balance. */
  gas?: bigint;
  /** Limits at the marketplace, below those of the grant. */
  restrictions?: KeyRestrictions;
  onProgress?: Progress;
}

/** As the marketplace stores them. An absent field keeps its value, or is not set. */
export type KeyRestrictions = Omit<ProcedureInput<'keys.update'>, 'key_id'>;

interface NewKey {
  wallet: string;
  keyHash: string;
  name: string;
}

export interface KeyResult {
  api_key: string;
  key_id: string;
  wallet: string;
  name: string;
  /** Total that all keys of the wallet may spend now. */
  allowance_usdc: string;
  /** The wallet's gas balance afterwards; it pays the network fees of all its keys. */
  gas_sol: string;
  expires_at: string | null;
  scopes: readonly KeyScope[];
  /** Signature of the transaction. */
  signature: string;
}

/**
 * Creates a key. Calls `onGranted` as soon as the key can or might spend, before a later step can fail. Throws Refusal
 * before the wallet signs if the marketplace would refuse the name or the restrictions.
 */
export async function createKey(
  marketplace: Marketplace,
  options: CreateKeyOptions,
  onGranted: (apiKey: string) => void = () => {},
): Promise<KeyResult> {
  const { wallet, name, limits, onProgress = () => {} } = options;
  const apiKey = options.apiKey ?? createApiKey(marketplace.environment);
  const keyId = keyIdOf(apiKey);
  const owner = wallet.publicKey;
  const key = { wallet: owner.toBase58(), keyHash: hashApiKey(apiKey), name };
  requireValid(key, options.restrictions);
  const { allowance, instructions } = await planAllowance(marketplace, options, onProgress);
  const grant = createGrant({ wallet: owner, payer: owner, keyId, limits });
  const gas = await planGas(marketplace, options);
  let signature: string;
  try {
    signature = await sendTransaction(marketplace.connection, [grant, ...instructions, ...gas], wallet);
  } catch (error) {
    if (error instanceof UnknownOutcome) onGranted(apiKey);
    throw error;
  }
  onGranted(apiKey);
  if (options.restrictions) await registerRestricted(marketplace, wallet, key, options.restrictions);
  else await registerKey(marketplace, key);
  onProgress(`Key "${name}" is registered.`);
  return {
    api_key: apiKey,
    key_id: bytesToHex(keyId),
    wallet: owner.toBase58(),
    name,
    allowance_usdc: formatUsdc(allowance),
    gas_sol: formatSol(await readGas(marketplace.connection, owner)),
    expires_at: formatTime(limits.expiresAt),
    scopes: options.restrictions?.scopes ?? DEFAULT_SCOPES,
    signature,
  };
}

/** Throws Refusal if the marketplace would refuse to register the key. */
function requireValid(key: NewKey, restrictions: KeyRestrictions | undefined): void {
  const { error } = accessProcedures['keys.register'].input.safeParse(registrationOf(key, restrictions));
  const [issue] = error?.issues ?? [];
  if (issue) throw new Refusal(`No key was created: the field "${issue.path.join('.')}" ${issue.message}.`);
}

const registrationOf = ({ keyHash, ...key }: NewKey, restrictions: KeyRestrictions = {}) => ({
  ...key,
  key_hash: keyHash,
  ...restrictions,
});

async function planGas(
  { connection }: Marketplace,
  { wallet, gas: lamports }: CreateKeyOptions,
): Promise<TransactionInstruction[]> {
  if (lamports === undefined) return [];
  const owner = wallet.publicKey;
  await requireGasBalance(connection, (await readGas(connection, owner)) + lamports);
  return [depositGas({ from: owner, wallet: owner, lamports })];
}

/** Registers a key whose grant is on-chain. Repeating it changes nothing. */
export async function registerKey(service: Service, key: NewKey): Promise<string> {
  await ask(service, () => clientOf(service).call('keys.register', registrationOf(key)));
  return keyIdOfHash(key.keyHash);
}

/** Registers the key with restrictions from the start, which requires the wallet's session. */
async function registerRestricted(
  marketplace: Marketplace,
  wallet: Signer,
  key: NewKey,
  restrictions: KeyRestrictions,
): Promise<void> {
  const session = await openSession(marketplace, wallet);
  await ask(marketplace, () => session.call('keys.register', registrationOf(key, restrictions)));
}

/** Changes a key's restrictions at the marketplace. Its on-chain limits stay. */
export async function restrictKey(
  marketplace: Marketplace,
  { wallet, keyId, restrictions }: OwnKey & { restrictions: KeyRestrictions },
): Promise<KeySummary> {
  const session = await openSession(marketplace, wallet);
  return ask(marketplace, () => session.call('keys.update', { key_id: keyId, ...restrictions }));
}

/**
 * Replaces a key by a new one with the same on-chain limits and restrictions. The old one stops working after
 * `graceSeconds`. It changes last, so that an earlier failure leaves it unchanged. Its grant stays on-chain until it
 * expires or is revoked.
 */
export async function rotateKey(
  marketplace: Marketplace,
  options: OwnKey & { graceSeconds: number; onProgress?: Progress },
  onGranted: (apiKey: string) => void = () => {},
): Promise<KeyResult & { replaces: string; replaced_until: string }> {
  const { wallet, keyId, graceSeconds, onProgress = () => {} } = options;
  const limits = await readLimits(marketplace, options);
  const old = (await listKeys(marketplace, wallet)).find((key) => key.key_id === keyId && !key.revoked);
  if (!old) throw new Refusal(`The wallet ${wallet.publicKey} has no valid key ${keyId} at ${marketplace.baseUrl}.`);
  const { scopes, allowed_ips, allowed_agents } = old;
  const restrictions = { scopes, allowed_ips, allowed_agents };
  const made = await createKey(marketplace, { wallet, name: old.name, limits, restrictions, onProgress }, onGranted);
  const end = new Date(Math.min(Date.now() + graceSeconds * 1_000, Date.parse(old.expires_at ?? made.expires_at!)));
  const replaced = await restrictKey(marketplace, {
    wallet,
    keyId,
    restrictions: { expires_at: end.toISOString() },
  });
  onProgress(`The old key ${keyId} works until ${replaced.expires_at}.`);
  return { ...made, replaces: keyId, replaced_until: end.toISOString() };
}

/** The wallet's keys with their usage, from the marketplace. */
export async function listKeys(marketplace: Marketplace, wallet: Signer) {
  const session = await openSession(marketplace, wallet);
  return (await ask(marketplace, () => session.call('keys.list'))).keys;
}

/**
 * Revokes a key: at the marketplace from the next request on, and permanently on-chain. The wallet signs the on-chain
 * part if the marketplace could not revoke. Returns the transaction's signature; null if the grant was already revoked.
 */
export async function revokeKey(
  marketplace: Marketplace,
  options: OwnKey & { onProgress?: Progress },
): Promise<string | null> {
  const { wallet, keyId, onProgress } = options;
  const session = await openSession(marketplace, wallet);
  const { on_chain } = await ask(marketplace, () => session.call('keys.revoke', { key_id: keyId }));
  onProgress?.('The marketplace no longer accepts the key.');
  return on_chain.signature ?? revokeOnChain(marketplace, options);
}
