/**
 * What each event changes: SQL only. Events carry the state after them, so a handler writes values and never computes.
 * A row that already shows a later slot (its account was read) keeps its state. A throw stops the indexer.
 */
import type { PublicKey } from '@solana/web3.js';
import type { Transaction, UpdateResult } from 'kysely';
import type { EventData, EventName, MarketplaceEvent } from '../app/sdk/events.ts';
import { formatUuid } from '../app/sdk/receipt.ts';
import type { IndexDatabase, ListingStatusName } from './tables.ts';
import { endExecution, writeConfig, writeCreator, writeExecution, writeGrant, writeListing } from './write.ts';

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
      slot,
    });
  },

  async CreatorVerificationChanged(db, data, { slot }) {
    const verified = data.verified ? 1n : 0n;
    await writeCreator(db, { wallet: base58(data.creator), verified, verified_at: data.verifiedAt, slot });
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
      listed_at: data.listedAt,
      slot,
    });
  },

  async ListingUpdated(db, data, { slot }) {
    const result = await db
      .updateTable('listings')
      .set({
        payout: base58(data.payout),
        price: data.price,
        timeout_seconds: BigInt(data.timeoutSeconds),
        min_timeout_seconds: BigInt(data.minTimeoutSeconds),
        tag_mask: BigInt(data.tagMask),
        listing_version: BigInt(data.listingVersion),
        metadata_hash: hex(data.metadataHash),
        metadata_uri: data.metadataUri,
        slot,
      })
      .where('listing', '=', base58(data.listing))
      .where('slot', '<=', slot)
      .executeTakeFirst();
    await requireListing(db, result, base58(data.listing));
  },

  async ListingStatusChanged(db, data, { slot }) {
    const status = LISTING_STATUS[data.status];
    if (!status) throw new RangeError(`unknown listing status ${data.status}`);
    const result = await db
      .updateTable('listings')
      .set({ status, slot })
      .where('listing', '=', base58(data.listing))
      .where('slot', '<=', slot)
      .executeTakeFirst();
    await requireListing(db, result, base58(data.listing));
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
      execution_count: 0n,
      total_spent: '0',
      slot,
    });
  },

  async GrantRevoked(db, data, { slot }) {
    await updateGrant(db, base58(data.grant), { revoked: 1n, slot });
  },

  async ExecutionOpened(db, data, { signature, slot }) {
    const wallet = base58(data.caller);
    const keyId = optionalHex(data.keyId);
    const written = {
      execution_id: formatUuid(data.executionId),
      record: base58(data.record),
      listing: base58(data.listing),
      caller: wallet,
      signing_key: base58(data.signingKey),
      key_id: keyId,
      rent_sponsor: base58(data.rentSponsor),
      price: data.price,
      fee_bps: BigInt(data.feeBps),
      listing_version: BigInt(data.listingVersion),
      request_hash: hex(data.requestHash),
      result_hash: null,
      status: 'open' as const,
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
      end_signature: null,
      slot,
    };
    await writeExecution(db, written);
    if (keyId === null) return;
    const grant = await findGrantAddress(db, wallet, keyId);
    const spent = { execution_count: data.grantExecutionCount, total_spent: String(data.grantTotalSpent) };
    await updateGrant(db, grant, { ...spent, slot });
  },

  async ExecutionSettled(db, data, at) {
    await endExecution(db, formatUuid(data.executionId), at, null, {
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
    const executionId = formatUuid(data.executionId);
    await endExecution(db, executionId, at, BigInt(data.reason), { status: 'refunded', settled_at: data.refundedAt });
    if (!data.grantRestored) return;
    const { caller, key_id } = await db
      .selectFrom('executions')
      .select(['caller', 'key_id'])
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
    const grant = await findGrantAddress(db, caller, key_id ?? '');
    await updateGrant(db, grant, { total_spent: String(data.grantTotalSpent), slot: at.slot });
  },
};

/** Writes what one event says. */
export async function handleEvent(db: Db, event: MarketplaceEvent, at: Position): Promise<void> {
  // The union's name and data belong together, which TypeScript cannot follow through an index.
  const handler = HANDLERS[event.name] as (db: Db, data: MarketplaceEvent['data'], at: Position) => Promise<void>;
  await handler(db, event.data, at);
}

async function findGrantAddress(db: Db, wallet: string, keyId: string): Promise<string> {
  const query = db.selectFrom('grants').select('grant_address').where('wallet', '=', wallet);
  const row = await query.where('key_id', '=', keyId).executeTakeFirst();
  if (!row) throw new Error(`no grant of ${wallet} with key id ${keyId}`);
  return row.grant_address;
}

async function updateGrant(
  db: Db,
  address: string,
  change: { revoked?: 1n; execution_count?: bigint; total_spent?: string; slot: bigint },
): Promise<void> {
  const query = db.updateTable('grants').set(change).where('grant_address', '=', address);
  const { numUpdatedRows } = await query.where('slot', '<=', change.slot).executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  const known = await db.selectFrom('grants').select('slot').where('grant_address', '=', address).executeTakeFirst();
  if (!known) throw new Error(`no grant ${address}`);
}

/** Nothing updated is right only where the listing is there and newer. */
async function requireListing(db: Db, result: UpdateResult, listing: string): Promise<void> {
  if (result.numUpdatedRows > 0n) return;
  const known = await db.selectFrom('listings').select('slot').where('listing', '=', listing).executeTakeFirst();
  if (!known) throw new Error(`no listing ${listing}`);
}

function base58(key: PublicKey): string {
  return key.toBase58();
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** The program has no optional fields: all zero means none. */
function optionalHex(bytes: Uint8Array): string | null {
  return bytes.every((byte) => byte === 0) ? null : hex(bytes);
}
