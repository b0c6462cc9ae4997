/**
 * The way out when a transaction's log cannot be trusted: the accounts that it names are read and their present state is
 * written instead. That state may already be later than the transaction, which the rows' slot remembers. What accounts
 * do not keep (why a refund was made, which transaction did what) is in the transaction's own instructions.
 */
import { type Connection, PublicKey, type VersionedTransactionResponse } from '@solana/web3.js';
import bs58 from 'bs58';
import idlJson from '../app/sdk/idl/marketplace.json' with { type: 'json' };
import {
  type AgentListing,
  accountDiscriminator,
  decodeAccount,
  type ExecutionRecord,
  findCollateral,
  findTreasury,
  type KeyGrant,
} from '../app/sdk/program.ts';
import { formatUuid } from '../app/sdk/receipt.ts';
import type { ConfigRow, CreatorRow, ExecutionRow, ExecutionStatusName, GrantRow, ListingRow } from './tables.ts';

/** The rows that a transaction may have changed, each as it is at its slot. */
export interface Snapshot {
  configs: ConfigRow[];
  creators: CreatorRow[];
  listings: ListingRow[];
  grants: GrantRow[];
  executions: ExecutionRow[];
  /** Refunds in the transaction: the reason counts only if the authority is the relay. */
  refunds: { record: string; authority: string; reason: bigint }[];
}

/** One instruction of the marketplace, at the top level or called by another program. */
interface Invocation {
  name: string;
  accounts: Record<string, string>;
  data: Uint8Array;
}

/** getMultipleAccounts takes this many addresses. */
const ACCOUNTS_PER_CALL = 100;

const ACCOUNT_NAMES = ['Config', 'CreatorProfile', 'AgentListing', 'KeyGrant', 'ExecutionRecord'] as const;

/** Reads the state after a transaction. Throws where the node has not reached its slot yet. */
export async function readSnapshot(
  connection: Connection,
  programId: PublicKey,
  transaction: VersionedTransactionResponse,
): Promise<Snapshot> {
  const addresses = namedAccounts(transaction).map((address) => new PublicKey(address));
  const invocations = readInvocations(transaction, programId.toBase58());
  const signature = transaction.transaction.signatures[0]!;
  const refunds = invocations.flatMap(({ name, accounts, data }) => {
    if (name !== 'refund_execution') return [];
    // The reason is the one byte after the discriminator.
    return [{ record: accounts.record ?? '', authority: accounts.authority ?? '', reason: BigInt(data[8] ?? 0) }];
  });
  const rows: Snapshot = { configs: [], creators: [], listings: [], grants: [], executions: [], refunds };
  for (let start = 0; start < addresses.length; start += ACCOUNTS_PER_CALL) {
    const chunk = addresses.slice(start, start + ACCOUNTS_PER_CALL);
    const { context, value } = await readAccounts(connection, chunk, transaction.slot);
    const slot = BigInt(context.slot);
    for (const [index, account] of value.entries()) {
      if (!account?.owner.equals(programId)) continue;
      const address = chunk[index]!;
      const name = ACCOUNT_NAMES.find((candidate) => isAccount(candidate, account.data));
      if (name === 'Config') {
        const config = decodeAccount(name, account.data);
        rows.configs.push({
          config: address.toBase58(),
          admin: config.admin.toBase58(),
          relay_authority: config.relayAuthority.toBase58(),
          usdc_mint: config.usdcMint.toBase58(),
          treasury: findTreasury().toBase58(),
          fee_bps: BigInt(config.feeBps),
          slot,
        });
      } else if (name === 'CreatorProfile') {
        const profile = decodeAccount(name, account.data);
        const verified = profile.verified ? 1n : 0n;
        rows.creators.push({ wallet: profile.creator.toBase58(), verified, verified_at: profile.verifiedAt, slot });
      } else if (name === 'AgentListing') {
        const collateral = await readAccounts(connection, [findCollateral(address)], transaction.slot);
        const held = collateral.value[0];
        const deposited = held ? decodeAccount('CreatorCollateral', held.data).deposited : 0n;
        rows.listings.push(listingRow(address, decodeAccount(name, account.data), deposited, slot));
      } else if (name === 'KeyGrant') {
        rows.grants.push(grantRow(address, decodeAccount(name, account.data), slot));
      } else if (name === 'ExecutionRecord') {
        const row = executionRow(address, decodeAccount(name, account.data), slot);
        rows.executions.push({ ...row, ...readHistory(invocations, row.record, signature) });
      }
    }
  }
  return rows;
}

/** Whether the transaction opened or ended a record. */
function readHistory(
  invocations: Invocation[],
  record: string,
  signature: string,
): Pick<ExecutionRow, 'open_signature' | 'end_signature'> {
  const names = invocations.filter(({ accounts }) => accounts.record === record).map(({ name }) => name);
  const opened = names.includes('open_execution') || names.includes('open_execution_with_grant');
  const ended = names.includes('settle_execution') || names.includes('refund_execution');
  return { open_signature: opened ? signature : null, end_signature: ended ? signature : null };
}

