/** Accounts as JSON: encoded bytes, or the parsed fields of a token account or mint. */
import { AccountLayout, AccountState, MintLayout, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Account } from 'litesvm/dist/internal.js';
import { z } from 'zod';
import { LOADER, parseLoaded } from './loaderJson.ts';
import { CODES, context, invalidParams, RpcError } from './wire.ts';

/** Base58 of longer data takes too long and is refused, as by a validator. */
const MAX_BASE58_BYTES = 128;
/** A validator's names for the owners of accounts parsed here. */
const PARSED_PROGRAMS: Record<string, string> = {
  [LOADER]: 'bpf-upgradeable-loader',
  [String(TOKEN_PROGRAM_ID)]: 'spl-token',
  [String(TOKEN_2022_PROGRAM_ID)]: 'spl-token-2022',
};

/** The format of accounts in an answer. Without an encoding, bytes are returned as one base58 text. */
export const accountConfig = context.extend({
  encoding: z.enum(['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed']).nullish(),
  dataSlice: z.object({ offset: z.number().int().nonnegative(), length: z.number().int().nonnegative() }).nullish(),
});

export type AccountConfig = z.output<typeof accountConfig>;

/** Decimals of a mint; null if it does not exist. */
export type DecimalsOf = (mint: PublicKey) => number | null;

export function isTokenProgram(owner: string): boolean {
  return owner !== LOADER && Object.hasOwn(PARSED_PROGRAMS, owner);
}

/** `data` are the account's bytes at the requested commitment. */
export function accountToJson(account: Account, data: Uint8Array, config: AccountConfig, decimalsOf: DecimalsOf) {
  const owner = bs58.encode(account.owner());
  return {
    lamports: Number(account.lamports()),
    owner,
    data: encodeData(owner, data, config, decimalsOf),
    executable: account.executable(),
    rentEpoch: Number(account.rentEpoch()),
    space: data.length,
  };
}

function encodeData(owner: string, data: Uint8Array, { encoding, dataSlice }: AccountConfig, decimalsOf: DecimalsOf) {
  if (encoding === 'jsonParsed') {
    const parsed = owner === LOADER ? parseLoaded(data) : isTokenProgram(owner) ? parseToken(data, decimalsOf) : null;
    if (parsed) return { program: PARSED_PROGRAMS[owner], parsed, space: data.length };
  }
  const slice = dataSlice ? data.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length) : data;
  const bytes = Buffer.from(slice.buffer, slice.byteOffset, slice.length);
  // Not compressed: clients read what the answer names.
  if (encoding?.startsWith('base64') || encoding === 'jsonParsed') return [bytes.toString('base64'), 'base64'];
  if (bytes.length > MAX_BASE58_BYTES) {
    const message = 'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.';
    throw new RpcError(CODES.invalidRequest, message);
  }
  return encoding === 'base58' ? [bs58.encode(bytes), 'base58'] : bs58.encode(bytes);
}

/** Base units, with the amount in whole tokens. */
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

const MAX_FILTERS = 4;
const MAX_FILTER_BYTES = 128;

/** Filters for accounts of a program. */
export const accountFilters = z
  .array(
    z.union([
      z.literal('tokenAccountState').transform(() => ({ tokenAccountState: true as const })),
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
  .refine((filters) => filters.length <= MAX_FILTERS, `Too many filters provided; max ${MAX_FILTERS}`)
  .nullish();

export type Filter = (data: Uint8Array) => boolean;

/** Combines all filters into one test. Throws -32602 if bytes do not fit their encoding. */
export function compileFilters(filters: z.output<typeof accountFilters>): Filter {
  const tests = (filters ?? []).map((filter): Filter => {
    if ('tokenAccountState' in filter) return (data) => readTokenAccount(data) !== null;
    if ('dataSize' in filter) return (data) => data.length === filter.dataSize;
    const { offset, bytes, encoding } = filter.memcmp;
    const wanted = encoding === 'base64' ? Buffer.from(bytes, 'base64') : decodeBase58(bytes);
    if (wanted.length > MAX_FILTER_BYTES) throw invalidParams('Invalid param: DataTooLarge');
    return (data) => wanted.equals(data.subarray(offset, offset + wanted.length));
  });
  return (data) => tests.every((test) => test(data));
}

function decodeBase58(text: string): Buffer {
  try {
    return Buffer.from(bs58.decode(text));
  } catch {
    throw invalidParams('Invalid param: Invalid');
  }
}

/** Decimals from a mint's bytes. */
export function decimalsIn(data: Uint8Array): number | null {
  return data.length >= MintLayout.span ? MintLayout.decode(data.subarray(0, MintLayout.span)).decimals : null;
}

/** Fields of a token account; null for other bytes. */
export function readTokenAccount(data: Uint8Array): { amount: bigint; mint: PublicKey; owner: PublicKey } | null {
  if (data.length < AccountLayout.span) return null;
  const { amount, mint, owner, state } = AccountLayout.decode(data);
  if (state === AccountState.Uninitialized) return null;
  return { amount, mint: new PublicKey(mint), owner: new PublicKey(owner) };
}
