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
  /** May pause the marketplace, remove relay authorities and cancel changes. The default (zero) key for nobody. */
  guardian: PublicKey;
  /** 1 to 8 distinct keys. */
  relayAuthorities: PublicKey[];
  feeBps: number;
  minPrice: bigint;
  disputeBondLamports: bigint;
  disputeWindowSeconds: number;
  refundGraceSeconds: number;
  maxTimeoutSeconds: number;
  /** Time from a paid execution's end until its record can be archived: an hour to 72 hours. */
  recordSeconds: number;
  exposureMultiple: number;
  /** Delay of a change that widens power, seconds. 0 only for a local network. */
  adminDelaySeconds: number;
  tiers: CollateralTier[];
}

/** Creates the marketplace. Signs: authority, payer. */
export function initializeConfig(input: InitializeConfigInput): TransactionInstruction {
  return buildInstruction('initialize_config', input);
}

/** New values of settings. Absent settings stay unchanged. */
export interface SettingsChange {
  /** True ends the guardian's pause. */
  liftGuardianPause?: boolean;
  feeBps?: number;
  minPrice?: bigint;
  disputeBondLamports?: bigint;
  disputeWindowSeconds?: number;
  refundGraceSeconds?: number;
  maxTimeoutSeconds?: number;
  recordSeconds?: number;
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
    liftGuardianPause: input.liftGuardianPause ?? false,
    feeBps: input.feeBps ?? null,
    minPrice: input.minPrice ?? null,
    disputeBondLamports: input.disputeBondLamports ?? null,
    disputeWindowSeconds: input.disputeWindowSeconds ?? null,
    refundGraceSeconds: input.refundGraceSeconds ?? null,
    maxTimeoutSeconds: input.maxTimeoutSeconds ?? null,
    recordSeconds: input.recordSeconds ?? null,
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
  return buildInstruction('update_config', input, settingsArgs(input));
}

export interface ProposeChangeInput {
  admin: PublicKey;
  payer: PublicKey;
  /** Any u64 that no pending change has. */
  changeId: bigint;
  settings?: SettingsChange;
  addedRelayAuthorities?: PublicKey[];
  /** The new guardian, without any other field. The default (zero) key for nobody. */
  guardian?: PublicKey;
  /** The next admin, which must accept, without any other field. */
  nextAdmin?: PublicKey;
}

/**
 * Announces a change that is due `Config.adminDelaySeconds` later, a new guardian `guardianChangeSeconds` after that if
 * there is a delay. Signs: admin, payer.
 */
export function proposeChange(input: ProposeChangeInput): TransactionInstruction {
  const details = {
    settings: settingsArgs(input.settings ?? {}),
    addedRelayAuthorities: input.addedRelayAuthorities ?? [],
    guardian: input.guardian ?? null,
    admin: input.nextAdmin ?? null,
  };
  return buildInstruction('propose_change', { ...input, change: findChange(input.changeId), details });
}

export interface ApplyChangeInput {
  changeId: bigint;
  /** As stored in the pending change. */
  rentSponsor: PublicKey;
}

/** Applies a change of settings or guardian that is due. Signs: nobody. */
export function applyChange(input: ApplyChangeInput): TransactionInstruction {
  return buildInstruction('apply_change', { ...input, change: findChange(input.changeId) });
}

/**
 * Cancels a pending change. Signs: authority, which is the admin or the guardian for settings, the guardian for a next
 * admin, the admin for a guardian, and anyone for a change that can never be applied any more.
 */
export function cancelChange(input: ApplyChangeInput & { authority: PublicKey }): TransactionInstruction {
  return buildInstruction('cancel_change', { ...input, change: findChange(input.changeId) });
}

/** Cancels all pending changes of settings. Signs: authority, which is the admin or the guardian. */
export function cancelAllChanges(input: { authority: PublicKey }): TransactionInstruction {
  return buildInstruction('cancel_all_changes', input);
}

export interface SetPauseInput {
  /** The admin or the guardian. */
  authority: PublicKey;
  isPaused: boolean;
}

/**
 * Sets or lifts the authority's own pause at once. Opens are refused while the admin's or the guardian's is set. Signs:
 * authority.
 */
export function setPause(input: SetPauseInput): TransactionInstruction {
  return buildInstruction('set_pause', input);
}

export interface RemoveRelayAuthorityInput {
  authority: PublicKey;
  relayAuthority: PublicKey;
}

/** Removes one relay authority at once, even the last. Signs: authority, which is the admin or the guardian. */
export function removeRelayAuthority(input: RemoveRelayAuthorityInput): TransactionInstruction {
  return buildInstruction('remove_relay_authority', input);
}

/** Takes over as admin by a change that is due. Signs: next admin. */
export function acceptAdmin(input: ApplyChangeInput & { nextAdmin: PublicKey }): TransactionInstruction {
  return buildInstruction('accept_admin', { ...input, change: findChange(input.changeId) });
}

export interface WithdrawTreasuryInput {
  admin: PublicKey;
  /** Any USDC account except the treasury itself. */
  destination: PublicKey;
  /** Base units. */
  amount: bigint;
}

/** Withdraws collected fees. Signs: admin. */
export function withdrawTreasury(input: WithdrawTreasuryInput): TransactionInstruction {
  return buildInstruction('withdraw_treasury', input);
}

export interface SetCreatorVerifiedInput {
  admin: PublicKey;
  payer: PublicKey;
  creator: PublicKey;
  verified: boolean;
}

/** Grants or removes a creator's badge. Signs: admin, payer. */
export function setCreatorVerified(input: SetCreatorVerifiedInput): TransactionInstruction {
  return buildInstruction('set_creator_verified', { ...input, profile: findCreator(input.creator) });
}
