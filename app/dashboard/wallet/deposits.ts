/** The refundable deposits of new accounts, which the network sets by their size. */
import { queryOptions } from '@tanstack/react-query';
import { ACCOUNT_OVERHEAD, TOKEN_ACCOUNT_SIZE } from '../../sdk/program/foreign.ts';
import { askNode } from './node.ts';
import { DISPUTE_BYTES, GRANT_BYTES, LISTING_BYTES, RECORD_BYTES } from './programTerms.ts';

/** Lamports. */
export const depositsQuery = queryOptions({
  queryKey: ['account-deposits'],
  queryFn: async () => {
    const { result } = await askNode('getMinimumBalanceForRentExemption', [0]);
    if (typeof result !== 'number') throw new Error('The node did not return the deposits.');
    const of = (bytes: number) => (BigInt(result) * BigInt(ACCOUNT_OVERHEAD + bytes)) / BigInt(ACCOUNT_OVERHEAD);
    return {
      /** Of an account without data, such as a gas balance. */
      empty: of(0),
      /** Of a token account: an escrow, or the collateral of an agent. */
      token: of(TOKEN_ACCOUNT_SIZE),
      record: of(RECORD_BYTES),
      grant: of(GRANT_BYTES),
      dispute: of(DISPUTE_BYTES),
      /** What stays in the accounts of a listing. */
      kept: LISTING_BYTES.reduce((sum, bytes) => sum + of(bytes), 0n),
    };
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});
