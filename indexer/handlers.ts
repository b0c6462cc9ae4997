/**
 * What each event changes: SQL only. Events carry the state after them, so a handler writes values and never computes.
 * A row that already shows a later slot (its account was read) keeps its state. MissingRow asks for the accounts; any
 * other throw stops the indexer.
 */
import type { Transaction } from 'kysely';
import type { EventData, EventName, MarketplaceEvent } from '../app/sdk/program/events.ts';
import { findGrant } from '../app/sdk/program/program.ts';
import { formatUuid } from '../app/sdk/receipt/receipt.ts';
import { base58, flag, hex, optionalBase58, optionalHex } from './columns.ts';
import type { IndexDatabase, ListingStatusName } from './tables.ts';
import {
  changeConfig,
  changeDispute,
  changeExecution,
  changeGrant,
  changeListing,
  endExecution,
  requireListing,
  writeConfig,
  writeCreator,
  writeDispute,
  writeExecution,
  writeGrant,
  writeListing,
} from './write.ts';

/** Where an event happened. */
export interface Position {
  signature: string;
  slot: bigint;
}

type Db = Transaction<IndexDatabase>;
type Handlers = { [Name in EventName]: (db: Db, data: EventData<Name>, at: Position) => Promise<void> };

const LISTING_STATUS: readonly ListingStatusName[] = ['active', 'paused', 'delisted'];

