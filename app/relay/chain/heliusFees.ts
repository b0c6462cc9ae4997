/** The price of priority as Helius estimates it. Its addresses and its client are shared with the indexer. */
import { connectHelius, type HeliusOptions } from '../../solana/helius.ts';
import type { PriceSource } from './fees.ts';

/** The price that Helius recommends for a transaction with these accounts. Throws where it does not say one. */
export function heliusPrice(options: HeliusOptions, accountKeys: string[]): PriceSource {
  const helius = connectHelius(options);
  return async () => {
    const estimate = await helius.getPriorityFeeEstimate({ accountKeys, options: { recommended: true } });
    const price = estimate.priorityFeeEstimate;
    if (typeof price !== 'number' || !(price >= 0)) throw new Error('Helius gave no estimate');
    return BigInt(Math.ceil(price));
  };
}
