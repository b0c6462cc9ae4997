/** Token accounts, which hold USDC. */
import { type AccountInfo, PublicKey } from '@solana/web3.js';
import { decodeTokenData, type TokenData } from '../program/foreign.ts';
import { TOKEN_PROGRAM_ID } from '../program/token.ts';

export interface TokenAccount extends Omit<TokenData, 'delegate'> {
  address: PublicKey;
  delegate: PublicKey | null;
}

/** Reads the account; null if the token program has none there, although anyone may have sent lamports to the address. */
export function decodeTokenAccount(
  address: PublicKey,
  account: AccountInfo<Uint8Array> | null | undefined,
): TokenAccount | null {
  const token = account?.owner.equals(TOKEN_PROGRAM_ID) ? decodeTokenData(account.data) : null;
  return token && { ...token, address, delegate: token.delegate && new PublicKey(token.delegate) };
}
