/** What goes over JSON-RPC: errors as a validator numbers them, and parameters as they are parsed at the edge. */
import { type Commitment, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { z } from 'zod';

export const CODES = {
  preflightFailure: -32_002,
  signatureVerification: -32_003,
  blockCleanedUp: -32_001,
  blockNotAvailable: -32_004,
  unsupportedVersion: -32_015,
  minContextSlot: -32_016,
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
  return new RpcError(CODES.invalidParams, `Invalid params: ${message}`);
}

/** A method and what it answers; errors are thrown. */
export type Method = (params: unknown[]) => unknown;

/** Parses the parameters of a call, or throws -32602 with what is wrong. */
export function parse<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidParams(`${issue?.message}${issue?.path.length ? ` at ${issue.path.join('.')}` : ''}`);
}

const COMMITMENTS = ['processed', 'confirmed', 'finalized', 'recent', 'single', 'singleGossip', 'root', 'max'] as const;

/** What a node takes a read for that names no commitment. */
export const DEFAULT_COMMITMENT: Commitment = 'finalized';

/** The parameters of a read that may depend on how new its answer is. */
export const context = z.object({
  commitment: z.enum(COMMITMENTS).optional(),
  minContextSlot: z.number().int().nonnegative().optional(),
});

/** A public key in base58. */
export const address = z.string().transform((text, refined) => {
  try {
    return new PublicKey(text);
  } catch {
    refined.addIssue('Invalid public key');
    return z.NEVER;
  }
});

export const signature = z.string().refine((text) => {
  try {
    return bs58.decode(text).length === 64;
  } catch {
    return false;
  }
}, 'Invalid signature');

/** Bytes in base58 or base64. */
export function decodeBytes(text: string, encoding: 'base58' | 'base64'): Buffer {
  if (encoding === 'base64') {
    const bytes = Buffer.from(text, 'base64');
    // Node skips what is not of the alphabet.
    if (bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')) return bytes;
    throw invalidParams('invalid base64 encoding');
  }
  try {
    return Buffer.from(bs58.decode(text));
  } catch {
    throw invalidParams('invalid base58 encoding');
  }
}
