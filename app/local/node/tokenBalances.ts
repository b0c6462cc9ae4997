/** What the token accounts of a transaction hold, as `getTransaction` tells it of before and after. */
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
  /** The wallet that it belongs to. */
  owner: string;
  programId: string;
  uiTokenAmount: ReturnType<typeof tokenAmount>;
}

/** Of a transaction's accounts in their order; an account that is not there is no token account. */
export function tokenBalances(accounts: (Account | null | undefined)[], decimalsOf: DecimalsOf): TokenBalance[] {
  return accounts.flatMap((account, accountIndex) => {
    const held = account?.owner();
    const known = held && TOKEN_PROGRAMS.find(({ bytes }) => Buffer.compare(bytes, held) === 0);
    const data = account && known ? account.data() : new Uint8Array();
    // A mint is shorter, and what comes behind the fields is of extensions.
    if (!known || data.length < AccountLayout.span) return [];
    const { mint, owner, amount } = AccountLayout.decode(data);
    const decimals = decimalsOf(mint);
    if (decimals === null) return [];
    const uiTokenAmount = tokenAmount(amount, decimals);
    return {
      accountIndex,
      mint: mint.toBase58(),
      owner: owner.toBase58(),
      programId: known.program.toBase58(),
      uiTokenAmount,
    };
  });
}
