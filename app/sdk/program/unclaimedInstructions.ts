/**
 * Unclaimed refunds: moving one that its caller's account cannot receive, and claiming it by its leaf. Part of
 * program.ts.
 */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { UnclaimedRefund } from './accounts.ts';
import { findArchive, findRefundClaim, findTokenAccount } from './addresses.ts';
import type { LeafPlace, ProvenPlace } from './archiveInstructions.ts';
import { constants } from './constants.ts';
import type { RefundDepositInput } from './depositInstructions.ts';
import { type RefundExecutionInput, refundAccounts } from './executionInstructions.ts';
import { buildInstruction } from './instruction.ts';

export interface MoveUnclaimedRefundInput extends Omit<RefundExecutionInput, 'destination'>, LeafPlace {
  usdcMint: PublicKey;
}

/**
 * Refunds an execution into the account of unclaimed refunds, if the caller's associated token account cannot receive.
 * Allowed from `movableFrom(refundAt)`. Signs: authority, anyone.
 */
export function moveUnclaimedRefund(input: MoveUnclaimedRefundInput): TransactionInstruction {
  return buildInstruction('move_unclaimed_refund', { ...input, ...refundAccounts(input), ...unusable(input) });
}

export interface MoveUnclaimedDepositInput extends Omit<RefundDepositInput, 'destination'>, LeafPlace {
  /** As stored in the deposit. */
  caller: PublicKey;
}

/**
 * Refunds a deposit into the account of unclaimed refunds, if the caller's associated token account cannot receive.
 * Allowed from `movableFrom` of the time from which anyone can refund it. Signs: authority, anyone.
 */
export function moveUnclaimedDeposit(input: MoveUnclaimedDepositInput): TransactionInstruction {
  const vault = findTokenAccount(input.deposit, input.usdcMint);
  return buildInstruction('move_unclaimed_deposit', { ...input, vault, ...unusable(input) });
}

/** The caller's account that cannot receive, and the archive. */
const unusable = (input: { caller: PublicKey; usdcMint: PublicKey; archiveIndex: number }) => ({
  destination: findTokenAccount(input.caller, input.usdcMint),
  archive: findArchive(input.archiveIndex),
});

/** Unix seconds from which a refund can be moved, from the time at which anyone can make it. */
export const movableFrom = (refundableAt: bigint): bigint => refundableAt + BigInt(constants.unclaimedSeconds);

export interface ClaimRefundInput extends ProvenPlace {
  /** The fields of the leaf. Its caller signs. */
  refund: UnclaimedRefund;
  /** Pays the rent of the account that forbids a second claim. */
  payer: PublicKey;
  /** Any USDC account of the caller. */
  destination: PublicKey;
}

/** Pays an unclaimed refund to its caller. Signs: the refund's caller, payer. */
export function claimRefund(input: ClaimRefundInput): TransactionInstruction {
  const { refund, leafIndex, archiveIndex, tree } = input;
  return buildInstruction('claim_refund', {
    ...input,
    ...refund,
    archive: findArchive(archiveIndex),
    claim: findRefundClaim(tree, leafIndex),
    proof: input.proof.slice(0, constants.archiveProofNodes),
  });
}
