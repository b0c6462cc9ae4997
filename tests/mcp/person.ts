/** A person's part of OAuth over HTTP: what the page at /connect asks of the service and the chain, with a keypair. */
import type { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { createKey } from '../../app/sdk/wallet/apiKeys.ts';
import { readClock } from '../../app/sdk/wallet/connection.ts';
import { openMarketplace } from '../../app/sdk/wallet/marketplace.ts';
import { openSession } from '../../app/sdk/wallet/service.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import { untilFound } from '../harness/edge/until.ts';

/** Grants a key of at most 1 USDC per call and 5 in total, and returns to the host with its code. */
export async function approve(address: string, keypair: Keypair): Promise<string> {
  const { origin, search } = new URL(address);
  const wallet = keypairSigner(keypair);
  const marketplace = await openMarketplace({ baseUrl: origin });
  const session = await openSession(marketplace, wallet);
  const query = search.slice(1);
  const { name, is_loopback } = await session.call('oauth.request', { query });
  expect(is_loopback).to.equal(true);
  const limits = {
    perExecutionMax: 1_000_000n,
    periodMax: 5_000_000n,
    totalMax: 5_000_000n,
    periodSeconds: 86_400,
    expiresAt: (await readClock(marketplace.connection)) + 30n * 86_400n,
    maxGasLamports: 100_000,
  };
  const key = await createKey(marketplace, { wallet, name: name!, limits });
  const { approved_url } = await session.call('oauth.approve', { query, api_key: key.api_key });
  // The host may listen only after it has opened the page.
  const back = await untilFound('the host listens', () => fetch(approved_url).catch(() => null));
  expect(back.status).to.equal(200);
  return key.api_key;
}
