/** Methods that read accounts, as of a commitment. */
import { type Commitment, PublicKey } from '@solana/web3.js';
import type { Account } from 'litesvm/dist/internal.js';
import { z } from 'zod';
import {
  type AccountConfig,
  accountConfig,
  accountFilters,
  accountToJson,
  compileFilters,
  decimalsIn,
  isTokenProgram,
  readTokenAccount,
  tokenAmount,
} from './accountJson.ts';
import type { Bank } from './bank.ts';
import { address, CODES, context, DEFAULT_COMMITMENT, invalidParams, type Method, parse, RpcError } from './wire.ts';

/** The most accounts in one call, as a validator has it. */
const MAX_ACCOUNTS = 100;

const config = accountConfig.nullish();
const programConfig = accountConfig.extend({ filters: accountFilters, withContext: z.boolean().nullish() }).nullish();
const owned = z.union([z.object({ mint: address }), z.object({ programId: address })]);

export interface Reading {
  commitment: Commitment;
  /** The newest slot that the answer can know of. */
  slot: number;
}

/** How a read is to be answered. Throws -32016 where the node is not that far yet. */
export function readingOf(bank: Bank, options: z.output<typeof context> | null | undefined): Reading {
  const commitment = (options?.commitment ?? DEFAULT_COMMITMENT) as Commitment;
  const slot = bank.slots.at(commitment);
  if (options?.minContextSlot !== undefined && options.minContextSlot > slot) {
    const data = { contextSlot: slot };
    throw new RpcError(CODES.minContextSlot, 'Minimum context slot has not been reached', data);
  }
  return { commitment, slot };
}

/** An answer with the slot that it is of. */
export function inContext({ slot }: { slot: number }, value: unknown) {
  return { context: { slot }, value };
}

/** An account as JSON. */
export function showAccount(bank: Bank, key: PublicKey, account: Account, options: AccountConfig, of: Commitment) {
  return accountToJson(account, bank.data(key, account, of), options, (mint) => {
    const found = bank.account(mint, of);
    return found && decimalsIn(found.data());
  });
}

export function accountMethods(bank: Bank): Record<string, Method> {
  function show(key: PublicKey, options: AccountConfig, { commitment }: Reading) {
    const account = bank.account(key, commitment);
    return account && showAccount(bank, key, account, options, commitment);
  }

  function tokenAccount(key: PublicKey, { commitment }: Reading) {
    const account = bank.account(key, commitment);
    if (!account) throw invalidParams('could not find account');
    const isToken = isTokenProgram(String(new PublicKey(account.owner())));
    const token = isToken ? readTokenAccount(account.data()) : null;
    const mint = token && bank.account(token.mint, commitment);
    const decimals = mint && decimalsIn(mint.data());
    if (!token || decimals === null) throw invalidParams('not a Token account');
    return tokenAmount(token.amount, decimals);
  }

  /** Accounts of a program that pass a test, with their addresses. */
  function* accountsOf(program: PublicKey, test: (data: Uint8Array) => boolean, options: AccountConfig, at: Reading) {
    for (const [text, account] of bank.programAccounts(program, at.commitment)) {
      if (!test(account.data())) continue;
      const pubkey = new PublicKey(text);
      yield { pubkey: text, account: showAccount(bank, pubkey, account, options, at.commitment) };
    }
  }

  return {
    getAccountInfo(params) {
      const [key, options] = parse(z.tuple([address]).rest(config), params);
      const reading = readingOf(bank, options);
      return inContext(reading, show(key, options ?? {}, reading));
    },
    getMultipleAccounts(params) {
      const [keys, options] = parse(z.tuple([z.array(address).max(MAX_ACCOUNTS)]).rest(config), params);
      const reading = readingOf(bank, options);
      const base64 = { encoding: 'base64' as const, ...options };
      return inContext(
        reading,
        keys.map((key) => show(key, base64, reading)),
      );
    },
    getProgramAccounts(params) {
      const [program, options] = parse(z.tuple([address]).rest(programConfig), params);
      const reading = readingOf(bank, options);
      const test = compileFilters(options?.filters);
      const found = [...accountsOf(program, test, options ?? {}, reading)];
      return options?.withContext ? inContext(reading, found) : found;
    },
    getBalance(params) {
      const [key, options] = parse(z.tuple([address]).rest(context.nullish()), params);
      const reading = readingOf(bank, options);
      return inContext(reading, Number(bank.account(key, reading.commitment)?.lamports() ?? 0n));
    },
    getTokenAccountBalance(params) {
      const [key, options] = parse(z.tuple([address]).rest(context.nullish()), params);
      const reading = readingOf(bank, options);
      return inContext(reading, tokenAccount(key, reading));
    },
    getTokenAccountsByOwner(params) {
      const [owner, which, options] = parse(z.tuple([address, owned]).rest(config), params);
      const reading = readingOf(bank, options);
      const programs = 'programId' in which ? [which.programId] : tokenProgramOf(which.mint, reading);
      const test = (data: Uint8Array) => {
        const token = readTokenAccount(data);
        return token?.owner.equals(owner) === true && (!('mint' in which) || token.mint.equals(which.mint));
      };
      return inContext(
        reading,
        programs.flatMap((program) => [...accountsOf(program, test, options ?? {}, reading)]),
      );
    },
    getMinimumBalanceForRentExemption(params) {
      const [bytes] = parse(z.tuple([z.number().int().nonnegative()]).rest(z.unknown()), params);
      return Number(bank.svm.minimumBalanceForRentExemption(BigInt(bytes)));
    },
  };

  function tokenProgramOf(mint: PublicKey, { commitment }: Reading): PublicKey[] {
    const account = bank.account(mint, commitment);
    if (!account) throw invalidParams('could not find mint');
    return [new PublicKey(account.owner())];
  }
}