/** Exhaustive: an event without a handler does not compile. */
const HANDLERS: Handlers = {
  async ConfigInitialized(db, data, { slot }) {
    await writeConfig(db, {
      config: base58(data.config),
      admin: base58(data.admin),
      relay_authority: base58(data.relayAuthority),
      usdc_mint: base58(data.usdcMint),
      treasury: base58(data.treasury),
      fee_bps: BigInt(data.feeBps),
      pending_admin: null,
      opens_paused: 0n,
      slot,
    });
  },

  async ConfigUpdated(db, data, { slot }) {
    const change = { fee_bps: BigInt(data.feeBps), opens_paused: flag(data.opensPaused) };
    await changeConfig(db, base58(data.config), { ...change, slot });
  },

  async AdminProposed(db, data, { slot }) {
    await changeConfig(db, base58(data.config), { pending_admin: optionalBase58(data.pendingAdmin), slot });
  },

  async AdminChanged(db, data, { slot }) {
    await changeConfig(db, base58(data.config), { admin: base58(data.admin), pending_admin: null, slot });
  },

  async RelayAuthorityChanged(db, data, { slot }) {
    await changeConfig(db, base58(data.config), { relay_authority: base58(data.relayAuthority), slot });
  },

  /** Balances of token accounts are not kept here; the event itself is. */
  async TreasuryWithdrawn() {},

  async CreatorVerificationChanged(db, data, { slot }) {
    const wallet = base58(data.creator);
    await writeCreator(db, { wallet, verified: flag(data.verified), verified_at: data.verifiedAt, slot });
  },

  async AgentListed(db, data, { slot }) {
    await writeListing(db, {
      listing: base58(data.listing),
      creator: base58(data.creator),
      listing_id: hex(data.listingId),
      signing_key: base58(data.signingKey),
      payout: base58(data.payout),
      price: data.price,
      timeout_seconds: BigInt(data.timeoutSeconds),
      min_timeout_seconds: BigInt(data.minTimeoutSeconds),
      tag_mask: BigInt(data.tagMask),
      status: 'active',
      listing_version: BigInt(data.listingVersion),
      metadata_hash: hex(data.metadataHash),
      metadata_uri: data.metadataUri,
      deposited: data.deposited,
      slashed: 0n,
      listed_at: data.listedAt,
      returnable_at: null,
      collateral_returned: 0n,
      slot,
    });
  },

  async ListingUpdated(db, data, { slot }) {
    await changeListing(db, base58(data.listing), {
      payout: base58(data.payout),
      price: data.price,
      timeout_seconds: BigInt(data.timeoutSeconds),
      min_timeout_seconds: BigInt(data.minTimeoutSeconds),
      tag_mask: BigInt(data.tagMask),
      listing_version: BigInt(data.listingVersion),
      metadata_hash: hex(data.metadataHash),
      metadata_uri: data.metadataUri,
      slot,
    });
  },

  async ListingStatusChanged(db, data, { slot }) {
    await changeListing(db, base58(data.listing), { status: listingStatus(data.status), slot });
  },

  async SigningKeyRotated(db, data, { slot }) {
    await changeListing(db, base58(data.listing), { signing_key: base58(data.signingKey), slot });
  },

  async AgentDelisted(db, data, { slot }) {
    await changeListing(db, base58(data.listing), { status: 'delisted', returnable_at: data.returnableAt, slot });
  },

  async CollateralToppedUp(db, data, { slot }) {
    await changeListing(db, base58(data.listing), { deposited: data.deposited, slashed: data.slashed, slot });
  },

  async CollateralReturned(db, data, { slot }) {
    await changeListing(db, base58(data.listing), { collateral_returned: 1n, slot });
  },

  async GrantCreated(db, data, { slot }) {
    await writeGrant(db, {
      grant_address: base58(data.grant),
      wallet: base58(data.wallet),
      key_id: hex(data.keyId),
      per_execution_max: String(data.perExecutionMax),
      period_max: String(data.periodMax),
      total_max: String(data.totalMax),
      period_seconds: BigInt(data.periodSeconds),
      expires_at: data.expiresAt,
      created_at: data.createdAt,
      revoked: 0n,
      closed: 0n,
      execution_count: 0n,
      total_spent: '0',
      slot,
    });
  },

  async GrantRevoked(db, data, { slot }) {
    await changeGrant(db, base58(data.grant), { revoked: 1n, slot });
  },

  async GrantUpdated(db, data, { slot }) {
    await changeGrant(db, base58(data.grant), {
      per_execution_max: String(data.perExecutionMax),
      period_max: String(data.periodMax),
      total_max: String(data.totalMax),
      period_seconds: BigInt(data.periodSeconds),
      expires_at: data.expiresAt,
      slot,
    });
  },

  async GrantClosed(db, data, { slot }) {
    await changeGrant(db, base58(data.grant), { revoked: 1n, closed: 1n, slot });
  },

  async ExecutionOpened(db, data, { signature, slot }) {
    const keyId = optionalHex(data.keyId);
    await requireListing(db, base58(data.listing));
    await writeExecution(db, {
      execution_id: formatUuid(data.executionId),
      record: base58(data.record),
      listing: base58(data.listing),
      caller: base58(data.caller),
      signing_key: base58(data.signingKey),
      key_id: keyId,
      rent_sponsor: base58(data.rentSponsor),
      price: data.price,
      fee_bps: BigInt(data.feeBps),
      listing_version: BigInt(data.listingVersion),
      request_hash: hex(data.requestHash),
      result_hash: null,
      status: 'open',
      reason: null,
      creator_amount: 0n,
      platform_amount: 0n,
      execution_time_ms: null,
      opened_at: data.openedAt,
      deadline: data.deadline,
      refund_at: data.refundAt,
      settled_at: null,
      dispute_window_seconds: BigInt(data.disputeWindowSeconds),
      dispute_count: 0n,
      open_signature: signature,
      opened_slot: slot,
      open_index: null,
      listing_timeout_seconds: null,
      end_signature: null,
      closed: 0n,
      slot,
    });
    if (keyId === null) return;
    const spent = { execution_count: data.grantExecutionCount, total_spent: String(data.grantTotalSpent) };
    await changeGrant(db, base58(findGrant(data.caller, data.keyId)), { ...spent, slot });
  },

  async ExecutionSettled(db, data, at) {
    await endExecution(db, base58(data.record), at, null, {
      status: 'completed',
      result_hash: hex(data.resultHash),
      creator_amount: data.creatorAmount,
      platform_amount: data.platformAmount,
      fee_bps: BigInt(data.feeBps),
      execution_time_ms: BigInt(data.executionTimeMs),
      settled_at: data.settledAt,
    });
  },

  async ExecutionRefunded(db, data, at) {
    const record = base58(data.record);
    await endExecution(db, record, at, BigInt(data.reason), { status: 'refunded', settled_at: data.refundedAt });
    if (!data.grantRestored) return;
    const execution = await db
      .selectFrom('executions')
      .select('key_id')
      .where('record', '=', record)
      .executeTakeFirst();
    // Without a row (its record is unread) the grant's next event says what is spent.
    if (!execution?.key_id) return;
    const grant = findGrant(data.caller, Buffer.from(execution.key_id, 'hex'));
    await changeGrant(db, base58(grant), { total_spent: String(data.grantTotalSpent), slot: at.slot });
  },

  async ExecutionClosed(db, data, { slot }) {
    await changeExecution(db, base58(data.record), { closed: 1n, slot });
  },

  async DisputeOpened(db, data, { slot }) {
    await changeExecution(db, base58(data.record), { status: 'disputed', slot });
    await writeDispute(db, {
      dispute: base58(data.dispute),
      record: base58(data.record),
      execution_id: formatUuid(data.executionId),
      listing: base58(data.listing),
      caller: base58(data.caller),
      evidence_hash: hex(data.evidenceHash),
      evidence_uri: data.evidenceUri,
      reason_hash: null,
      outcome: 'open',
      bond: data.bond,
      amount_to_caller: 0n,
      amount_to_treasury: 0n,
      owed: 0n,
      opened_at: data.openedAt,
      resolved_at: null,
      slot,
    });
  },

  async DisputeResolved(db, data, { slot }) {
    await changeDispute(db, base58(data.dispute), {
      outcome: data.upheld ? 'upheld' : 'rejected',
      amount_to_caller: data.amountToCaller,
      amount_to_treasury: data.amountToTreasury,
      owed: data.owed,
      reason_hash: optionalHex(data.reasonHash),
      resolved_at: data.resolvedAt,
      ...bondLeft(data.bond),
      slot,
    });
    await changeExecution(db, base58(data.record), { status: data.upheld ? 'dispute_upheld' : 'completed', slot });
    const figures = { deposited: data.deposited, slashed: data.slashed };
    await changeListing(db, base58(data.listing), { ...figures, status: listingStatus(data.listingStatus), slot });
  },

  async DisputeAwardClaimed(db, data, { slot }) {
    await changeDispute(db, base58(data.dispute), { owed: 0n, slot });
  },

  async DisputeLapsed(db, data, { slot }) {
    const outcome = { outcome: 'lapsed' as const, resolved_at: data.resolvedAt };
    await changeDispute(db, base58(data.dispute), { ...outcome, ...bondLeft(data.bond), slot });
    await changeExecution(db, base58(data.record), { status: 'completed', slot });
  },
};

/** Writes what one event says. */
export async function handleEvent(db: Db, event: MarketplaceEvent, at: Position): Promise<void> {
  // The union's name and data belong together, which TypeScript cannot follow through an index.
  const handler = HANDLERS[event.name] as (db: Db, data: MarketplaceEvent['data'], at: Position) => Promise<void>;
  await handler(db, event.data, at);
}

function listingStatus(byte: number): ListingStatusName {
  const status = LISTING_STATUS[byte];
  if (!status) throw new RangeError(`unknown listing status ${byte}`);
  return status;
}

/** A bond is paid out whole or, where its recipient cannot take it, stays. */
function bondLeft(paidOut: bigint): { bond?: bigint } {
  return paidOut > 0n ? { bond: 0n } : {};
}
