/**
 * Random histories of the program, as transactions to apply. Every kind of row is created and changed, several times in
 * one slot.
 */
import { PublicKey } from '@solana/web3.js';
import {
  EVENT_FIELDS,
  type EventData,
  type EventName,
  type MarketplaceEvent,
} from '../../app/sdk/program/eventFields.ts';
import type { IdlType } from '../../app/sdk/program/idlTypes.ts';
import { findGrant, findRefundClaim } from '../../app/sdk/program/program.ts';
import type { ChainTransaction } from '../../indexer/apply/apply.ts';

/** Returns the same numbers for the same seed. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A zero value of the given type. */
function zero(type: IdlType): unknown {
  if (type === 'pubkey') return PublicKey.default;
  if (type === 'u64' || type === 'i64') return 0n;
  if (type === 'bool') return false;
  if (type === 'string') return '';
  if (typeof type === 'string') return 0;
  if ('array' in type) return new Uint8Array(type.array[1]);
  if ('vec' in type) return [];
  if ('option' in type) return null;
  return { feeBps: 100, recordSeconds: 3_600, adminPaused: false, guardianPaused: false };
}

/** An event with the given fields; all others are zero. Leaves out what is no field of the event. */
export function event<Name extends EventName>(name: Name, data: Partial<EventData<Name>>): MarketplaceEvent {
  const given = data as Record<string, unknown>;
  const fields = Object.entries(EVENT_FIELDS[name] as Record<string, IdlType>);
  return {
    name,
    data: Object.fromEntries(fields.map(([key, type]) => [key, given[key] ?? zero(type)])),
  } as MarketplaceEvent;
}

interface Execution {
  record: PublicKey;
  executionId: Uint8Array;
  listing: PublicKey;
  caller: PublicKey;
  keyId: Uint8Array;
  dispute: PublicKey;
  state: 'open' | 'settled' | 'refunded' | 'disputed' | 'over';
}

const START = 1_750_000_000;

