/**
 * Reports events of the program that concern a wallet: disputes, changes of its listings, and their failures. It follows
 * the index's events, which are final: by their slot, and those that the indexer applied late by `applied_slot`. Each
 * step writes the events together with the slot that it has reached, so that any relay may take the next step.
 */
import type { Kysely } from 'kysely';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { textsOf } from '../../database/portable.ts';
import { formatUuid } from '../../sdk/receipt/receipt.ts';
import type { EventData, EventType } from '../../sdk/wire/events.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { type Followed, type OtherEvent, readFeed, writeFollowed } from '../ledger/events.ts';
import type { Databases, LedgerDatabase } from '../ledger/tables.ts';
import type { Now } from '../waiting.ts';
import { type CollateralLimits, isLowAfterOpen, isLowForPrice } from './collateral.ts';
import { type FailingDeps, judgeAgents } from './failing.ts';

/** A step ends with the slot of this event. */
const EVENTS_AT_ONCE = 500;
const NAMES = [
  'DisputeOpened',
  'DisputeResolved',
  'DisputeLapsed',
  'ListingStatusChanged',
  'SigningKeyRotated',
  'ExecutionSettled',
  'ExecutionRefunded',
] as const;
/** After these an agent's calls may have failed more, or less. */
const ENDS: readonly string[] = ['ExecutionSettled', 'ExecutionRefunded', 'DisputeResolved'];
/** Read only if collateral limits the opens. */
const OPENED = 'ExecutionOpened';
const NOTHING: Followed = { events: [], raised: [], over: [] };
/** A listing's status in events. */
const [ACTIVE, PAUSED] = [0, 1];

interface FollowDeps extends FailingDeps, Pick<Databases, 'ledger'>, Now {
  writes: Pick<GroupCommit, 'underLocks'>;
  limits(): CollateralLimits;
}

/** Takes the next step. Returns true if more steps may follow. */
export async function followChain(deps: FollowDeps): Promise<boolean> {
  const { ledger, views, writes, limits, now } = deps;
  const progress = await views.selectFrom('chain.progress').select('slot').executeTakeFirst();
  const { slot: from } = await readFeed(ledger);
  const end = progress?.slot ?? null;
  if (end === null || (from !== null && end <= from)) return false;
  // Events from before the first run are not reported.
  if (from === null) {
    await writeFollowed(ledger, writes, NOTHING, { from, to: end }, now());
    return false;
  }
  const names = limits().exposureMultiple === 0 ? NAMES : [...NAMES, OPENED];
  const upTo = (to: bigint, column: 'slot' | 'applied_slot') =>
    views.selectFrom('chain.events').where(column, '>', from).where(column, '<=', to).where('name', 'in', names);
  const inOrder = (to: bigint) => upTo(to, 'slot').where('applied_slot', 'is', null);
  const last = await inOrder(end)
    .select('slot')
    .orderBy('slot')
    .offset(EVENTS_AT_ONCE - 1)
    .limit(1)
    .executeTakeFirst();
  const to = last?.slot ?? end;
  const rows: { name: string; data: string }[] = [];
  for (const found of [inOrder(to), upTo(to, 'applied_slot')]) {
    const sorted = found.orderBy('slot').orderBy('signature').orderBy('event_index');
    rows.push(...(await sorted.select(['name', 'data']).execute()));
  }
  const happened = rows.map(({ name, data }): ChainEvent => ({ name, fields: JSON.parse(data) }));
  const { events, ...warnings } = await judge(deps, happened);
  const followed = { events: [...(await describe(views, happened, limits())), ...events], ...warnings };
  await writeFollowed(ledger, writes, followed, { from, to }, now());
  return to < end;
}

type Fields = Record<string, string> & { listing: string; upheld?: boolean; status?: number; listingStatus?: number };

interface ChainEvent {
  name: string;
  fields: Fields;
}

function judge(deps: FailingDeps, events: readonly ChainEvent[]): Promise<Followed> {
  const ends = events.filter(({ name }) => ENDS.includes(name));
  const listingsOf = (some: readonly ChainEvent[]) => new Set(some.map(({ fields }) => fields.listing));
  return judgeAgents(deps, listingsOf(ends), listingsOf(ends.filter(({ name }) => name !== 'ExecutionSettled')));
}

