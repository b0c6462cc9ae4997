/**
 * Reports events of the program that concern a wallet: disputes, and what happens to its listings. It follows the
 * index's events up to the last final slot, which the chain cannot take back. Each step writes the events together with
 * the slot that they reach to, so that any relay may take the next one.
 */
import type { Kysely } from 'kysely';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { textsOf } from '../../database/portable.ts';
import { formatUuid } from '../../sdk/receipt/receipt.ts';
import type { EventData, EventType } from '../../sdk/wire/events.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { type OtherEvent, readFeed, writeFollowed } from '../ledger/events.ts';
import type { LedgerDatabase, LedgerTables } from '../ledger/tables.ts';

/** Slots of one step that have events. */
const EVENTS_AT_ONCE = 500;
const NAMES = [
  'DisputeOpened',
  'DisputeResolved',
  'DisputeLapsed',
  'ListingStatusChanged',
  'SigningKeyRotated',
] as const;
/** A listing's status in events. */
const PAUSED = 1;

export interface FollowDeps {
  ledger: Kysely<LedgerTables>;
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  writes: Pick<GroupCommit, 'alone'>;
  /** Unix milliseconds. */
  now(): number;
}

/** Takes the next step. Returns true if more may be left. */
export async function followChain({ ledger, views, writes, now }: FollowDeps): Promise<boolean> {
  const progress = await views.selectFrom('chain.progress').select('finalized_slot').executeTakeFirst();
  const { slot: from } = await readFeed(ledger);
  const end = progress?.finalized_slot ?? null;
  if (end === null || (from !== null && end <= from)) return false;
  // History from before the first look is not news.
  if (from === null) {
    await writeFollowed(ledger, writes, [], { from, to: end }, now());
    return false;
  }
  const rows = await views
    .selectFrom('chain.events')
    .select(['slot', 'name', 'data'])
    .where('slot', '>', from)
    .where('slot', '<=', end)
    .where('name', 'in', NAMES)
    .orderBy('slot')
    .orderBy('signature')
    .orderBy('event_index')
    .limit(EVENTS_AT_ONCE)
    .execute();
  const isWhole = rows.length < EVENTS_AT_ONCE;
  const last = rows.at(-1)?.slot ?? end;
  // The last slot may have more events than were read, unless it is the only one.
  const whole = isWhole || rows[0]!.slot === last ? rows : rows.filter(({ slot }) => slot < last);
  const to = isWhole ? end : whole.at(-1)!.slot;
  await writeFollowed(ledger, writes, await describe(views, whole), { from, to }, now());
  return !isWhole;
}

type Fields = Record<string, string> & { listing: string; upheld?: boolean; status?: number; listingStatus?: number };

async function describe(
  views: Kysely<LedgerDatabase>,
  rows: readonly { name: string; data: string }[],
): Promise<OtherEvent[]> {
  const events = rows.map(({ name, data }) => ({ name, fields: JSON.parse(data) as Fields }));
  const creators = await readPairs(
    views.selectFrom('chain.listings').select(['listing as key', 'creator as value']),
    'listing',
    events.map(({ fields }) => fields.listing),
    views,
  );
  const callers = await readPairs(
    views.selectFrom('chain.executions').select(['execution_id as key', 'caller as value']),
    'execution_id',
    events.flatMap(({ fields }) => (fields.executionId ? [uuidOf(fields)] : [])),
    views,
  );
  return events.flatMap(({ name, fields }) => {
    const creator = creators.get(fields.listing);
    const caller = fields.executionId ? callers.get(uuidOf(fields)) : undefined;
    return reportsOf(name, fields, { creator, caller });
  });
}

const uuidOf = ({ executionId }: Fields): string => formatUuid(Buffer.from(executionId!, 'hex'));

async function readPairs(
  // biome-ignore lint/suspicious/noExplicitAny: of either table
  query: any,
  column: string,
  keys: string[],
  views: Kysely<LedgerDatabase>,
): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map();
  const rows = await query.where(column, 'in', textsOf(views, keys)).execute();
  return new Map(rows.map(({ key, value }: { key: string; value: string }) => [key, value]));
}

/** What each wallet is told about one event of the program. */
function reportsOf(
  name: string,
  fields: Fields,
  { creator, caller }: { creator: string | undefined; caller: string | undefined },
): OtherEvent[] {
  const reports: OtherEvent[] = [];
  function tell<Type extends EventType>(wallet: string | undefined, type: Type, data: EventData<Type>): void {
    if (wallet === undefined) return;
    const executionId = 'execution_id' in data ? { execution_id: data.execution_id } : {};
    reports.push({ wallet, type, data: JSON.stringify(data), ...executionId });
  }
  const agent_id = fields.listing;
  const dispute = (type: 'dispute.opened' | 'dispute.resolved', outcome: EventData<'dispute.opened'>['outcome']) => {
    const amount_to_caller_usdc = toUsdc(BigInt(fields.amountToCaller ?? 0));
    const shared = { execution_id: uuidOf(fields), agent_id, outcome, amount_to_caller_usdc };
    tell(caller, type, { ...shared, role: 'caller' });
    tell(creator, type, { ...shared, role: 'creator' });
  };
  if (name === 'DisputeOpened') dispute('dispute.opened', 'open');
  if (name === 'DisputeLapsed') dispute('dispute.resolved', 'lapsed');
  if (name === 'ListingStatusChanged' && fields.status === PAUSED) tell(creator, 'agent.paused', { agent_id });
  if (name === 'SigningKeyRotated')
    tell(creator, 'agent.signing_key_changed', { agent_id, signing_key: fields.signingKey! });
  if (name === 'DisputeResolved') {
    dispute('dispute.resolved', fields.upheld ? 'upheld' : 'rejected');
    // A slash pauses an agent whose collateral no longer reaches what its price requires.
    if (fields.upheld && fields.listingStatus === PAUSED) {
      const left = BigInt(fields.deposited!) - BigInt(fields.slashed!);
      tell(creator, 'agent.collateral_low', { agent_id, collateral_usdc: toUsdc(left) });
      tell(creator, 'agent.paused', { agent_id });
    }
  }
  return reports;
}
