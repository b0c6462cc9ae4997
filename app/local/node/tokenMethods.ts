/** Methods about mints and token accounts at a commitment. */
import { MINT_SIZE, MintLayout } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { z } from 'zod';
import { accountConfig, isTokenProgram, readTokenAccount, tokenAmount } from './accountJson.ts';
import { accountsOf, inContext, type Reading, readingOf } from './accountMethods.ts';
import type { Bank } from './bank.ts';
import { address, context, invalidParams, type Method, parse } from './wire.ts';

/** Number of largest accounts that a validator returns. */
const LARGEST = 20;

const ownerParams = z
  .tuple([address, z.union([z.object({ mint: address }), z.object({ programId: address })])])
  .rest(accountConfig.nullish());
const addressParams = z.tuple([address]).rest(context.nullish());

export function tokenMethods(bank: Bank): Record<string, Method> {
  /** The owner program of an account, and its bytes if that is a token program, else none. Null without an account. */
  function held(key: PublicKey, { commitment }: Reading) {
    const account = bank.account(key, commitment);
    if (!account) return null;
    const program = new PublicKey(account.owner());
    return { program, data: isTokenProgram(program.toBase58()) ? account.data() : new Uint8Array() };
  }

  function mintOf(key: PublicKey, reading: Reading) {
    const found = held(key, reading);
    if (!found || found.data.length < MINT_SIZE) return null;
    return { program: found.program, ...MintLayout.decode(found.data.subarray(0, MINT_SIZE)) };
  }

  /** Token accounts by owner or by delegate. */
  function accountsBy(field: 'owner' | 'delegate', params: unknown[]) {
    const [person, which, options] = parse(ownerParams, params);
    const reading = readingOf(bank, options);
    const programs = 'programId' in which ? programsNamed(which.programId) : programsOf(which.mint, reading);
    const test = (data: Uint8Array) => {
      const token = readTokenAccount(data);
      return token?.[field]?.equals(person) === true && (!('mint' in which) || token.mint.equals(which.mint));
    };
    const found = programs.flatMap((program) => [...accountsOf(bank, program, test, options ?? {}, reading)]);
    return inContext(reading, found);
  }

  function programsOf(mint: PublicKey, reading: Reading): PublicKey[] {
    const found = held(mint, reading);
    if (!found) throw invalidParams('Invalid param: could not find mint');
    return [found.program];
  }

  return {
    getTokenAccountBalance(params) {
      const [key, options] = parse(addressParams, params);
      const reading = readingOf(bank, options);
      const found = held(key, reading);
      if (!found) throw invalidParams('Invalid param: could not find account');
      const token = readTokenAccount(found.data);
      const mint = token && mintOf(token.mint, reading);
      if (!mint) throw invalidParams('Invalid param: not a Token account');
      return inContext(reading, tokenAmount(token.amount, mint.decimals));
    },
    getTokenAccountsByOwner: (params) => accountsBy('owner', params),
    getTokenAccountsByDelegate: (params) => accountsBy('delegate', params),
    getTokenSupply(params) {
      const [key, options] = parse(addressParams, params);
      const reading = readingOf(bank, options);
      if (!held(key, reading)) throw invalidParams('Invalid param: could not find account');
      const mint = mintOf(key, reading);
      if (!mint) throw invalidParams('Invalid param: not a Token mint');
      return inContext(reading, tokenAmount(mint.supply, mint.decimals));
    },
    getTokenLargestAccounts(params) {
      const [key, options] = parse(addressParams, params);
      const reading = readingOf(bank, options);
      const mint = mintOf(key, reading);
      if (!mint) throw invalidParams('Invalid param: Token mint could not be unpacked');
      const amounts: { address: string; amount: bigint }[] = [];
      for (const [text, account] of bank.programAccounts(mint.program, reading.commitment)) {
        const token = readTokenAccount(account.data());
        if (token?.mint.equals(key)) amounts.push({ address: text, amount: token.amount });
      }
      const richest = amounts.sort((a, b) => (a.amount > b.amount ? -1 : 1)).slice(0, LARGEST);
      const shown = richest.map(({ address, amount }) => ({ address, ...tokenAmount(amount, mint.decimals) }));
      return inContext(reading, shown);
    },
  };
}

function programsNamed(program: PublicKey): PublicKey[] {
  if (isTokenProgram(program.toBase58())) return [program];
  throw invalidParams('Invalid param: unrecognized Token program id');
}
