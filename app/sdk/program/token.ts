/** The part of the SPL Token program that the marketplace uses: its address, and the instruction Approve. */

import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { Buffer } from 'buffer';
import { u64 } from './borsh.ts';
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAM } from './foreign.ts';
import { KeptAddress } from './pubkey.ts';

export const TOKEN_PROGRAM_ID: PublicKey = new KeptAddress(TOKEN_PROGRAM);
export const ASSOCIATED_TOKEN_PROGRAM_ID = new PublicKey(ASSOCIATED_TOKEN_PROGRAM);

/** The token program's number of Approve. */
const APPROVE = 4;

/** Lets `delegate` move up to `amount` base units of a token account; replaces any delegate. Signs: owner. */
export function approve(input: {
  source: PublicKey;
  delegate: PublicKey;
  owner: PublicKey;
  amount: bigint;
}): TransactionInstruction {
  const { source, delegate, owner, amount } = input;
  return new TransactionInstruction({
    programId: TOKEN_PROGRAM_ID,
    keys: [
      { pubkey: source, isSigner: false, isWritable: true },
      { pubkey: delegate, isSigner: false, isWritable: false },
      { pubkey: owner, isSigner: true, isWritable: false },
    ],
    data: Buffer.from([APPROVE, ...u64.write(amount)]),
  });
}
