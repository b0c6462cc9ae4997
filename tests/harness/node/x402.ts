/** x402's own client, unchanged, with a wallet of a test: it pays what a 402 quotes. */
import { createKeyPairSignerFromBytes } from '@solana/kit';
import type { Keypair } from '@solana/web3.js';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';

/** `send` carries its requests. */
export async function createX402Fetch(wallet: Keypair, rpcUrl: string, send: typeof fetch = fetch): Promise<typeof fetch> {
  const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
  const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl }));
  // It knows mainnet's and devnet's USDC; this mint is our own.
  client.setSpendControls(false);
  return wrapFetchWithPayment(send, client) as typeof fetch;
}

/** The JSON in a header of x402. */
// biome-ignore lint/suspicious/noExplicitAny: asserted field by field
export function decodeHeader(response: { headers: Headers }, name: string): any {
  const header = response.headers.get(name);
  return header === null ? null : JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
}