/** An event's parties, and its listing's price and collateral. */
interface Subject {
  creator: string | undefined;
  caller: string | undefined;
  /** Base units. */
  price: bigint;
  collateral: bigint;
}

async function describe(
  views: Kysely<LedgerDatabase>,
  events: readonly ChainEvent[],
  limits: CollateralLimits,
): Promise<OtherEvent[]> {
  if (events.length === 0) return [];
  const disputed = events.filter(({ name }) => name.startsWith('Dispute')).map(({ fields }) => uuidOf(fields));
  const listings = await views
    .selectFrom('chain.listings')
    .select(['listing', 'creator', 'price', 'deposited', 'slashed'])
    .where('listing', 'in', textsOf(views, [...new Set(events.map(({ fields }) => fields.listing))]))
    .execute();
  const executions = await views
    .selectFrom('chain.executions')
    .select(['execution_id', 'caller'])
    .where('execution_id', 'in', textsOf(views, disputed))
    .execute();
  const callers = new Map(executions.map(({ execution_id, caller }) => [execution_id, caller]));
  const known = new Map(listings.map((row) => [row.listing, row]));
  return events.flatMap(({ name, fields }) => {
    const { creator, price = 0n, deposited = 0n, slashed = 0n } = known.get(fields.listing) ?? {};
    const caller = fields.executionId ? callers.get(uuidOf(fields)) : undefined;
    return reportsOf(name, fields, { creator, caller, price, collateral: deposited - slashed }, limits);
  });
}

const uuidOf = ({ executionId }: Fields): string => formatUuid(Buffer.from(executionId!, 'hex'));

/** The reports to each wallet about one event of the program. */
function reportsOf(
  name: string,
  fields: Fields,
  { creator, caller, price, collateral }: Subject,
  limits: CollateralLimits,
): OtherEvent[] {
  const reports: OtherEvent[] = [];
  function report<Type extends EventType>(wallet: string | undefined, type: Type, data: EventData<Type>): void {
    if (wallet === undefined) return;
    const executionId = 'execution_id' in data ? { execution_id: data.execution_id } : {};
    reports.push({ wallet, type, data: JSON.stringify(data), ...executionId });
  }
  const agent_id = fields.listing;
  const low = (left: bigint) => report(creator, 'agent.collateral_low', { agent_id, collateral_usdc: toUsdc(left) });
  const dispute = (type: 'dispute.opened' | 'dispute.resolved', outcome: EventData<'dispute.opened'>['outcome']) => {
    const amount_to_caller_usdc = toUsdc(BigInt(fields.amountToCaller ?? 0));
    const amount_slashed_usdc = toUsdc(BigInt(fields.amountSlashed ?? 0));
    const shared = { execution_id: uuidOf(fields), agent_id, outcome, amount_to_caller_usdc, amount_slashed_usdc };
    report(caller, type, { ...shared, role: 'caller' });
    report(creator, type, { ...shared, role: 'creator' });
  };
  if (name === 'DisputeOpened') dispute('dispute.opened', 'open');
  if (name === 'DisputeLapsed') dispute('dispute.resolved', 'lapsed');
  if (name === 'ListingStatusChanged' && fields.status === PAUSED) report(creator, 'agent.paused', { agent_id });
  if (name === 'SigningKeyRotated')
    report(creator, 'agent.signing_key_changed', { agent_id, signing_key: fields.signingKey! });
  if (name === 'DisputeResolved') {
    dispute('dispute.resolved', fields.upheld ? 'upheld' : 'rejected');
    // A slash pauses an agent whose collateral is less than its price requires.
    const left = BigInt(fields.deposited!) - BigInt(fields.slashed!);
    const isPaused = fields.upheld && fields.listingStatus === PAUSED;
    const isLow = fields.upheld && fields.listingStatus === ACTIVE && isLowForPrice(left, price, limits);
    if (isPaused || isLow) low(left);
    if (isPaused) report(creator, 'agent.paused', { agent_id });
  }
  if (name === OPENED) {
    const opened = { price: BigInt(fields.price!), exposure: BigInt(fields.exposureOpened!) };
    if (isLowAfterOpen(collateral, opened, limits)) low(collateral);
  }
  return reports;
}