export function randomHistory(seed: number, transactions: number): ChainTransaction[] {
  const random = randomOf(seed);
  const bytes = (length: number) => Uint8Array.from({ length }, () => random(256));
  const key = () => new PublicKey(bytes(32));
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[random(items.length)];
  const config = key();
  const creators = [key(), key()];
  const listings: { address: PublicKey; version: number }[] = [];
  const callers = Array.from({ length: 3 }, () => ({ wallet: key(), keyId: bytes(16) }));
  const executions: Execution[] = [];
  /** Deposits that are prepared and not yet used or refunded. */
  const deposits: PublicKey[] = [];
  const [archive, tree] = [key(), key()];
  /** Refunds of the archive that are not yet claimed. */
  const unclaimed: EventData<'RefundClaimed'>[] = [];
  let leaves = 0;
  const of = (state: Execution['state']) => pick(executions.filter((execution) => execution.state === state));
  let now = START;

  /** Every third refund becomes a leaf. */
  const leafOf = (source: PublicKey, caller: PublicKey) => {
    if (random(3) > 0) return null;
    const leafIndex = leaves++;
    const refund = { source, caller, amount: 300n, unclaimedAt: BigInt(now) };
    const claim = findRefundClaim(tree, leafIndex);
    unclaimed.push({ claim, tree, leafIndex, destination: caller, claimedAt: 0n, refund });
    return { archive, tree, leafIndex };
  };
  const list = () => {
    const listing = { address: key(), version: 1 };
    listings.push(listing);
    const terms = { timeoutSeconds: 30 + random(60), listingVersion: 1, price: 300n, metadataUri: 'https://a.example' };
    return event('AgentListed', { listing: listing.address, creator: pick(creators)!, ...terms });
  };
  const open = () => {
    const listing = pick(listings);
    if (!listing) return list();
    const { wallet, keyId } = pick(callers)!;
    const ids = { record: key(), executionId: bytes(16), listing: listing.address, caller: wallet };
    const execution: Execution = {
      ...ids,
      keyId: random(3) === 0 ? new Uint8Array(16) : keyId,
      dispute: key(),
      state: 'open',
    };
    executions.push(execution);
    return event('ExecutionOpened', {
      ...ids,
      keyId: execution.keyId,
      price: 300n,
      listingVersion: listing.version,
      openedAt: BigInt(now),
      deadline: BigInt(now + 20 + random(60)),
      grantExecutionCount: BigInt(executions.length),
      grantTotalSpent: BigInt(300 * executions.length),
    });
  };
  const moves: (() => MarketplaceEvent | undefined)[] = [
    list,
    open,
    open,
    open,
    () =>
      event('CreatorVerificationChanged', {
        creator: pick(creators)!,
        verified: random(2) === 0,
        verifiedAt: BigInt(now),
      }),
    () => event('ConfigUpdated', { config }),
    () => {
      const listing = pick(listings);
      if (!listing) return undefined;
      listing.version += 1;
      const terms = { listingVersion: listing.version, timeoutSeconds: random(90), price: BigInt(random(900)) };
      return event('ListingUpdated', { listing: listing.address, ...terms });
    },
    () => {
      const execution = of('open');
      if (!execution) return undefined;
      execution.state = 'settled';
      const amounts = { creatorAmount: 297n, platformAmount: 3n, executionTimeMs: random(5_000) };
      return event('ExecutionSettled', { ...execution, ...amounts, settledAt: BigInt(now) });
    },
    () => {
      const execution = of('open');
      if (!execution) return undefined;
      execution.state = 'refunded';
      const restored = { grantRestored: execution.keyId.some((byte) => byte !== 0), grantTotalSpent: 0n };
      const leaf = leafOf(execution.record, execution.caller);
      const end = { amount: 300n, reason: random(6), refundedAt: BigInt(now), unclaimed: leaf };
      return event('ExecutionRefunded', { ...execution, ...end, ...restored });
    },
    () => {
      const deposit = random(3) === 0 ? (deposits[0] ?? key()) : key();
      if (!deposits.includes(deposit)) deposits.push(deposit);
      const terms = { caller: pick(callers)!.wallet, rentSponsor: config, price: 300n, serviceFee: BigInt(random(9)) };
      const times = { preparedAt: BigInt(now), expiresAt: BigInt(now + 600) };
      return event('DepositPrepared', { deposit, ...terms, ...times });
    },
    () => {
      const deposit = deposits.splice(random(deposits.length), 1)[0];
      if (!deposit) return undefined;
      const caller = pick(callers)!.wallet;
      const end = { refundedAt: BigInt(now), closed: random(9) > 0, unclaimed: leafOf(deposit, caller) };
      return event('DepositRefunded', { deposit, caller, amount: 300n, ...end });
    },
    () => {
      const claimed = unclaimed.splice(random(unclaimed.length), 1)[0];
      return claimed && event('RefundClaimed', { ...claimed, claimedAt: BigInt(now) });
    },
    () => {
      const opened = deposits.length > 0 ? open() : undefined;
      if (opened?.name !== 'ExecutionOpened') return opened;
      const deposit = deposits.splice(random(deposits.length), 1)[0]!;
      return { ...opened, data: { ...opened.data, deposit, serviceFee: 5n } };
    },
    () => {
      const execution = of('settled');
      if (!execution) return undefined;
      execution.state = 'disputed';
      return event('DisputeOpened', { ...execution, bond: 900n, openedAt: BigInt(now) });
    },
    () => {
      const execution = of('disputed');
      if (!execution) return undefined;
      execution.state = 'over';
      if (random(3) === 0) return event('DisputeLapsed', { ...execution, bond: 800n, resolvedAt: BigInt(now) });
      const amounts = {
        amountToCaller: 300n,
        deposited: 500n,
        slashed: BigInt(random(100)),
        forfeited: 7n,
        bond: 900n,
      };
      return event('DisputeResolved', { ...execution, upheld: random(2) === 0, resolvedAt: BigInt(now), ...amounts });
    },
    () => {
      const execution = of('refunded');
      if (!execution) return undefined;
      execution.state = 'over';
      return event('ExecutionClosed', { ...execution });
    },
  ];

  let slot = 10n;
  const history: ChainTransaction[] = [];
  const add = (content: ChainTransaction['content']) => {
    history.push({ signature: `${seed}-${String(random(2 ** 30))}-${history.length}`, slot, content });
  };
  add({ kind: 'events', events: [event('ConfigInitialized', { config, admin: key() })] });
  add({ kind: 'events', events: [event('ArchiveCreated', { archive, tree })] });
  for (const { wallet, keyId } of callers) {
    add({
      kind: 'events',
      events: [event('GrantCreated', { grant: findGrant(wallet, keyId), wallet, keyId, totalMax: 2n ** 64n - 1n })],
    });
  }
  while (history.length < transactions) {
    if (random(3) === 0) slot += BigInt(1 + random(3));
    now += random(1_500);
    const kind = random(20);
    if (kind === 0) add({ kind: 'failed' });
    else if (kind === 1) add({ kind: 'events', events: [] });
    else {
      const events = Array.from({ length: 1 + random(2) }, () => pick(moves)!()).filter((made) => made !== undefined);
      if (events.length > 0) add({ kind: 'events', events });
    }
  }
  return history;
}
