/** Reads SPL token accounts, as far as a wallet needs them. */
import { type AccountInfo, PublicKey } from '@solana/web3.js';
import { TOKEN_ACCOUNT_SIZE } from '../program/accounts.ts';
import { TOKEN_PROGRAM_ID } from '../program/token.ts';

/** The token program's layout: mint, owner, u64 amount, u32 tag and key of the delegate, ..., u64 delegated amount. */
const AMOUNT_OFFSET = 64;
const HAS_DELEGATE_OFFSET = 72;
const DELEGATE_OFFSET = 76;
const DELEGATED_AMOUNT_OFFSET = 121;

export interface TokenAccount {
  address: PublicKey;
  /** Base units. */
  amount: bigint;
  delegate: PublicKey | null;
  /** Base units that the delegate may still take. */
  delegatedAmount: bigint;
}

/** Reads the account; null if the token program has none there, although anyone may have sent lamports to the address. */
export function decodeTokenAccount(
  address: PublicKey,
  account: AccountInfo<Uint8Array> | null | undefined,
): TokenAccount | null {
  if (!account?.owner.equals(TOKEN_PROGRAM_ID) || account.data.length !== TOKEN_ACCOUNT_SIZE) return null;
  const { data } = account;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const hasDelegate = view.getUint32(HAS_DELEGATE_OFFSET, true) === 1;
  return {
    address,
    amount: view.getBigUint64(AMOUNT_OFFSET, true),
    delegate: hasDelegate ? new PublicKey(data.subarray(DELEGATE_OFFSET, DELEGATE_OFFSET + 32)) : null,
    delegatedAmount: view.getBigUint64(DELEGATED_AMOUNT_OFFSET, true),
  };
}
