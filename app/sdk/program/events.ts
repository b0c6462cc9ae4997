/**
 * Transaction logs in, typed events out; pure. A log is only as good as its lines: any program can print bytes that look
 * like an event, and nodes cut logs at 10,000 bytes. So an event counts only where it was printed while the marketplace
 * itself was running, and the reader says whether the log is complete; where it is not, read the accounts.
 */
import { PublicKey } from '@solana/web3.js';
import idlJson from './idl/marketplace.json' with { type: 'json' };

/** One field of an event: its type as the IDL spells it, and how its bytes are read. */
interface Field<T> {
  type: unknown;
  read(bytes: ByteReader): T;
}

const pubkey: Field<PublicKey> = { type: 'pubkey', read: (bytes) => new PublicKey(bytes.take(32)) };
const u8: Field<number> = { type: 'u8', read: (bytes) => bytes.takeView(1).getUint8(0) };
const u16: Field<number> = { type: 'u16', read: (bytes) => bytes.takeView(2).getUint16(0, true) };
const u32: Field<number> = { type: 'u32', read: (bytes) => bytes.takeView(4).getUint32(0, true) };
const u64: Field<bigint> = { type: 'u64', read: (bytes) => bytes.takeView(8).getBigUint64(0, true) };
const i64: Field<bigint> = { type: 'i64', read: (bytes) => bytes.takeView(8).getBigInt64(0, true) };
const bool: Field<boolean> = { type: 'bool', read: (bytes) => bytes.takeView(1).getUint8(0) !== 0 };
const text: Field<string> = {
  type: 'string',
  read: (bytes) => new TextDecoder('utf-8', { fatal: true }).decode(bytes.take(u32.read(bytes))),
};
const bytesOf = (length: number): Field<Uint8Array> => ({
  type: { array: ['u8', length] },
  read: (bytes) => bytes.take(length),
});

/** A named struct of the IDL, such as an entry of a list. */
const structOf = <Fields extends Record<string, Field<unknown>>>(
  name: string,
  fields: Fields,
): Field<{ [Key in keyof Fields]: ValueOf<Fields[Key]> }> => ({
  type: { defined: { name } },
  read: (bytes) => readFields(fields, bytes),
});
const listOf = <T>(item: Field<T>): Field<T[]> => ({
  type: { vec: item.type },
  read: (bytes) => Array.from({ length: u32.read(bytes) }, () => item.read(bytes)),
});
const collateralTier = structOf('CollateralTier', { maxPrice: u64, deposit: u64 });

