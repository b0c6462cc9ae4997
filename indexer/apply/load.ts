/** Loads the rows that a batch of transactions needs into its unit of work, many rows per statement. */
import { PublicKey } from '@solana/web3.js';
import type { Kysely } from 'kysely';
import { readRows } from '../../app/database/bulk.ts';
import { unclaimedOf } from '../../app/sdk/program/archive.ts';
import { EVENT_FIELDS, type EventName, type MarketplaceEvent } from '../../app/sdk/program/eventFields.ts';
import type { DisputeRow, IndexDatabase } from '../queries/tables.ts';
import type { ChainTransaction } from './chainTransaction.ts';
import { base58, optionalBase58, optionalHex } from './columns.ts';
import { grantAddress, rememberGrant } from './handlers/grantAddress.ts';
import type { AccountRows } from './readings.ts';
import { STORED, type StoredName, type StoredRow } from './stored.ts';
import type { Unit } from './unit.ts';
import { claimOf, versionKey } from './write.ts';

/** The database transaction that will write the batch. */
type Db = Kysely<IndexDatabase>;

/** Tables whose key is an account's address; the account may be closed. */
type KeyedTable = Exclude<StoredName, 'configs' | 'cursor' | 'unread_accounts' | 'listing_versions'>;

/** Fields of events that hold the key of a row, and the table of that row. */
const FIELDS = {
  record: 'executions',
  listing: 'listings',
  creator: 'creators',
  grant: 'grants',
  deposit: 'deposits',
  dispute: 'disputes',
  archive: 'archives',
} as const satisfies Record<string, KeyedTable>;
/** The key fields of each event. */
const EVENT_KEYS = Object.fromEntries(
  Object.entries(EVENT_FIELDS).map(([name, fields]) => [
    name,
    Object.entries(FIELDS).filter(([field]) => (fields as Record<string, unknown>)[field] === 'pubkey'),
  ]),
) as Record<EventName, [string, KeyedTable][]>;

/** Keys that a batch may need, collected without the database. */
interface Wanted {
  keys: { [Table in KeyedTable]: Set<string> };
  /** Addresses of the config. Its table is loaded whole, and an address may be unread. */
  configs: Set<string>;
  slots: Set<bigint>;
  needsGaps: boolean;
  /** Keys of listing versions. */
  versions: Set<string>;
  /** Refunds that returned an amount to a grant. Only the execution's row has the key's id. */
  refunds: { record: string; caller: string }[];
}

/** Loads all rows that these transactions may read or change, except the cursor. */
export async function load(db: Db, unit: Unit, batch: readonly ChainTransaction[]): Promise<void> {
  await loadWhole(db, unit, 'configs');
  const wanted = collect(batch);
  await loadKeyed(db, unit, 'executions', wanted.keys.executions);
  await loadKeyed(db, unit, 'disputes', wanted.keys.disputes);
  // A closed dispute takes its price from its execution.
  await loadKeyed(db, unit, 'executions', recordsOfDisputes(unit, wanted));
  for (const { record, caller } of wanted.refunds) wantGrant(wanted, caller, unit.rows.executions.get(record)?.key_id);
  for (const table of [
    'listings',
    'creators',
    'grants',
    'deposits',
    'archives',
    'archive_leaves',
    'unclaimed_refunds',
  ] as const) {
    await loadKeyed(db, unit, table, wanted.keys[table]);
  }
  await loadKeyed(db, unit, 'listing_versions', wanted.versions);
  await loadOutcomes(db, unit, wanted.keys.executions);
  await loadUnread(db, unit, wanted);
  // Only decisions of disputes that are gone ask for them.
  if (wanted.needsGaps) unit.gaps = await db.selectFrom('gaps').select(['signature', 'slot']).execute();
  await loadOpened(db, unit, wanted.slots);
}

export async function loadWhole<Table extends StoredName>(db: Db, unit: Unit, table: Table): Promise<void> {
  unit.rows[table].load((await db.selectFrom(table).selectAll().execute()) as unknown as StoredRow<Table>[]);
}

/** Loads the rows of these keys that are not loaded yet. */
export async function loadKeyed<Table extends StoredName>(
  db: Db,
  unit: Unit,
  table: Table,
  keys: Iterable<string>,
): Promise<void> {
  const { key } = STORED[table];
  const missing = [...keys].filter((candidate) => !unit.rows[table].isLoaded(candidate));
  if (missing.length === 0) return;
  unit.rows[table].load(await readRows<StoredRow<Table>, IndexDatabase>(db, table, ['*'], key, missing), missing);
}

function recordsOfDisputes({ rows }: Unit, { keys }: Wanted): string[] {
  return [...keys.disputes].flatMap((dispute) => rows.disputes.get(dispute)?.record ?? []);
}

/** Loads the outcomes of disputes. Records are asked about that have a dispute, or whose execution has no row yet. */
async function loadOutcomes(db: Db, unit: Unit, records: ReadonlySet<string>): Promise<void> {
  const asked = [...records].filter((record) => unit.rows.executions.get(record)?.dispute_count !== 0n);
  type Found = Pick<DisputeRow, 'record' | 'outcome'>;
  const found = await readRows<Found, IndexDatabase>(db, 'disputes', ['record', 'outcome'], 'record', asked);
  for (const { record, outcome } of found) unit.outcomes.set(record, outcome);
}

