/** Instructions of the marketplace's owner: settings, authorities, treasury, creators' badges. Part of program.ts. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { CollateralTier } from './accounts.ts';
import { findCreator } from './addresses.ts';
import { buildInstruction } from './instruction.ts';

export interface InitializeConfigInput {
  /** The program's upgrade authority. */
  authority: PublicKey;
  payer: PublicKey;
  usdcMint: PublicKey;
  admin: PublicKey;
  /** 1 to 8 distinct keys. */
  relayAuthorities: PublicKey[];
  feeBps: number;
  minPrice: bigint;
  disputeBondLamports: bigint;
  disputeWindowSeconds: number;
  refundGraceSeconds: number;
  maxTimeoutSeconds: number;
  exposureMultiple: number;
  tiers: CollateralTier[];
}

/** Creates the marketplace. Signs: authority, payer. */
export function initializeConfig(input: InitializeConfigInput): TransactionInstruction {
  const { authority, payer, usdcMint, ...args } = input;
  return buildInstruction('initialize_config', { authority, payer, usdc_mint: usdcMint }, args);
}

export interface UpdateConfigInput {
  admin: PublicKey;
  /** Stops every new open; settling and refunding continue. */
  opensPaused?: boolean;
  feeBps?: number;
  minPrice?: bigint;
  disputeBondLamports?: bigint;
  disputeWindowSeconds?: number;
  refundGraceSeconds?: number;
  maxTimeoutSeconds?: number;
  /** 0 for no limit. */
  exposureMultiple?: number;
  /** Replaces all tiers. */
  tiers?: CollateralTier[];
}

/** Changes the given settings and keeps the others. Signs: admin. */
export function updateConfig(input: UpdateConfigInput): TransactionInstruction {
  const args = {
    opensPaused: input.opensPaused ?? null,
    feeBps: input.feeBps ?? null,
    minPrice: input.minPrice ?? null,
    disputeBondLamports: input.disputeBondLamports ?? null,
    disputeWindowSeconds: input.disputeWindowSeconds ?? null,
    refundGraceSeconds: input.refundGraceSeconds ?? null,
    maxTimeoutSeconds: input.maxTimeoutSeconds ?? null,
    exposureMultiple: input.exposureMultiple ?? null,
    tiers: input.tiers ?? null,
  };
  return buildInstruction('update_config', { admin: input.admin }, args);
}

export interface ProposeAdminInput {
  admin: PublicKey;
  /** The default (zero) key withdraws a proposal. */
  pendingAdmin: PublicKey;
}

/** Proposes an admin, who must accept. Signs: admin. */
export function proposeAdmin({ admin, pendingAdmin }: ProposeAdminInput): TransactionInstruction {
  return buildInstruction('propose_admin', { admin }, { pendingAdmin });
}

/** Takes over as admin. Signs: pending admin. */
export function acceptAdmin({ pendingAdmin }: { pendingAdmin: PublicKey }): TransactionInstruction {
  return buildInstruction('accept_admin', { pending_admin: pendingAdmin }, {});
}

export interface SetRelayAuthoritiesInput {
  admin: PublicKey;
  /** 1 to 8 distinct keys; they replace the present ones. */
  relayAuthorities: PublicKey[];
}

/** Replaces the keys that settle and that open for API keys, also for executions that are open now. Signs: admin. */
export function setRelayAuthorities({ admin, relayAuthorities }: SetRelayAuthoritiesInput): TransactionInstruction {
  return buildInstruction('set_relay_authorities', { admin }, { relayAuthorities });
}

export interface WithdrawTreasuryInput {
  admin: PublicKey;
  /** Any USDC account except the treasury itself. */
  destination: PublicKey;
  /** Base units. */
  amount: bigint;
}

/** Withdraws collected fees. Signs: admin. */
export function withdrawTreasury({ admin, destination, amount }: WithdrawTreasuryInput): TransactionInstruction {
  return buildInstruction('withdraw_treasury', { admin, destination }, { amount });
}

export interface SetCreatorVerifiedInput {
  admin: PublicKey;
  payer: PublicKey;
  creator: PublicKey;
  verified: boolean;
}

/** Gives or takes a creator's badge. Signs: admin, payer. */
export function setCreatorVerified(input: SetCreatorVerifiedInput): TransactionInstruction {
  const { admin, payer, creator, verified } = input;
  return buildInstruction(
    'set_creator_verified',
    { admin, payer, profile: findCreator(creator) },
    { creator, verified },
  );
}