/** The program's events with their fields in order; what they mean is said in programs/marketplace/src/events.rs. */
export const EVENT_FIELDS = {
  ConfigInitialized: {
    config: pubkey,
    admin: pubkey,
    relayAuthority: pubkey,
    usdcMint: pubkey,
    treasury: pubkey,
    feeBps: u16,
  },
  ConfigUpdated: {
    config: pubkey,
    opensPaused: bool,
    feeBps: u16,
    minPrice: u64,
    disputeBondLamports: u64,
    disputeWindowSeconds: u32,
    refundGraceSeconds: u32,
    maxTimeoutSeconds: u32,
    longestSpanSeconds: u32,
    exposureMultiple: u32,
    tiers: listOf(collateralTier),
  },
  AdminProposed: { config: pubkey, admin: pubkey, pendingAdmin: pubkey },
  AdminChanged: { config: pubkey, admin: pubkey },
  RelayAuthorityChanged: { config: pubkey, relayAuthority: pubkey },
  TreasuryWithdrawn: { treasury: pubkey, destination: pubkey, amount: u64, remaining: u64 },
  CreatorVerificationChanged: { creator: pubkey, verified: bool, verifiedAt: i64 },
  AgentListed: {
    listing: pubkey,
    creator: pubkey,
    listingId: bytesOf(16),
    signingKey: pubkey,
    payout: pubkey,
    price: u64,
    timeoutSeconds: u32,
    minTimeoutSeconds: u32,
    tagMask: u16,
    listingVersion: u32,
    deposited: u64,
    metadataHash: bytesOf(32),
    metadataUri: text,
    listedAt: i64,
  },
  ListingUpdated: {
    listing: pubkey,
    payout: pubkey,
    price: u64,
    timeoutSeconds: u32,
    minTimeoutSeconds: u32,
    tagMask: u16,
    listingVersion: u32,
    metadataHash: bytesOf(32),
    metadataUri: text,
  },
  ListingStatusChanged: { listing: pubkey, status: u8 },
  SigningKeyRotated: { listing: pubkey, signingKey: pubkey },
  AgentDelisted: { listing: pubkey, returnableAt: i64 },
  CollateralToppedUp: { listing: pubkey, amount: u64, deposited: u64, slashed: u64 },
  CollateralReturned: { listing: pubkey, destination: pubkey, amount: u64, owed: u64, vaultClosed: bool },
  GrantCreated: {
    grant: pubkey,
    wallet: pubkey,
    keyId: bytesOf(16),
    perExecutionMax: u64,
    periodMax: u64,
    totalMax: u64,
    periodSeconds: u32,
    expiresAt: i64,
    createdAt: i64,
  },
  GrantUpdated: {
    grant: pubkey,
    wallet: pubkey,
    keyId: bytesOf(16),
    perExecutionMax: u64,
    periodMax: u64,
    totalMax: u64,
    periodSeconds: u32,
    expiresAt: i64,
  },
  GrantClosed: { grant: pubkey, wallet: pubkey, keyId: bytesOf(16) },
  GrantRevoked: { grant: pubkey, wallet: pubkey, keyId: bytesOf(16) },
  ExecutionOpened: {
    record: pubkey,
    executionId: bytesOf(16),
    listing: pubkey,
    caller: pubkey,
    signingKey: pubkey,
    keyId: bytesOf(16),
    rentSponsor: pubkey,
    price: u64,
    feeBps: u16,
    listingVersion: u32,
    requestHash: bytesOf(32),
    openedAt: i64,
    deadline: i64,
    refundAt: i64,
    disputeWindowSeconds: u32,
    grantExecutionCount: u64,
    grantTotalSpent: u64,
  },
  ExecutionSettled: {
    record: pubkey,
    executionId: bytesOf(16),
    listing: pubkey,
    resultHash: bytesOf(32),
    creatorAmount: u64,
    platformAmount: u64,
    feeBps: u16,
    feeWaived: bool,
    executionTimeMs: u32,
    settledAt: i64,
  },
  ExecutionRefunded: {
    record: pubkey,
    executionId: bytesOf(16),
    listing: pubkey,
    caller: pubkey,
    amount: u64,
    reason: u8,
    refundedAt: i64,
    grantRestored: bool,
    grantTotalSpent: u64,
  },
  ExecutionClosed: { record: pubkey, executionId: bytesOf(16), listing: pubkey, caller: pubkey },
  DisputeOpened: {
    dispute: pubkey,
    record: pubkey,
    executionId: bytesOf(16),
    listing: pubkey,
    caller: pubkey,
    evidenceHash: bytesOf(32),
    evidenceUri: text,
    bond: u64,
    openedAt: i64,
  },
  DisputeResolved: {
    dispute: pubkey,
    record: pubkey,
    executionId: bytesOf(16),
    listing: pubkey,
    upheld: bool,
    amountToCaller: u64,
    amountToTreasury: u64,
    owed: u64,
    bond: u64,
    bondTo: pubkey,
    reasonHash: bytesOf(32),
    resolvedAt: i64,
    deposited: u64,
    slashed: u64,
    listingStatus: u8,
  },
  DisputeAwardClaimed: {
    dispute: pubkey,
    record: pubkey,
    listing: pubkey,
    caller: pubkey,
    amount: u64,
    vaultClosed: bool,
  },
  DisputeLapsed: {
    dispute: pubkey,
    record: pubkey,
    executionId: bytesOf(16),
    listing: pubkey,
    bond: u64,
    bondTo: pubkey,
    resolvedAt: i64,
  },
} satisfies Record<string, Record<string, Field<unknown>>>;

type Fields = typeof EVENT_FIELDS;
type ValueOf<F> = F extends Field<infer T> ? T : never;

export type EventName = keyof Fields;
/** An event's fields: u64 and i64 as bigint, smaller integers as number, byte arrays as Uint8Array. */
export type EventData<Name extends EventName> = { [Key in keyof Fields[Name]]: ValueOf<Fields[Name][Key]> };
export type MarketplaceEvent = { [Name in EventName]: { name: Name; data: EventData<Name> } }[EventName];

