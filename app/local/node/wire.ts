/** The JSON-RPC format: a validator's error numbers, and parsers for parameters. */
import { type Commitment, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { z } from 'zod';

export const CODES = {
  preflightFailure: -32_002,
  signatureVerification: -32_003,
  blockCleanedUp: -32_001,
  blockNotAvailable: -32_004,
  slotSkipped: -32_007,
  unsupportedVersion: -32_015,
  minContextSlot: -32_016,
  unknownSignature: -32_020,
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
} as const;

/** An error answer. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** -32602. */
export function invalidParams(message: string): RpcError {
  return new RpcError(CODES.invalidParams, message);
}

/** A method and its answer; errors are thrown. */
export type Method = (params: unknown[]) => unknown;

/**
 * Parses the parameters of a call, or throws -32602 with the fault. A wrong number of parameters has its own message.
 */
export function parse<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
  if (schema instanceof z.ZodTuple && Array.isArray(params)) requireCount(schema, params.length);
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === 'custom') throw invalidParams(issue.message);
  throw invalidParams(`Invalid params: ${issue?.message}${issue?.path.length ? ` at ${issue.path.join('.')}` : ''}`);
}

/** The rest of a tuple is one optional parameter. */
function requireCount({ def }: z.ZodTuple, given: number): void {
  const { length } = def.items;
  if (given < length) throw invalidParams(`\`params\` should have at least ${length} argument(s)`);
  const isOpen = def.rest instanceof z.ZodUnknown;
  if (isOpen || !def.rest || given <= length + 1) return;
  const expected = `Invalid parameters: Expected from ${length} to ${length + 1} parameters.`;
  throw new RpcError(CODES.invalidParams, expected, `"Got: ${given}"`);
}

const COMMITMENTS = ['processed', 'confirmed', 'finalized', 'recent', 'single', 'singleGossip', 'root', 'max'] as const;

/** The commitment of a read that names none. */
export const DEFAULT_COMMITMENT: Commitment = 'finalized';

/** The parameters of a read at a commitment. */
export const context = z.object({
  // An unknown name counts as the default.
  commitment: z
    .string()
    .nullable()
    .transform((text) => COMMITMENTS.find((known) => known === text))
    .optional(),
  minContextSlot: z
    .number()
    .int()
    .nonnegative()
    .nullable()
    .transform((slot) => slot ?? undefined)
    .optional(),
});

export const slotNumber = z.number().int().nonnegative();

export const transactionEncoding = z.enum(['json', 'base64', 'base58', 'jsonParsed']);

/** The newest version of a transaction that the caller can read. */
export const maxVersion = z.number().int().min(0).max(255).nullish();

/** Throws -32602 if transactions of version 1, which are too long for base58, could have to be shown in it. */
export function requireEncoding(
  options:
    | { encoding?: string | null | undefined; maxSupportedTransactionVersion?: z.output<typeof maxVersion> }
    | null
    | undefined,
): void {
  if (options?.encoding === 'base58' && (options.maxSupportedTransactionVersion ?? 0) >= 1)
    throw invalidParams('base58 encoding is not supported with maxSupportedTransactionVersion >= 1');
}

/** A list of at most `limit` items. */
export function upTo<Item extends z.ZodType>(limit: number, item: Item) {
  const isShort = (items: unknown[]) => items.length <= limit;
  return z.array(z.unknown()).refine(isShort, `Too many inputs provided; max ${limit}`).pipe(z.array(item));
}

/** A public key in base58. */
export const address = base58(32, 'Invalid param: ').transform((bytes) => new PublicKey(bytes));

/** A signature in base58, as its text. */
export const signature = base58(64, 'Invalid param: ').transform((bytes) => bs58.encode(bytes));

/** A blockhash in base58, as its text. */
export const blockhash = base58(32, '').transform((bytes) => bs58.encode(bytes));

function base58(length: number, prefix: string) {
  return z.string().transform((text, refined) => {
    let bytes: Uint8Array | null = null;
    try {
      bytes = bs58.decode(text);
    } catch {}
    if (bytes?.length === length) return bytes;
    // A text of impossible length is not decoded.
    refined.addIssue(`${prefix}${bytes || text.length < length ? 'WrongSize' : 'Invalid'}`);
    return z.NEVER;
  });
}

/** Bytes in base58 or base64. */
export function decodeBytes(text: string, encoding: 'base58' | 'base64'): Buffer {
  if (encoding === 'base64') {
    const bytes = Buffer.from(text, 'base64');
    // Node skips characters outside the alphabet.
    if (bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')) return bytes;
    throw invalidParams('invalid base64 encoding: the text is not the standard base64 of any bytes');
  }
  try {
    return Buffer.from(bs58.decode(text));
  } catch {
    throw invalidParams('invalid base58 encoding: a character is not in the base58 alphabet');
  }
}