/** Every address that the transaction names, those from lookup tables too, in the order that instructions index. */
function namedAccounts(transaction: VersionedTransactionResponse): string[] {
  const loaded = transaction.meta?.loadedAddresses;
  const keys = transaction.transaction.message.staticAccountKeys;
  return [...keys, ...(loaded?.writable ?? []), ...(loaded?.readonly ?? [])].map((key) => key.toString());
}

function readInvocations(transaction: VersionedTransactionResponse, programId: string): Invocation[] {
  const addresses = namedAccounts(transaction);
  const top = transaction.transaction.message.compiledInstructions.map((instruction) => ({
    program: addresses[instruction.programIdIndex],
    accounts: instruction.accountKeyIndexes,
    data: instruction.data,
  }));
  const inner = (transaction.meta?.innerInstructions ?? []).flatMap(({ instructions }) =>
    instructions.map((instruction) => ({
      program: addresses[instruction.programIdIndex],
      accounts: instruction.accounts,
      data: bs58.decode(instruction.data),
    })),
  );
  return [...top, ...inner].flatMap(({ program, accounts, data }) => {
    const known = idlJson.instructions.find(({ discriminator }) =>
      discriminator.every((byte, at) => data[at] === byte),
    );
    if (program !== programId || !known) return [];
    const named = known.accounts.map((account, at) => [account.name, addresses[accounts[at] ?? -1] ?? ''] as const);
    return [{ name: known.name, accounts: Object.fromEntries(named), data }];
  });
}

/** A node that has not seen the transaction's slot yet must not answer with an older state: it errs, and we try again. */
function readAccounts(connection: Connection, addresses: PublicKey[], minContextSlot: number) {
  return connection.getMultipleAccountsInfoAndContext(addresses, { commitment: 'confirmed', minContextSlot });
}

function isAccount(name: (typeof ACCOUNT_NAMES)[number], data: Uint8Array): boolean {
  return accountDiscriminator(name).every((byte, at) => data[at] === byte);
}

function listingRow(address: PublicKey, listing: AgentListing, deposited: bigint, slot: bigint): ListingRow {
  return {
    listing: address.toBase58(),
    creator: listing.creator.toBase58(),
    listing_id: hex(listing.listingId),
    signing_key: listing.signingKey.toBase58(),
    payout: listing.payout.toBase58(),
    price: listing.price,
    timeout_seconds: BigInt(listing.timeoutSeconds),
    min_timeout_seconds: BigInt(listing.minTimeoutSeconds),
    tag_mask: BigInt(listing.tagMask),
    status: listing.status,
    listing_version: BigInt(listing.listingVersion),
    metadata_hash: hex(listing.metadataHash),
    metadata_uri: listing.metadataUri,
    deposited,
    listed_at: listing.listedAt,
    slot,
  };
}

function grantRow(address: PublicKey, grant: KeyGrant, slot: bigint): GrantRow {
  return {
    grant_address: address.toBase58(),
    wallet: grant.wallet.toBase58(),
    key_id: hex(grant.keyId),
    per_execution_max: String(grant.perExecutionMax),
    period_max: String(grant.periodMax),
    total_max: String(grant.totalMax),
    period_seconds: BigInt(grant.periodSeconds),
    expires_at: grant.expiresAt,
    created_at: grant.createdAt,
    revoked: grant.revoked ? 1n : 0n,
    execution_count: grant.executionCount,
    total_spent: String(grant.totalSpent),
    slot,
  };
}

function executionRow(address: PublicKey, record: ExecutionRecord, slot: bigint): ExecutionRow {
  const status: ExecutionStatusName = record.status === 'disputeUpheld' ? 'dispute_upheld' : record.status;
  const settled = status !== 'open' && status !== 'refunded';
  // The program's own arithmetic: the fee is rounded down, and fee_bps became 0 where it was waived.
  const platformAmount = settled ? (record.price * BigInt(record.feeBps)) / 10_000n : 0n;
  return {
    execution_id: formatUuid(record.executionId),
    record: address.toBase58(),
    listing: record.listing.toBase58(),
    caller: record.caller.toBase58(),
    signing_key: record.signingKey.toBase58(),
    key_id: optionalHex(record.keyId),
    rent_sponsor: record.rentSponsor.toBase58(),
    price: record.price,
    fee_bps: BigInt(record.feeBps),
    listing_version: BigInt(record.listingVersion),
    request_hash: hex(record.requestHash),
    result_hash: optionalHex(record.resultHash),
    status,
    reason: null,
    creator_amount: settled ? record.price - platformAmount : 0n,
    platform_amount: platformAmount,
    execution_time_ms: settled ? BigInt(record.executionTimeMs) : null,
    opened_at: record.openedAt,
    deadline: record.deadline,
    refund_at: record.refundAt,
    settled_at: record.settledAt === 0n ? null : record.settledAt,
    dispute_window_seconds: BigInt(record.disputeWindowSeconds),
    dispute_count: status === 'disputed' || status === 'dispute_upheld' ? 1n : 0n,
    open_signature: null,
    end_signature: null,
    slot,
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** The program has no optional fields: all zero means none. */
function optionalHex(bytes: Uint8Array): string | null {
  return bytes.every((byte) => byte === 0) ? null : hex(bytes);
}
