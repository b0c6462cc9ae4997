/** What a call costs besides its price, for a wallet and for an API key. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { createClient } from '../../../../sdk/client/client.ts';
import { WALLET_CALL_FEES } from '../../../../sdk/wallet/usualAmounts.ts';
import { formatShortSol } from '../../../parts/amount.ts';
import { pauseInTyping } from '../../../parts/reading.ts';
import { formatLamports, formatSpan } from '../../../parts/values.tsx';
import { BASE_URL, configQuery, queryClient } from '../../../service.ts';
import { depositsQuery } from '../../../wallet/deposits.ts';

/** The payer: the connected wallet, or the wallet of an API key. */
export type Payer = 'wallet' | 'key';

/** What a call takes in SOL from the wallet that opens it, lamports. */
export interface WalletCost {
  /** Network fees, without a priority fee that the wallet may add. */
  fees: bigint;
  /** Refundable deposit of the escrow, until the call ends. */
  escrowDeposit: bigint;
  /** Refundable deposit of the record, until the record is archived. */
  recordDeposit: bigint;
  /** Time from the end of the call until its record can be archived. */
  recordSeconds: number;
}

export const walletCostQuery = queryOptions({
  queryKey: ['wallet-cost'],
  queryFn: async (): Promise<WalletCost> => {
    const { record_seconds } = await queryClient.ensureQueryData(configQuery);
    const { token, record } = await queryClient.ensureQueryData(depositsQuery);
    return {
      fees: WALLET_CALL_FEES,
      escrowDeposit: token,
      recordDeposit: record,
      recordSeconds: record_seconds,
    };
  },
  staleTime: 5 * 60_000,
});

export const feesText = ({ fees }: WalletCost): string => `about ${formatLamports(fees)}`;

export const depositOf = ({ escrowDeposit, recordDeposit }: WalletCost): bigint => escrowDeposit + recordDeposit;

/** What the payment takes from the wallet, lamports. */
export const spendOf = (cost: WalletCost): bigint => cost.fees + depositOf(cost);

/** What a wallet pays besides the price. Until it is known: about as long, so that nothing moves. */
export const besidesText = (cost: WalletCost | undefined): string =>
  cost
    ? `${feesText(cost)} of fees. A deposit of about ${formatShortSol(depositOf(cost), { up: true })} comes back, the last part about ${formatSpan(cost.recordSeconds)} after the call`
    : 'network fees in SOL. A deposit in SOL comes back after the call';

/** What a call with a key costs besides its price. */
export const keyFees = (isSponsored: boolean): string =>
  isSponsored
    ? 'With an API key a call needs no SOL: the marketplace pays the network fees.'
    : 'With an API key, your gas balance pays the network fees, about 0.00001 SOL: it is SOL that you set aside when you create the key.';

export const isApiKey = (text: string): boolean => /^crtx_(live|test)_\S+$/.test(text.trim());

/** The key that was typed, once typing pauses: its name, and what it may spend now. */
export function useTypedKey(payer: Payer, text: string) {
  const apiKey = text.trim();
  return useQuery({
    queryKey: ['typed-key', apiKey],
    queryFn: async ({ signal }) => {
      await pauseInTyping(signal);
      return createClient({ baseUrl: BASE_URL, apiKey, maxRetries: 0 }).request('getKey', {});
    },
    enabled: payer === 'key' && isApiKey(apiKey),
    retry: false,
    // The cache forgets the key with the form.
    gcTime: 0,
  });
}
