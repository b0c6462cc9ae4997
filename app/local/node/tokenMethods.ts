/** Methods about token accounts at a commitment. */
import { PublicKey } from '@solana/web3.js';
import { z } from 'zod';
import { accountConfig, decimalsIn, isTokenProgram, readTokenAccount, tokenAmount } from './accountJson.ts';
import { accountsOf, inContext, type Reading, readingOf } from './accountMethods.ts';
import type { Bank } from './bank.ts';
import { address, context, invalidParams, type Method, parse } from './wire.ts';

const ownerParams = z
  .tuple([address, z.union([z.object({ mint: address }), z.object({ programId: address })])])
  .rest(accountConfig.nullish());

export function tokenMethods(bank: Bank): Record<string, Method> {
  function programsOf(mint: PublicKey, { commitment }: Reading): PublicKey[] {
    const account = bank.account(mint, commitment);
    if (!account) throw invalidParams('Invalid param: could not find mint');
    return [new PublicKey(account.owner())];
  }

  return {
    getTokenAccountBalance(params) {
      const [key, options] = parse(z.tuple([address]).rest(context.nullish()), params);
      const reading = readingOf(bank, options);
      const account = bank.account(key, reading.commitment);
      if (!account) throw invalidParams('Invalid param: could not find account');
      const token = isTokenProgram(String(new PublicKey(account.owner()))) ? readTokenAccount(account.data()) : null;
      const mint = token && bank.account(token.mint, reading.commitment);
      const decimals = mint && decimalsIn(mint.data());
      if (token === null || decimals === null) throw invalidParams('Invalid param: not a Token account');
      return inContext(reading, tokenAmount(token.amount, decimals));
    },
    getTokenAccountsByOwner(params) {
      const [owner, which, options] = parse(ownerParams, params);
      const reading = readingOf(bank, options);
      const programs = 'programId' in which ? programsNamed(which.programId) : programsOf(which.mint, reading);
      const test = (data: Uint8Array) => {
        const token = readTokenAccount(data);
        return token?.owner.equals(owner) === true && (!('mint' in which) || token.mint.equals(which.mint));
      };
      const found = programs.flatMap((program) => [...accountsOf(bank, program, test, options ?? {}, reading)]);
      return inContext(reading, found);
    },
  };
}

function programsNamed(program: PublicKey): PublicKey[] {
  if (isTokenProgram(program.toBase58())) return [program];
  throw invalidParams('Invalid param: unrecognized Token program id');
}
