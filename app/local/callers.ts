/** Gives each demo caller a working API key, with the functions of `npm run cli -- keys`. */
import { constants, decodeOwn, findGrant } from '../sdk/program/program.ts';
import { hashApiKey, keyIdOf } from '../sdk/receipt/apiKey.ts';
import { createKey, registerKey } from '../sdk/wallet/apiKeys.ts';
import { addGas, readGas } from '../sdk/wallet/gas.ts';
import type { Marketplace } from '../sdk/wallet/marketplace.ts';
import { keypairSigner } from '../sdk/wallet/signer.ts';
import { type DemoCaller, renewApiKey } from './identities.ts';

/** Each caller's balance, and the limits of its key, base units. */
export const CALLER_USDC = 1_000_000_000n;
const DAY_SECONDS = 86_400;
/** Two days less than the chain allows, because its clock may differ from ours. */
const GRANT_SECONDS = constants.maxGrantSeconds - 2 * DAY_SECONDS;

/** Target gas balance of a caller that pays its own gas, lamports: enough for hundreds of calls. */
const GAS_BALANCE_LAMPORTS = 10_000_000n;

/**
 * Fills the second caller's gas balance, so that it pays its own network fees, as on a real cluster. The operator pays
 * for the first caller.
 */
export async function provideGas({ connection }: Marketplace, callers: readonly DemoCaller[]): Promise<void> {
  const caller = callers[1];
  if (!caller) return;
  const wallet = keypairSigner(caller.wallet);
  const lamports = GAS_BALANCE_LAMPORTS - (await readGas(connection, wallet.publicKey));
  if (lamports >= GAS_BALANCE_LAMPORTS / 2n) await addGas({ connection }, { wallet, lamports });
}

/** Returns the caller with a key that this chain and this marketplace accept. */
export async function provideKey(marketplace: Marketplace, caller: DemoCaller): Promise<DemoCaller> {
  const wallet = keypairSigner(caller.wallet);
  const name = 'local network';
  const account = await marketplace.connection.getAccountInfo(findGrant(wallet.publicKey, keyIdOf(caller.apiKey)));
  const grant = decodeOwn('KeyGrant', account);
  const now = BigInt(Math.floor(Date.now() / 1000));
  if (grant && !grant.revoked && grant.expiresAt > now) {
    await registerKey(marketplace, { wallet: wallet.publicKey.toBase58(), keyHash: hashApiKey(caller.apiKey), name });
    return caller;
  }
  // An ended grant never becomes valid again, so its key is useless.
  const usable = grant ? renewApiKey(caller) : caller;
  const limits = {
    perExecutionMax: CALLER_USDC,
    periodMax: CALLER_USDC,
    totalMax: CALLER_USDC,
    periodSeconds: DAY_SECONDS,
    expiresAt: now + BigInt(GRANT_SECONDS),
    maxGasLamports: constants.defaultMaxGasLamports,
  };
  await createKey(marketplace, { wallet, name, limits, apiKey: usable.apiKey });
  return usable;
}
