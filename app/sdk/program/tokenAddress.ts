/** The address of a wallet's token account, without web3.js. */
import bs58 from 'bs58';
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAM } from './foreign.ts';
import { deriveAddress } from './programAddress.ts';

/** The associated token account of a wallet for a mint, all base58. */
export function tokenAddress(wallet: string, mint: string): string {
  const seeds = [wallet, TOKEN_PROGRAM, mint].map((address) => bs58.decode(address));
  return bs58.encode(deriveAddress(seeds, bs58.decode(ASSOCIATED_TOKEN_PROGRAM))[0]);
}
