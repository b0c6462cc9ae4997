/** The x402 route of a server without a chain: it quotes, and nobody pays. */
import { Keypair } from '@solana/web3.js';
import { networkOf } from '../../../app/relay/calls/x402/quote.ts';
import type { RelayDeps } from '../../../app/relay/http/deps.ts';

export function createX402(): NonNullable<RelayDeps['x402']> {
  const [feePayer, usdcMint] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
  return {
    ...{ feePayer, usdcMint, network: networkOf(feePayer.toBase58()), serviceFee: () => 5_000n },
    ...{ secret: Buffer.alloc(32, 1), ownKeys: [], leastServiceFee: 5_000n },
    lastHeightOf: async () => 1_000n,
    takeReading: async () => undefined,
    requireFees: () => undefined,
    unpaid: { limit: async (_network, _hasPaid, pay) => pay(() => undefined) },
  };
}
