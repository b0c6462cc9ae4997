/** Instructions of a dispute over a settled execution. Part of program.ts. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { ExecutionRecord } from './accounts.ts';
import { findArchive, findCollateral, findDispute, findExecution, findTokenAccount } from './addresses.ts';
import { archivedRestHash } from './archive.ts';
import type { ProvenPlace } from './archiveInstructions.ts';
import { constants } from './constants.ts';
import { buildInstruction } from './instruction.ts';
import { collateralOf } from './listingInstructions.ts';

export interface DisputeClaim {
  /** Pays rent and bond, and gets the bond back unless the dispute is rejected. */
  payer: PublicKey;
  /** SHA-256 of the evidence, 32 bytes. */
  evidenceHash: Uint8Array;
  /** URL of the evidence, at most 200 bytes. */
  evidenceUri: string;
  /** Maximum bond that the caller agrees to pay, lamports. */
  maxBond: bigint;
}

export interface OpenDisputeInput extends DisputeClaim {
  caller: PublicKey;
  executionId: Uint8Array;
  listing: PublicKey;
}

/** Disputes a result within its window, while its record exists. Signs: caller, payer. */
export function openDispute(input: OpenDisputeInput): TransactionInstruction {
  return buildInstruction('open_dispute', { ...input, ...claimAccounts(input.executionId, input.listing) });
}

export interface OpenDisputeWithProofInput extends DisputeClaim, ProvenPlace {
  /** The archived execution, whose caller signs. */
  execution: ExecutionRecord;
}

/** Disputes a result within its window, by the leaf of its archived record. Signs: the execution's caller, payer. */
export function openDisputeWithProof(input: OpenDisputeWithProofInput): TransactionInstruction {
  const { execution, archiveIndex, proof } = input;
  return buildInstruction('open_dispute_with_proof', {
    ...input,
    ...execution,
    ...claimAccounts(execution.executionId, execution.listing),
    archive: findArchive(archiveIndex),
    restHash: archivedRestHash(execution),
    proof: proof.slice(0, constants.archiveProofNodes),
    claim: input,
  });
}

/** The accounts that a claim derives. */
function claimAccounts(executionId: Uint8Array, listing: PublicKey) {
  const record = findExecution(executionId);
  return { record, collateral: findCollateral(listing), dispute: findDispute(record) };
}

export interface ResolveDisputeInput {
  admin: PublicKey;
  executionId: Uint8Array;
  listing: PublicKey;
  caller: PublicKey;
  /** The listing's creator, who gets the bond of a rejected dispute. */
  creator: PublicKey;
  /** As stored in the dispute. */
  rentSponsor: PublicKey;
  usdcMint: PublicKey;
  upheld: boolean;
  /**
   * Base units to slash, at most `constants.slashMultiple` times the price. The caller receives up to the price, the
   * rest is forfeited. 0 for a rejection.
   */
  amount: bigint;
  /** SHA-256 of the written reason, 32 bytes. */
  reasonHash: Uint8Array;
}

/** Resolves a dispute. Signs: admin. */
export function resolveDispute(input: ResolveDisputeInput): TransactionInstruction {
  const destination = findTokenAccount(input.caller, input.usdcMint);
  const dispute = disputeOf(input.executionId);
  return buildInstruction('resolve_dispute', { ...input, ...collateralOf(input.listing), dispute, destination });
}

export interface ClaimDisputeAwardInput {
  /** Anyone. */
  authority: PublicKey;
  executionId: Uint8Array;
  listing: PublicKey;
  /** The caller's associated token account, or any USDC account of a caller who signs. */
  destination: PublicKey;
  /** As stored in the collateral account. */
  rentSponsor: PublicKey;
}

/** Pays an award that waited for the caller's account. Signs: authority. */
export function claimDisputeAward(input: ClaimDisputeAwardInput): TransactionInstruction {
  const dispute = disputeOf(input.executionId);
  return buildInstruction('claim_dispute_award', { ...input, ...collateralOf(input.listing), dispute });
}

export interface LapseDisputeInput {
  executionId: Uint8Array;
  listing: PublicKey;
  /** As stored in the dispute. */
  rentSponsor: PublicKey;
}

/** Ends a dispute that was not resolved for 30 days. Nobody signs. */
export function lapseDispute(input: LapseDisputeInput): TransactionInstruction {
  const collateral = findCollateral(input.listing);
  return buildInstruction('lapse_dispute', { ...input, collateral, dispute: disputeOf(input.executionId) });
}

export interface CloseDisputeInput {
  executionId: Uint8Array;
  /** As stored in the dispute. */
  rentSponsor: PublicKey;
}

/** Returns the rent of an ended dispute that owes nothing, 30 days after its outcome. Nobody signs. */
export function closeDispute(input: CloseDisputeInput): TransactionInstruction {
  return buildInstruction('close_dispute', { ...input, dispute: disputeOf(input.executionId) });
}

const disputeOf = (executionId: Uint8Array): PublicKey => findDispute(findExecution(executionId));
