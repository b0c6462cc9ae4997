/** Instructions of an API key's grant, its right to spend. Part of program.ts. */
import { type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { findGrant, findSpender, findTokenAccount } from './addresses.ts';
import { buildInstruction } from './instruction.ts';
import { approve } from './token.ts';

export interface GrantLimits {
  perExecutionMax: bigint;
  periodMax: bigint;
  totalMax: bigint;
  periodSeconds: number;
  /** Unix seconds. */
  expiresAt: bigint;
  /**
   * Maximum fee and gas of one execution from the wallet's gas balance, lamports. `constants.defaultMaxGasLamports` is
   * usual.
   */
  maxGasLamports: number;
}

export interface CreateGrantInput {
  wallet: PublicKey;
  payer: PublicKey;
  keyId: Uint8Array;
  limits: GrantLimits;
}

/** Gives an API key a capped right to spend; it also needs `approveSpender`. Signs: wallet, payer. */
export function createGrant(input: CreateGrantInput): TransactionInstruction {
  return buildInstruction('create_grant', withGrant(input));
}

export interface RevokeGrantInput {
  /** The wallet or a relay authority. */
  authority: PublicKey;
  wallet: PublicKey;
  keyId: Uint8Array;
}

/** Permanently ends a key's right to spend. Signs: authority. */
export function revokeGrant(input: RevokeGrantInput): TransactionInstruction {
  return buildInstruction('revoke_grant', withGrant(input));
}

export interface UpdateGrantInput {
  wallet: PublicKey;
  keyId: Uint8Array;
  /** Replaces all limits. The spent amount stays and counts against them. */
  limits: GrantLimits;
}

/** Changes a key's limits. Signs: wallet. */
export function updateGrant(input: UpdateGrantInput): TransactionInstruction {
  return buildInstruction('update_grant', withGrant(input));
}

export interface CloseGrantInput {
  wallet: PublicKey;
  keyId: Uint8Array;
  /** As stored in the grant. */
  rentSponsor: PublicKey;
}

/** Ends a key's right to spend and returns the account's rent. Signs: wallet. */
export function closeGrant(input: CloseGrantInput): TransactionInstruction {
  return buildInstruction('close_grant', withGrant(input));
}

const withGrant = <Input extends { wallet: PublicKey; keyId: Uint8Array }>(input: Input) => ({
  ...input,
  grant: findGrant(input.wallet, input.keyId),
});

/** Lets the wallet's spender address move up to `amount` base units; replaces any delegate. Signs: wallet. */
export function approveSpender(input: {
  wallet: PublicKey;
  usdcMint: PublicKey;
  amount: bigint;
}): TransactionInstruction {
  const { wallet, usdcMint, amount } = input;
  return approve({ source: findTokenAccount(wallet, usdcMint), delegate: findSpender(wallet), owner: wallet, amount });
}

/** Adds lamports to a wallet's gas balance, which is its spender address. Anyone may do it. Signs: from. */
export function depositGas(input: { from: PublicKey; wallet: PublicKey; lamports: bigint }): TransactionInstruction {
  const { from, wallet, lamports } = input;
  return SystemProgram.transfer({ fromPubkey: from, toPubkey: findSpender(wallet), lamports });
}

/** The amount with which `withdrawGas` takes everything, also lamports that arrive before it lands. */
export const ALL_GAS = 2n ** 64n - 1n;

/**
 * Withdraws lamports from the signing wallet's gas balance; `ALL_GAS` takes everything. The rest must be zero, or
 * rent-exempt for an account without data. Signs: wallet.
 */
export function withdrawGas(input: { wallet: PublicKey; lamports: bigint }): TransactionInstruction {
  return buildInstruction('withdraw_gas', { ...input, spender: findSpender(input.wallet) });
}
