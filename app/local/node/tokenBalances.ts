/** Token balances of a transaction's accounts, before and after, for `getTransaction`. */
import { AccountLayout, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import type { Account } from 'litesvm/dist/internal.js';
import { type DecimalsOf, tokenAmount } from './accountJson.ts';

/** As bytes, because every account of every transaction is compared with them. */
const TOKEN_PROGRAMS = [TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID].map((program) => ({
  program,
  bytes: program.toBytes(),
}));

export interface TokenBalance {
  accountIndex: number;
  mint: string;
  /** The wallet that owns it. */
  owner: string;
  programId: string;
  uiTokenAmount: Omit<ReturnType<typeof tokenAmount>, 'uiAmount'> & { uiAmount: number | null };
}

/** For a transaction's accounts in order. A missing account is no token account. */
export function tokenBalances(accounts: (Account | null | undefined)[], decimalsOf: DecimalsOf): TokenBalance[] {
  return accounts.flatMap((account, accountIndex) => {
    const held = account?.owner();
    const known = held && TOKEN_PROGRAMS.find(({ bytes }) => Buffer.compare(bytes, held) === 0);
    const data = account && known ? account.data() : new Uint8Array();
    // A mint is shorter. Bytes after the fields belong to extensions.
    if (!known || data.length < AccountLayout.span) return [];
    const { mint, owner, amount } = AccountLayout.decode(data);
    const decimals = decimalsOf(mint);
    if (decimals === null) return [];
    const told = tokenAmount(amount, decimals);
    // Only here a validator returns null for a zero amount.
    const uiTokenAmount = { ...told, uiAmount: amount === 0n ? null : told.uiAmount };
    return {
      accountIndex,
      mint: mint.toBase58(),
      owner: owner.toBase58(),
      programId: known.program.toBase58(),
      uiTokenAmount,
    };
  });
}