const NAME_BY_DISCRIMINATOR = new Map<string, EventName>(
  idlJson.events.flatMap(({ name, discriminator }) =>
    name in EVENT_FIELDS ? [[Buffer.from(discriminator).toString('latin1'), name as EventName]] : [],
  ),
);

const INVOKE = /^Program ([1-9A-Za-z]{32,44}) invoke \[(\d+)\]$/;
const END = /^Program ([1-9A-Za-z]{32,44}) (success|failed: .*)$/s;
const DATA = 'Program data: ';

/**
 * Reads the marketplace's events from the log of a transaction that succeeded.
 *
 * `complete` is false when lines are missing ("Log truncated", unbalanced calls) or when an invocation of the marketplace
 * did not print exactly one event, which each of its instructions does. The events given then are those that can still
 * be trusted, but others happened too. Throws when the marketplace printed an event that this version does not know.
 */
export function readEvents(
  logs: readonly string[],
  programId: PublicKey | string,
): { events: MarketplaceEvent[]; complete: boolean } {
  const ours = programId.toString();
  const events: MarketplaceEvent[] = [];
  const stack: { program: string | undefined; events: number }[] = [];
  for (const line of logs) {
    // Each line is matched whole: what programs print themselves always begins with "Program log: " or the like.
    if (line === 'Log truncated') return { events, complete: false };
    const invoke = INVOKE.exec(line);
    if (invoke) {
      if (Number(invoke[2]) !== stack.length + 1) return { events, complete: false };
      stack.push({ program: invoke[1], events: 0 });
      continue;
    }
    const frame = stack.at(-1);
    if (line.startsWith(DATA)) {
      if (frame?.program !== ours) continue;
      frame.events += 1;
      events.push(decodeEvent(Buffer.from(line.slice(DATA.length), 'base64')));
      continue;
    }
    const end = END.exec(line);
    if (!end) continue;
    if (!frame || frame.program !== end[1] || end[2] !== 'success') return { events, complete: false };
    if (frame.program === ours && frame.events !== 1) return { events, complete: false };
    stack.pop();
  }
  return { events, complete: stack.length === 0 };
}

/** Decodes one event from the bytes that `emit!` prints. Throws when it is none of the known ones, or malformed. */
export function decodeEvent(data: Uint8Array): MarketplaceEvent {
  const name = NAME_BY_DISCRIMINATOR.get(Buffer.from(data.subarray(0, 8)).toString('latin1'));
  if (!name) throw new RangeError(`unknown event ${Buffer.from(data).toString('hex').slice(0, 16)}`);
  const bytes = new ByteReader(data, 8);
  const values = readFields<Record<string, Field<unknown>>>(EVENT_FIELDS[name], bytes);
  if (bytes.left > 0) throw new RangeError(`event ${name} has ${bytes.left} bytes too many`);
  return { name, data: values } as MarketplaceEvent;
}

/** Fields one after the other, as Borsh writes a struct. */
function readFields<Fields extends Record<string, Field<unknown>>>(
  fields: Fields,
  bytes: ByteReader,
): { [Key in keyof Fields]: ValueOf<Fields[Key]> } {
  const values = Object.entries(fields).map(([key, field]) => [key, field.read(bytes)]);
  return Object.fromEntries(values) as { [Key in keyof Fields]: ValueOf<Fields[Key]> };
}

/** Walks over bytes; throws where they end too early. */
class ByteReader {
  private readonly data: Uint8Array;
  private at: number;

  constructor(data: Uint8Array, at: number) {
    this.data = data;
    this.at = at;
  }

  get left(): number {
    return this.data.length - this.at;
  }

  /** A copy of the next bytes, so that a small value does not keep a whole log in memory. */
  take(length: number): Uint8Array {
    if (length > this.left) throw new RangeError(`an event ends ${length - this.left} bytes too early`);
    this.at += length;
    return Uint8Array.from(this.data.subarray(this.at - length, this.at));
  }

  takeView(length: number): DataView {
    return new DataView(this.take(length).buffer);
  }
}
