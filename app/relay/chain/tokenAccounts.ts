/** Token accounts as a node shows them. Anyone may have sent lamports to the address of one that does not exist. */
import { AccountLayout, AccountState, type RawAccount, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import type { AccountInfo, PublicKey } from '@solana/web3.js';
import { findTokenAccount } from '../../sdk/program/program.ts';
import type { RelayChain } from './relayChain.ts';

/** The token account at an address; null if there is none. */
export function readToken(account: AccountInfo<Buffer> | null | undefined): RawAccount | null {
  if (!account?.owner.equals(TOKEN_PROGRAM_ID) || account.data.length < AccountLayout.span) return null;
  return AccountLayout.decode(account.data);
}

/** This owner's token account if it can pay and receive: it exists, and it is not frozen. */
export function usableAccount(
  account: AccountInfo<Buffer> | null | undefined,
  owner: PublicKey,
  mint: PublicKey,
): RawAccount | null {
  const token = readToken(account);
  const isUsable = token?.owner.equals(owner) && token.mint.equals(mint) && token.state === AccountState.Initialized;
  return isUsable ? token : null;
}

/** True if a caller's account cannot receive a refund: it is missing or frozen. */
export async function cannotReceive(
  chain: Pick<RelayChain, 'read'>,
  caller: PublicKey,
  usdcMint: PublicKey,
): Promise<boolean> {
  const { accounts } = await chain.read([findTokenAccount(caller, usdcMint)]);
  return usableAccount(accounts[0], caller, usdcMint) === null;
}
