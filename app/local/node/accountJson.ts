/** Accounts as JSON: bytes in an encoding, or what a token account or mint says in words. */
import { AccountLayout, AccountState, MintLayout, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Account } from 'litesvm/dist/internal.js';
import { z } from 'zod';
import { context, invalidParams } from './wire.ts';

/** Above, base58 takes too long and is refused, as by a validator. */
const MAX_BASE58_BYTES = 128;
const TOKEN_PROGRAMS = new Set([TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID].map(String));

/** How a caller wants accounts. Without an encoding bytes come in base58, alone. */
export const accountConfig = context.extend({
  encoding: z.enum(['base58', 'base64', 'jsonParsed']).optional(),
  dataSlice: z.object({ offset: z.number().int().nonnegative(), length: z.number().int().nonnegative() }).nullish(),
});

export type AccountConfig = z.output<typeof accountConfig>;

/** Decimals of a mint; null where there is no such mint. */
export type DecimalsOf = (mint: PublicKey) => number | null;

export function isTokenProgram(owner: string): boolean {
  return TOKEN_PROGRAMS.has(owner);
}

/** `data` are the account's bytes as of the commitment asked for. */
export function accountToJson(account: Account, data: Uint8Array, config: AccountConfig, decimalsOf: DecimalsOf) {
  const owner = bs58.encode(account.owner());
  return {
    lamports: Number(account.lamports()),
    owner,
    data: encodeData(owner, data, config, decimalsOf),
    executable: account.executable(),
    rentEpoch: 0,
    space: data.length,
  };
}

function encodeData(owner: string, data: Uint8Array, { encoding, dataSlice }: AccountConfig, decimalsOf: DecimalsOf) {
  if (encoding === 'jsonParsed' && isTokenProgram(owner)) {
    const parsed = parseToken(data, decimalsOf);
    const program = owner === String(TOKEN_PROGRAM_ID) ? 'spl-token' : 'spl-token-2022';
    if (parsed) return { program, parsed, space: data.length };
  }
  const slice = dataSlice ? data.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length) : data;
  const bytes = Buffer.from(slice.buffer, slice.byteOffset, slice.length);
  if (encoding === 'base64' || encoding === 'jsonParsed') return [bytes.toString('base64'), 'base64'];
  if (bytes.length > MAX_BASE58_BYTES) {
    throw invalidParams('Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.');
  }
  return encoding === 'base58' ? [bs58.encode(bytes), 'base58'] : bs58.encode(bytes);
}

/** Base units with what they are in whole ones. */
export function tokenAmount(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const part = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const uiAmountString = part ? `${whole}.${part}` : whole;
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

function parseToken(data: Uint8Array, decimalsOf: DecimalsOf) {
  if (data.length === MintLayout.span) {
    const mint = MintLayout.decode(data);
    return {
      type: 'mint',
      info: {
        mintAuthority: mint.mintAuthorityOption ? mint.mintAuthority.toBase58() : null,
        supply: mint.supply.toString(),
        decimals: mint.decimals,
        isInitialized: mint.isInitialized,
        freezeAuthority: mint.freezeAuthorityOption ? mint.freezeAuthority.toBase58() : null,
      },
    };
  }
  if (data.length < AccountLayout.span) return null;
  const account = AccountLayout.decode(data);
  const decimals = decimalsOf(account.mint);
  if (decimals === null) return null;
  return {
    type: 'account',
    info: {
      isNative: account.isNativeOption === 1,
      mint: account.mint.toBase58(),
      owner: account.owner.toBase58(),
      state: account.state === AccountState.Frozen ? 'frozen' : 'initialized',
      tokenAmount: tokenAmount(account.amount, decimals),
      ...(account.delegateOption && {
        delegate: account.delegate.toBase58(),
        delegatedAmount: tokenAmount(account.delegatedAmount, decimals),
      }),
    },
  };
}

/** Which accounts of a program are wanted. */
export const accountFilters = z
  .array(
    z.union([
      z.object({ dataSize: z.number().int().nonnegative() }),
      z.object({
        memcmp: z.object({
          offset: z.number().int().nonnegative(),
          bytes: z.string(),
          encoding: z.enum(['base58', 'base64']).default('base58'),
        }),
      }),
    ]),
  )
  .max(4)
  .nullish();

export type Filter = (data: Uint8Array) => boolean;

/** One test for all filters. Throws -32602 where bytes are not of their encoding. */
export function compileFilters(filters: z.output<typeof accountFilters>): Filter {
  const tests = (filters ?? []).map((filter): Filter => {
    if ('dataSize' in filter) return (data) => data.length === filter.dataSize;
    const { offset, bytes, encoding } = filter.memcmp;
    const wanted = encoding === 'base64' ? Buffer.from(bytes, 'base64') : decodeBase58(bytes);
    return (data) => wanted.equals(data.subarray(offset, offset + wanted.length));
  });
  return (data) => tests.every((test) => test(data));
}

function decodeBase58(text: string): Buffer {
  try {
    return Buffer.from(bs58.decode(text));
  } catch {
    throw invalidParams('invalid base58 in memcmp');
  }
}

/** Of a mint's bytes. */
export function decimalsIn(data: Uint8Array): number | null {
  return data.length >= MintLayout.span ? MintLayout.decode(data.subarray(0, MintLayout.span)).decimals : null;
}

/** The amount and the mint of a token account; null for bytes that are none. */
export function readTokenAccount(data: Uint8Array): { amount: bigint; mint: PublicKey; owner: PublicKey } | null {
  if (data.length < AccountLayout.span) return null;
  const { amount, mint, owner } = AccountLayout.decode(data);
  return { amount, mint: new PublicKey(mint), owner: new PublicKey(owner) };
}
