/** A wallet at /trpc: anonymous, signed in, refused. */
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { MarketplaceError } from '../../../app/sdk/client/answer.ts';
import { createManagementClient } from '../../../app/sdk/client/management.ts';
import type { World } from '../../harness/edge/api.ts';

export async function refusal(call: Promise<unknown>): Promise<MarketplaceError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MarketplaceError)) throw new Error(`expected a refusal, not ${String(error)}`);
  return error;
}

/** Ways of a test to /trpc of this world. */
export function sessionsOf(world: () => World) {
  const anonymous = () => createManagementClient({ baseUrl: world().url });
  const sign = (wallet: Keypair, message: string): string =>
    bs58.encode(nacl.sign.detached(Buffer.from(message, 'utf8'), wallet.secretKey));

  async function signIn(wallet: Keypair) {
    const address = wallet.publicKey.toBase58();
    const { message } = await anonymous().call('auth.challenge', { wallet: address });
    const answer = { wallet: address, message, signature: sign(wallet, message) };
    const { token } = await anonymous().call('auth.verify', answer);
    return { ...createManagementClient({ baseUrl: world().url, session: token }), token };
  }

  return { anonymous, sign, signIn };
}
