/** The IDL as an outside integrator uses it: with Anchor, which leaves some accounts to be named. */
import anchor from '@coral-xyz/anchor';
import { type Connection, PublicKey } from '@solana/web3.js';
import idlJson from '../../app/sdk/program/idl/marketplace.json' with { type: 'json' };

export const idl = idlJson as anchor.Idl;

/**
 * The accounts that an integrator has to name, for each instruction that needs no relay. Anchor finds all others. A
 * signer or payer other than the provider's wallet is named too.
 */
export const NAMED = {
  listAgent: ['payout', 'source'],
  updateListing: ['listing', 'payout'],
  setListingStatus: ['listing'],
  rotateSigningKey: ['listing'],
  topUpCollateral: ['listing', 'source'],
  delistAgent: ['listing'],
  returnCollateral: ['listing'],
  sweepForfeits: ['collateral'],
  createGrant: [],
  updateGrant: ['grant'],
  revokeGrant: ['grant'],
  closeGrant: ['grant'],
  withdrawGas: [],
  openExecution: ['listing', 'rentSponsor', 'source'],
  prepareDeposit: ['deposit', 'rentSponsor'],
  refundDeposit: ['deposit'],
  refundExecution: ['record'],
  moveUnclaimedRefund: ['archive', 'record'],
  moveUnclaimedDeposit: ['archive', 'deposit'],
  claimRefund: ['archive', 'destination'],
  closeExecution: ['record'],
  createArchive: ['previous', 'tree'],
  archiveExecutions: ['archive'],
  openDispute: ['record'],
  openDisputeWithProof: ['archive', 'collateral'],
  lapseDispute: ['dispute'],
  claimDisputeAward: ['dispute'],
  closeDispute: ['dispute'],
} satisfies Record<string, string[]>;

/** The same for what the relay and the admin decide. */
export const OFFICIAL = {
  settleExecution: ['payout', 'record'],
  resolveDispute: ['dispute', 'listing'],
} satisfies Record<string, string[]>;

export const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Name and amount of a confirmed transaction's events, read by Anchor. */
export async function amountsOf(connection: Connection, signature: string): Promise<[string, string][]> {
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 255 } as const;
  const { meta } = (await connection.getTransaction(signature, options))!;
  const parser = new anchor.EventParser(new PublicKey(idl.address), new anchor.BorshCoder(idl));
  return [...parser.parseLogs(meta!.logMessages!)].map(({ name, data }) => [name, String(data.amount)]);
}