/** Unread accounts are rare; most indexes have none. */
async function loadUnread(db: Db, unit: Unit, { keys, configs, slots }: Wanted): Promise<void> {
  const first = await db.selectFrom('unread_accounts').select('address').limit(1).executeTakeFirst();
  if (!first) {
    unit.rows.unread_accounts.load([]);
    return;
  }
  const addresses = new Set([configs, ...Object.values(keys)].flatMap((some) => [...some]));
  await loadKeyed(db, unit, 'unread_accounts', addresses);
  for (const address of addresses) {
    const slot = unit.rows.unread_accounts.get(address)?.opened_slot;
    if (slot) slots.add(slot);
  }
}

/** Loads how many executions each slot has opened so far. */
async function loadOpened(db: Db, unit: Unit, slots: ReadonlySet<bigint>): Promise<void> {
  if (slots.size === 0) return;
  const counts = db
    .selectFrom('executions')
    .where('opened_slot', 'in', [...slots])
    .groupBy('opened_slot');
  const rows = await counts.select(['opened_slot', ({ fn }) => fn.countAll<bigint>().as('count')]).execute();
  for (const { opened_slot, count } of rows) unit.opened.set(opened_slot!, count);
}

function collect(batch: readonly ChainTransaction[]): Wanted {
  const tables = [...new Set(Object.values(FIELDS)), 'archive_leaves', 'unclaimed_refunds'] as KeyedTable[];
  const keys = Object.fromEntries(tables.map((table) => [table, new Set<string>()])) as Wanted['keys'];
  const wanted: Wanted = {
    keys,
    configs: new Set(),
    slots: new Set(),
    needsGaps: false,
    versions: new Set(),
    refunds: [],
  };
  for (const { slot, content } of batch) {
    if (content.kind === 'failed') continue;
    if (content.kind === 'unreadable') {
      for (const { archive } of content.archives) want(wanted, 'archives', archive);
      continue;
    }
    wanted.slots.add(slot);
    for (const event of content.kind === 'events' ? content.events : content.carried) collectEvent(wanted, event);
    if (content.snapshot) collectSnapshot(wanted, content.snapshot);
  }
  return wanted;
}

function want(wanted: Wanted, table: KeyedTable, key: string): void {
  wanted.keys[table].add(key);
}

function wantGrant(wanted: Wanted, wallet: string, keyId: string | null | undefined): void {
  if (keyId) want(wanted, 'grants', grantAddress(wallet, keyId));
}

function collectEvent(wanted: Wanted, event: MarketplaceEvent): void {
  const { name, data } = event;
  const fields = data as Record<string, unknown>;
  for (const [field, table] of EVENT_KEYS[name] ?? []) {
    const key = optionalBase58(fields[field] as PublicKey);
    if (key) want(wanted, table, key);
  }
  if (fields.listing instanceof PublicKey && typeof fields.listingVersion === 'number') {
    wanted.versions.add(versionKey(base58(fields.listing), fields.listingVersion));
  }
  if (fields.config instanceof PublicKey) wanted.configs.add(base58(fields.config));
  const unclaimed = unclaimedOf(event);
  if (unclaimed) {
    want(wanted, 'archives', base58(unclaimed.leaf.archive));
    want(wanted, 'unclaimed_refunds', claimOf(unclaimed.leaf));
  }
  if (name === 'RefundClaimed') want(wanted, 'unclaimed_refunds', base58(data.claim));
  if (name === 'GrantCreated') rememberGrant(data.wallet, data.keyId, data.grant);
  else if (name === 'ExecutionOpened') {
    wantGrant(wanted, base58(data.caller), optionalHex(data.keyId));
  } else if (name === 'ExecutionRefunded' && data.grantRestored) {
    wanted.refunds.push({ record: base58(data.record), caller: base58(data.caller) });
  } else if (name === 'ExecutionsArchived') {
    for (const { record, execution } of data.executions) {
      want(wanted, 'executions', base58(record));
      want(wanted, 'archive_leaves', base58(record));
      want(wanted, 'listings', base58(execution.listing));
      wanted.versions.add(versionKey(base58(execution.listing), execution.listingVersion));
    }
  }
}

function collectSnapshot(wanted: Wanted, snapshot: AccountRows): void {
  for (const { config } of snapshot.configs) wanted.configs.add(config);
  for (const { wallet } of snapshot.creators) want(wanted, 'creators', wallet);
  for (const { listing } of snapshot.listings) want(wanted, 'listings', listing);
  for (const { grant_address } of snapshot.grants) want(wanted, 'grants', grant_address);
  for (const { record, listing, caller, key_id, listing_version } of snapshot.executions) {
    wanted.versions.add(versionKey(listing, listing_version));
    want(wanted, 'executions', record);
    want(wanted, 'listings', listing);
    wantGrant(wanted, caller, key_id);
  }
  for (const { deposit } of snapshot.deposits) want(wanted, 'deposits', deposit);
  for (const { dispute, record } of snapshot.disputes) {
    want(wanted, 'disputes', dispute);
    want(wanted, 'executions', record);
  }
  for (const { archive } of snapshot.archives) want(wanted, 'archives', archive);
  for (const { kind, address, accounts, instruction } of snapshot.gone) {
    wanted.needsGaps ||= instruction === 'resolve_dispute';
    want(wanted, GONE_TABLES[kind], address);
    want(wanted, 'executions', accounts.record ?? '');
    if (kind === 'dispute') want(wanted, 'listings', accounts.listing ?? '');
  }
}

export const GONE_TABLES = { grant: 'grants', record: 'executions', deposit: 'deposits', dispute: 'disputes' } as const;
