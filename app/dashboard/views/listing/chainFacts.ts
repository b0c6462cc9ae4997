/** The chain's facts before a creator signs: the wallet's balance, and the address of a listing. */
import { useQuery } from '@tanstack/react-query';
import { tokenAddress } from '../../../sdk/program/tokenAddress.ts';
import { listingAddress } from '../../../sdk/receipt/onChain.ts';
import { formatUsdc } from '../../../sdk/wire/usdc.ts';
import { configQuery, queryClient } from '../../service.ts';
import { readAccounts, tokenOf } from '../../wallet/accounts.ts';
import { useSession } from '../../wallet/session.ts';

export function useChainFacts() {
  const { wallet } = useSession();
  return useQuery({
    queryKey: ['creator-facts', wallet],
    enabled: typeof wallet === 'string',
    queryFn: async () => {
      const { usdc_mint } = await queryClient.ensureQueryData(configQuery);
      const token = tokenOf((await readAccounts([tokenAddress(wallet!, usdc_mint)]))[0]);
      /** Null: the wallet has no USDC account. */
      return { usdc: token && formatUsdc(token.amount) };
    },
  });
}

/** The address of a listing with this wallet and id; undefined while nobody is signed in. */
export function useListingAddress(listingId: string): string | undefined {
  const { wallet } = useSession();
  return wallet ? listingAddress(wallet, bytesOf(listingId)) : undefined;
}

export const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
