/** Accounts of the Token program as bytes, for tests that set them. */
import { AccountLayout, AccountState } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';

export interface TokenFields {
  mint: PublicKey;
  owner: PublicKey;
  amount?: bigint;
  delegate?: PublicKey;
  delegatedAmount?: bigint;
  frozen?: boolean;
}

/** The data of a token account; amounts are base units. */
export function encodeTokenAccount(fields: TokenFields): Buffer {
  const data = Buffer.alloc(AccountLayout.span);
  AccountLayout.encode(
    {
      mint: fields.mint,
      owner: fields.owner,
      amount: fields.amount ?? 0n,
      delegateOption: fields.delegate ? 1 : 0,
      delegate: fields.delegate ?? PublicKey.default,
      state: fields.frozen ? AccountState.Frozen : AccountState.Initialized,
      isNativeOption: 0,
      isNative: 0n,
      delegatedAmount: fields.delegatedAmount ?? 0n,
      closeAuthorityOption: 0,
      closeAuthority: PublicKey.default,
    },
    data,
  );
  return data;
}
