/** Instructions of a dispute over a settled execution. Part of program.ts. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { ExecutionRecord } from './accounts.ts';
import {
  findArchive,
  findCollateral,
  findCollateralVault,
  findDispute,
  findExecution,
  findTokenAccount,
} from './addresses.ts';
import { archivedRestHash } from './archive.ts';
import { constants } from './constants.ts';
import { buildInstruction } from './instruction.ts';

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
  const { caller, payer, executionId, listing, evidenceHash, evidenceUri, maxBond } = input;
  const record = findExecution(executionId);
  const accounts = { caller, payer, record, collateral: findCollateral(listing), dispute: findDispute(record) };
  return buildInstruction('open_dispute', accounts, { evidenceHash, maxBond, evidenceUri });
}

export interface OpenDisputeWithProofInput extends DisputeClaim {
  /** The archived execution, whose caller signs. */
  execution: ExecutionRecord;
  archiveIndex: number;
  /** As stored in the archive. */
  tree: PublicKey;
  leafIndex: number;
  /**
   * The siblings on the leaf's path, from the bottom up. Only the first `constants.archiveProofNodes` are used, because
   * the tree's account has the others.
   */
  proof: readonly Uint8Array[];
}

/** Disputes a result within its window, by the leaf of its archived record. Signs: the execution's caller, payer. */
export function openDisputeWithProof(input: OpenDisputeWithProofInput): TransactionInstruction {
  const { payer, execution, archiveIndex, tree, leafIndex, proof, evidenceHash, evidenceUri, maxBond } = input;
  const { executionId, listing, caller, price, settledAt, disputeWindowSeconds } = execution;
  const record = findExecution(executionId);
  const accounts = {
    caller,
    payer,
    record,
    archive: findArchive(archiveIndex),
    tree,
    collateral: findCollateral(listing),
    dispute: findDispute(record),
  };
  return buildInstruction('open_dispute_with_proof', accounts, {
    executionId,
    price,
    settledAt,
    disputeWindowSeconds,
    restHash: archivedRestHash(execution),
    leafIndex,
    proof: proof.slice(0, constants.archiveProofNodes),
    claim: { evidenceHash, maxBond, evidenceUri },
  });
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
  const { admin, executionId, listing, caller, creator, rentSponsor, usdcMint, upheld, amount, reasonHash } = input;
  const accounts = {
    admin,
    dispute: findDispute(findExecution(executionId)),
    listing,
    collateral: findCollateral(listing),
    collateral_vault: findCollateralVault(listing),
    destination: findTokenAccount(caller, usdcMint),
    creator,
    rent_sponsor: rentSponsor,
  };
  return buildInstruction('resolve_dispute', accounts, { upheld, amount, reasonHash });
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
  const { authority, executionId, listing, destination, rentSponsor } = input;
  const accounts = {
    authority,
    dispute: findDispute(findExecution(executionId)),
    collateral: findCollateral(listing),
    collateral_vault: findCollateralVault(listing),
    destination,
    rent_sponsor: rentSponsor,
  };
  return buildInstruction('claim_dispute_award', accounts, {});
}

export interface LapseDisputeInput {
  executionId: Uint8Array;
  listing: PublicKey;
  /** As stored in the dispute. */
  rentSponsor: PublicKey;
}

/** Ends a dispute that was not resolved for 30 days. Nobody signs. */
export function lapseDispute({ executionId, listing, rentSponsor }: LapseDisputeInput): TransactionInstruction {
  const accounts = {
    dispute: findDispute(findExecution(executionId)),
    collateral: findCollateral(listing),
    rent_sponsor: rentSponsor,
  };
  return buildInstruction('lapse_dispute', accounts, {});
}

export interface CloseDisputeInput {
  executionId: Uint8Array;
  /** As stored in the dispute. */
  rentSponsor: PublicKey;
}

/** Returns the rent of an ended dispute that owes nothing, 30 days after its outcome. Nobody signs. */
export function closeDispute({ executionId, rentSponsor }: CloseDisputeInput): TransactionInstruction {
  const dispute = findDispute(findExecution(executionId));
  return buildInstruction('close_dispute', { dispute, rent_sponsor: rentSponsor }, {});
}
