/** Builds the dependencies of sales to x402 clients. */
import { constants, parseAddress, relayAuthoritiesOf } from '../../sdk/program/program.ts';
import { networkOf, secretOf } from '../calls/x402/quote.ts';
import { serviceFeeAt } from '../calls/x402/serviceFee.ts';
import { createUnpaidLimit } from '../calls/x402/unpaid.ts';
import { createBudgets } from '../chain/edgeBudget.ts';
import type { RelayConfig } from '../config.ts';
import { ApiError } from '../errors.ts';
import type { RelayDeps } from '../http/deps.ts';
import type { EngineParts } from './parts.ts';

/** The dependencies of sales to x402 clients; null without a fee payer, and on a slow cluster. */
export function assembleX402(
  { x402, runway, edgeRpcPerSecond }: RelayConfig,
  { chain, config, x402Runway }: EngineParts,
  genesisHash: string,
): RelayDeps['x402'] {
  if (!x402 || !chain.feePayer || !chain.finality.isFast) return null;
  // Apart from other strangers' requests: those without a payment cannot use it up.
  const take = createBudgets(edgeRpcPerSecond);
  return {
    feePayer: chain.feePayer,
    usdcMint: parseAddress(config.usdcMint.toBase58()),
    network: networkOf(genesisHash),
    serviceFee: () => serviceFeeAt(x402.serviceFee, chain.quote()) ?? constants.maxServiceFee,
    leastServiceFee: x402.serviceFee.least,
    secret: secretOf(x402.feePayer),
    ownKeys: [chain.feePayer, ...relayAuthoritiesOf(config)].map(String),
    lastHeightOf: chain.lastHeightOf,
    takeReading: () => take('x402'),
    unpaid: createUnpaidLimit(),
    requireFees() {
      if (serviceFeeAt(x402.serviceFee, chain.quote()) === null) throw feesTooHigh(runway.pollSeconds);
      if ((x402Runway?.status().lamports ?? 0) >= x402.minLamports) return;
      const message = 'The service has too little SOL for payments of x402 clients. The operator must fund it.';
      throw new ApiError('service_unavailable', message, { retryAfterSeconds: runway.pollSeconds });
    },
  };
}

function feesTooHigh(retryAfterSeconds: number): ApiError {
  const message = 'The network fees are too high for calls by x402 clients now. Use an API key, or retry later.';
  return new ApiError('service_unavailable', message, { retryAfterSeconds });
}
