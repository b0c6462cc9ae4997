/** The chain's facts before a creator signs: the wallet's balance, and the address of a listing. */
import { useQuery } from '@tanstack/react-query';
import { formatUsdc } from '../../../sdk/wire/usdc.ts';
import { loadChainModules, openChain } from '../../wallet/chain.ts';
import { useSession } from '../../wallet/session.ts';

export function useChainFacts() {
  const { wallet } = useSession();
  return useQuery({
    queryKey: ['creator-facts', wallet],
    enabled: typeof wallet === 'string',
    queryFn: async () => {
      const { marketplace, program, readTokens, PublicKey } = await openChain();
      const { connection, config } = marketplace;
      const address = program.findTokenAccount(new PublicKey(wallet!), config.usdcMint);
      const held = await readTokens(connection, address);
      return {
        /** Null: the wallet has no USDC account. */
        usdc: held === null ? null : formatUsdc(held),
        usdc_account: address.toBase58(),
      };
    },
  });
}

/** The address of a listing with this wallet and id. */
export function useListingAddress(listingId: string) {
  const { wallet } = useSession();
  return useQuery({
    queryKey: ['listing-address', wallet, listingId],
    enabled: typeof wallet === 'string',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const { program, PublicKey } = await loadChainModules();
      return program.findListing(new PublicKey(wallet!), bytesOf(listingId)).toBase58();
    },
  });
}

export const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
