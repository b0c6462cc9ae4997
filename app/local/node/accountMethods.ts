/** Methods that read accounts at a commitment. */
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
  type Filter,
} from './accountJson.ts';
import type { Bank } from './bank.ts';
import {
  address,
  CODES,
  context,
  DEFAULT_COMMITMENT,
  invalidParams,
  type Method,
  parse,
  RpcError,
  upTo,
} from './wire.ts';

/** Version of the validator whose answers these imitate. */
export const API_VERSION = '4.3.2';
/** Accounts per call, as for a validator. */
const MAX_ACCOUNTS = 100;

const config = accountConfig.nullish();
const programConfig = accountConfig.extend({ filters: accountFilters, withContext: z.boolean().nullish() }).nullish();

export interface Reading {
  commitment: Commitment;
  /** The newest slot that the answer can include. */
  slot: number;
}

/** The slot and commitment of a read. Throws -32016 if the node has not reached the requested slot. */
export function readingOf(bank: Bank, options: z.output<typeof context> | null | undefined): Reading {
  const commitment = (options?.commitment ?? DEFAULT_COMMITMENT) as Commitment;
  const slot = bank.slots.at(commitment);
  if (options?.minContextSlot !== undefined && options.minContextSlot > slot) {
    const data = { contextSlot: slot };
    throw new RpcError(CODES.minContextSlot, 'Minimum context slot has not been reached', data);
  }
  return { commitment, slot };
}

/** A commitment at which history can be read. */
export function settled(commitment: string | undefined): Commitment {
  if (commitment !== 'processed') return (commitment ?? DEFAULT_COMMITMENT) as Commitment;
  throw invalidParams('Method does not support commitment below `confirmed`');
}

/** An answer with its slot. */
export function inContext({ slot }: { slot: number }, value: unknown) {
  return { context: { apiVersion: API_VERSION, slot }, value };
}

/** An account as JSON. */
export function showAccount(bank: Bank, key: PublicKey, account: Account, options: AccountConfig, of: Commitment) {
  return accountToJson(account, bank.data(key, account, of), options, (mint) => {
    const found = bank.account(mint, of);
    return found && decimalsIn(found.data());
  });
}

/** Accounts of a program that pass a test, with their addresses. */
export function* accountsOf(bank: Bank, program: PublicKey, test: Filter, options: AccountConfig, at: Reading) {
  for (const [text, account] of bank.programAccounts(program, at.commitment)) {
    if (!test(account.data())) continue;
    const pubkey = new PublicKey(text);
    yield { pubkey: text, account: showAccount(bank, pubkey, account, options, at.commitment) };
  }
}

export function accountMethods(bank: Bank): Record<string, Method> {
  function show(key: PublicKey, options: AccountConfig, { commitment }: Reading) {
    const account = bank.account(key, commitment);
    return account && showAccount(bank, key, account, options, commitment);
  }

  return {
    getAccountInfo(params) {
      const [key, options] = parse(z.tuple([address]).rest(config), params);
      const reading = readingOf(bank, options);
      return inContext(reading, show(key, options ?? {}, reading));
    },
    getMultipleAccounts(params) {
      const [keys, options] = parse(z.tuple([upTo(MAX_ACCOUNTS, address)]).rest(config), params);
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
      const found = [...accountsOf(bank, program, test, options ?? {}, reading)];
      return options?.withContext ? inContext(reading, found) : found;
    },
    getBalance(params) {
      const [key, options] = parse(z.tuple([address]).rest(context.nullish()), params);
      const reading = readingOf(bank, options);
      return inContext(reading, Number(bank.account(key, reading.commitment)?.lamports() ?? 0n));
    },
    getMinimumBalanceForRentExemption(params) {
      const [bytes] = parse(z.tuple([z.number().int().nonnegative()]).rest(z.unknown()), params);
      return Number(bank.svm.minimumBalanceForRentExemption(BigInt(bytes)));
    },
  };
}
