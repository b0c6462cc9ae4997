/**
 * Converts the program's accounts to rows, each with the slot of its reading. An event that makes a row has the fields of
 * its account.
 */
import type { PublicKey } from '@solana/web3.js';
import type { EventData } from '../../app/sdk/program/eventFields.ts';
import {
  type AgentListing,
  type Archive,
  type Config,
  type CreatorCollateral,
  type CreatorProfile,
  type Deposit,
  type Dispute,
  type ExecutionRecord,
  type KeyGrant,
  relayAuthoritiesOf,
} from '../../app/sdk/program/program.ts';
import { formatUuid } from '../../app/sdk/receipt/receipt.ts';
import { splitPrice } from '../queries/record.ts';
import type {
  ArchiveRow,
  ConfigRow,
  CreatorRow,
  DepositRow,
  DisputeRow,
  ExecutionRow,
  GrantRow,
  ListingRow,
} from '../queries/tables.ts';
import { base58, base58List, flag, hex, optionalHex, optionalTime, uri } from './columns.ts';

/** An account's fields without those that follow from its address and the program. */
type Stated<Account> = Omit<Account, 'version' | 'bump'>;

export function configRow(address: PublicKey, config: Config, slot: bigint): ConfigRow {
  return {
    config: base58(address),
    admin: base58(config.admin),
    relay_authorities: base58List(relayAuthoritiesOf(config)),
    record_seconds: BigInt(config.recordSeconds),
    slot,
  };
}

export function creatorRow(profile: CreatorProfile, slot: bigint): CreatorRow {
  const wallet = base58(profile.creator);
  return { wallet, verified: flag(profile.verified), verified_at: profile.verifiedAt, slot };
}

export function listingRow(
  address: PublicKey,
  listing: Stated<AgentListing>,
  collateral: Pick<CreatorCollateral, 'deposited' | 'slashed' | 'forfeited' | 'returnableAt' | 'returned'>,
  slot: bigint,
): ListingRow {
  return {
    listing: base58(address),
    creator: base58(listing.creator),
    listing_id: hex(listing.listingId),
    signing_key: base58(listing.signingKey),
    ...termColumns(listing),
    status: listing.status,
    deposited: collateral.deposited,
    slashed: collateral.slashed,
    forfeited: collateral.forfeited,
    listed_at: listing.listedAt,
    returnable_at: optionalTime(collateral.returnableAt),
    collateral_returned: flag(collateral.returned),
    slot,
  };
}

type Terms = EventData<'ListingUpdated'>;

export const termColumns = (terms: Omit<Terms, 'listing'>) => ({
  payout: base58(terms.payout),
  price: terms.price,
  timeout_seconds: BigInt(terms.timeoutSeconds),
  min_timeout_seconds: BigInt(terms.minTimeoutSeconds),
  tag_mask: BigInt(terms.tagMask),
  listing_version: BigInt(terms.listingVersion),
  metadata_hash: hex(terms.metadataHash),
  metadata_uri: uri(terms.metadataUri),
});

export function grantRow(
  address: PublicKey,
  grant: Pick<KeyGrant, 'wallet' | 'keyId' | 'expiresAt' | 'createdAt' | 'revoked' | 'executionCount' | 'totalSpent'>,
  slot: bigint,
): GrantRow {
  return {
    grant_address: base58(address),
    wallet: base58(grant.wallet),
    key_id: hex(grant.keyId),
    expires_at: grant.expiresAt,
    created_at: grant.createdAt,
    revoked: flag(grant.revoked),
    closed: 0n,
    execution_count: grant.executionCount,
    total_spent: String(grant.totalSpent),
    slot,
  };
}

/** The record keeps no reason, hand-over, signatures, position or dispute, so these are empty. */
export function executionRow(
  address: PublicKey,
  record: Stated<Omit<ExecutionRecord, 'escrowBump'>>,
  slot: bigint,
): ExecutionRow {
  const { status } = record;
  const settled = status === 'completed';
  return {
    execution_id: formatUuid(record.executionId),
    record: base58(address),
    listing: base58(record.listing),
    caller: base58(record.caller),
    signing_key: base58(record.signingKey),
    key_id: optionalHex(record.keyId),
    rent_sponsor: base58(record.rentSponsor),
    price: record.price,
    fee_bps: BigInt(record.feeBps),
    listing_version: BigInt(record.listingVersion),
    request_hash: hex(record.requestHash),
    result_hash: optionalHex(record.resultHash),
    status,
    reason: null,
    ...splitPrice(settled ? record.price : 0n, BigInt(record.feeBps)),
    execution_time_ms: settled ? BigInt(record.executionTimeMs) : null,
    opened_at: record.openedAt,
    deadline: record.deadline,
    refund_at: record.refundAt,
    settled_at: optionalTime(record.settledAt),
    dispute_window_seconds: BigInt(record.disputeWindowSeconds),
    dispute_count: 0n,
    open_signature: null,
    opened_slot: null,
    open_index: null,
    listing_timeout_seconds: null,
    end_signature: null,
    closed: 0n,
    gas_lamports: BigInt(record.gasLamports),
    spender_lends_escrow: flag(record.spenderBump !== 0),
    deposit: null,
    slot,
  };
}

/** The account does not show how a deposit ended, so the row is a prepared one. */
export function depositRow(
  address: PublicKey,
  deposit: Stated<Omit<Deposit, 'vaultBump' | 'hash'>>,
  slot: bigint,
): DepositRow {
  return {
    deposit: base58(address),
    caller: base58(deposit.caller),
    rent_sponsor: base58(deposit.rentSponsor),
    price: String(deposit.price),
    service_fee: deposit.serviceFee,
    prepared_at: deposit.preparedAt,
    expires_at: deposit.expiresAt,
    ...PREPARED,
    slot,
  };
}

/** The end columns of a deposit that has not ended. */
export const PREPARED = { status: 'prepared', ended_at: null, end_signature: null, closed: 0n } as const;

export function archiveRow(address: PublicKey, archive: Stated<Archive>, slot: bigint): ArchiveRow {
  return {
    archive: base58(address),
    archive_index: BigInt(archive.index),
    tree: base58(archive.tree),
    leaf_count: BigInt(archive.count),
    slot,
  };
}

/** The columns of a dispute that has no outcome. */
export const UNDECIDED = {
  reason_hash: null,
  outcome: 'open',
  amount_to_caller: 0n,
  amount_slashed: 0n,
  owed: 0n,
  resolved_at: null,
  closed: 0n,
} as const;

/** The account keeps no URI. */
export function disputeRow(address: PublicKey, dispute: Dispute, evidenceUri: string | null, slot: bigint): DisputeRow {
  return {
    dispute: base58(address),
    record: base58(dispute.record),
    execution_id: formatUuid(dispute.executionId),
    listing: base58(dispute.listing),
    caller: base58(dispute.caller),
    evidence_hash: hex(dispute.evidenceHash),
    evidence_uri: evidenceUri === null ? null : uri(evidenceUri),
    reason_hash: optionalHex(dispute.reasonHash),
    outcome: dispute.outcome,
    bond: dispute.bond,
    bond_paid: dispute.outcome === 'open' ? dispute.bond : null,
    amount_to_caller: dispute.amountToCaller,
    amount_slashed: dispute.amountSlashed,
    owed: dispute.owed,
    opened_at: dispute.openedAt,
    resolved_at: optionalTime(dispute.resolvedAt),
    closed: 0n,
    slot,
  };
}
