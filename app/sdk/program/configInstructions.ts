/** Instructions of the marketplace's owner: settings, authorities, treasury, creators' badges. Part of program.ts. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { CollateralTier } from './accounts.ts';
import { findChange, findCreator } from './addresses.ts';
import { buildInstruction } from './instruction.ts';

export interface InitializeConfigInput {
  /** The program's upgrade authority. */
  authority: PublicKey;
  payer: PublicKey;
  usdcMint: PublicKey;
  admin: PublicKey;
  /** May pause opens, remove relay authorities and cancel changes. The default (zero) key for nobody. */
  guardian: PublicKey;
  /** 1 to 8 distinct keys. */
  relayAuthorities: PublicKey[];
  feeBps: number;
  minPrice: bigint;
  disputeBondLamports: bigint;
  disputeWindowSeconds: number;
  refundGraceSeconds: number;
  maxTimeoutSeconds: number;
  exposureMultiple: number;
  /** Delay of a change that widens power, seconds. 0 only for a local network. */
  adminDelaySeconds: number;
  tiers: CollateralTier[];
}

/** Creates the marketplace. Signs: authority, payer. */
export function initializeConfig(input: InitializeConfigInput): TransactionInstruction {
  const { authority, payer, usdcMint, ...args } = input;
  return buildInstruction('initialize_config', { authority, payer, usdc_mint: usdcMint }, args);
}

/** New values of settings. Absent settings stay unchanged. */
export interface SettingsChange {
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
  /** Can only be raised, to at most 30 days. */
  adminDelaySeconds?: number;
  /** Replaces all tiers. */
  tiers?: CollateralTier[];
}

export interface UpdateConfigInput extends SettingsChange {
  admin: PublicKey;
}

function settingsArgs(input: SettingsChange) {
  return {
    opensPaused: input.opensPaused ?? null,
    feeBps: input.feeBps ?? null,
    minPrice: input.minPrice ?? null,
    disputeBondLamports: input.disputeBondLamports ?? null,
    disputeWindowSeconds: input.disputeWindowSeconds ?? null,
    refundGraceSeconds: input.refundGraceSeconds ?? null,
    maxTimeoutSeconds: input.maxTimeoutSeconds ?? null,
    exposureMultiple: input.exposureMultiple ?? null,
    adminDelaySeconds: input.adminDelaySeconds ?? null,
    tiers: input.tiers ?? null,
  };
}

/**
 * Changes the given settings at once and keeps the others. Fails with `ChangeMustWait` if the change widens power and
 * `Config.adminDelaySeconds` is not 0. Signs: admin.
 */
export function updateConfig(input: UpdateConfigInput): TransactionInstruction {
  return buildInstruction('update_config', { admin: input.admin }, settingsArgs(input));
}

export interface ProposeChangeInput {
  admin: PublicKey;
  payer: PublicKey;
  /** Any u64 that no pending change has. */
  changeId: bigint;
  settings?: SettingsChange;
  addedRelayAuthorities?: PublicKey[];
  /** The default (zero) key for nobody. */
  guardian?: PublicKey;
  /** The key that may accept to become admin. The default (zero) key for nobody. */
  pendingAdmin?: PublicKey;
}

/** Announces a change that anyone can apply `Config.adminDelaySeconds` later. Signs: admin, payer. */
export function proposeChange(input: ProposeChangeInput): TransactionInstruction {
  const { admin, payer, changeId } = input;
  const details = {
    settings: settingsArgs(input.settings ?? {}),
    addedRelayAuthorities: input.addedRelayAuthorities ?? [],
    guardian: input.guardian ?? null,
    pendingAdmin: input.pendingAdmin ?? null,
  };
  return buildInstruction('propose_change', { admin, payer, change: findChange(changeId) }, { changeId, details });
}

export interface ApplyChangeInput {
  changeId: bigint;
  /** As stored in the pending change. */
  rentSponsor: PublicKey;
}

/** Applies a change that is due. Signs: nobody. */
export function applyChange({ changeId, rentSponsor }: ApplyChangeInput): TransactionInstruction {
  return buildInstruction('apply_change', { change: findChange(changeId), rent_sponsor: rentSponsor }, {});
}

/** Cancels a pending change. Signs: authority, which is the admin or the guardian. */
export function cancelChange(input: ApplyChangeInput & { authority: PublicKey }): TransactionInstruction {
  const { authority, changeId, rentSponsor } = input;
  return buildInstruction('cancel_change', { authority, change: findChange(changeId), rent_sponsor: rentSponsor }, {});
}

/** Stops every new open at once. Signs: authority, which is the admin or the guardian. */
export function pauseOpens({ authority }: { authority: PublicKey }): TransactionInstruction {
  return buildInstruction('pause_opens', { authority }, {});
}

export interface RemoveRelayAuthorityInput {
  authority: PublicKey;
  relayAuthority: PublicKey;
}

/** Removes one relay authority at once, even the last. Signs: authority, which is the admin or the guardian. */
export function removeRelayAuthority(input: RemoveRelayAuthorityInput): TransactionInstruction {
  const { authority, relayAuthority } = input;
  return buildInstruction('remove_relay_authority', { authority }, { relayAuthority });
}

export interface ProposeAdminInput {
  admin: PublicKey;
  /** The default (zero) key withdraws a proposal. */
  pendingAdmin: PublicKey;
}

/**
 * Proposes an admin, who must accept. If `Config.adminDelaySeconds` is not 0, it can only withdraw a proposal. Signs:
 * admin.
 */
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

/**
 * Replaces the keys that settle and that open for API keys, also for open executions. If `Config.adminDelaySeconds` is
 * not 0, no key may be new. Signs: admin.
 */
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

/** Grants or removes a creator's badge. Signs: admin, payer. */
export function setCreatorVerified(input: SetCreatorVerifiedInput): TransactionInstruction {
  const { admin, payer, creator, verified } = input;
  return buildInstruction(
    'set_creator_verified',
    { admin, payer, profile: findCreator(creator) },
    { creator, verified },
  );
}
