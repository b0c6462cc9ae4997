/**
 * All listings in memory with what lists show of them, ordered in every way that lists are: a page costs the same wherever
 * it is, and a filter one walk over small numbers.
 */
import { isStandardTag, STANDARD_TAGS, tagMask } from '../../../sdk/wire/metadata.ts';
import type { AgentsQuery } from '../../../sdk/wire/wire.ts';
import { type Condition, createFilters } from './filters.ts';
import { createTurns, placeOf, sortInTurns } from './turns.ts';
import { createWords, wordsOf } from './words.ts';

/** What lists show of a document. */
export interface Description {
  name: string;
  tagline: string;
  display_name: string;
  custom_tags: string[];
}

export interface ListedAgent {
  listing: string;
  creator: string;
  verified: boolean;
  status: 'active' | 'paused' | 'delisted';
  price: bigint;
  tagMask: number;
  /** Unix seconds. */
  listedAt: number;
  totalExecutions: number;
  successRate: number;
  averageMs: number;
  metadataHash: string;
  /** Null while its document is not here: then it is in no list. */
  description: Description | null;
}

type Sort = AgentsQuery['sort'];
type Compare = (one: number, other: number) => number;

export type Model = ReturnType<typeof createModel>;

/** Agents are named by their places in `agents`, which others take over once they are free. */
export function createModel() {
  const agents: (ListedAgent | null)[] = [];
  const free: number[] = [];
  const placeOfListing = new Map<string, number>();
  const filters = createFilters();
  // What orders ask is apart from the rest too.
  const totals: number[] = [];
  const rates: number[] = [];
  const times: number[] = [];
  const prices: bigint[] = [];
  const idOfCreator = new Map<string, number>();
  const words = createWords();
  const customTags = createWords();
  const creatorWords = createWords();

  const agentAt = (place: number) => agents[place] as ListedAgent;
  const byListing: Compare = (one, other) => (agentAt(one).listing < agentAt(other).listing ? -1 : 1);
  const price = (at: number) => prices[at] as bigint;
  const byPrice: Compare = (one, other) => (price(one) < price(other) ? -1 : price(one) > price(other) ? 1 : 0);
  const descending =
    (values: number[]): Compare =>
    (one, other) =>
      (values[other] as number) - (values[one] as number);
  /** Without a word of ties. */
  const keys: Record<Sort, Compare> = {
    total_executions: descending(totals),
    success_rate: descending(rates),
    price_asc: byPrice,
    price_desc: (one, other) => byPrice(other, one),
    created_at: descending(times),
  };
  const sorts = Object.keys(keys) as Sort[];
  const orders = Object.fromEntries(sorts.map((sort) => [sort, [] as number[]])) as Record<Sort, number[]>;
  /** Whether agents are put in their places as they come; before that, all at once. */
  let isSorted = false;

  function isShown(agent: ListedAgent): boolean {
    return agent.status === 'active' && agent.description !== null;
  }

  function describe(place: number, { description }: ListedAgent, change: 'add' | 'remove'): void {
    if (!description) return;
    const { name, tagline, display_name, custom_tags } = description;
    for (const word of wordsOf([name, tagline, display_name, ...custom_tags].join(' '))) words[change](word, place);
    for (const word of wordsOf(display_name)) creatorWords[change](word, place);
    for (const tag of custom_tags) customTags[change](tag, place);
  }

  function place(at: number, sort: Sort, change: 'add' | 'remove'): void {
    const compare: Compare = (one, other) => (one === other ? 0 : keys[sort](one, other) || byListing(one, other));
    const where = placeOf(orders[sort], at, compare);
    if (change === 'add') orders[sort].splice(where, 0, at);
    else orders[sort].splice(where, 1);
  }

  function write(at: number, agent: ListedAgent): void {
    agents[at] = agent;
    totals[at] = agent.totalExecutions;
    rates[at] = agent.successRate;
    times[at] = agent.listedAt;
    prices[at] = agent.price;
    let id = idOfCreator.get(agent.creator);
    if (id === undefined) {
      id = idOfCreator.size;
      idOfCreator.set(agent.creator, id);
    }
    filters.write(at, agent, id, isShown(agent));
  }

  /** Sorts in which the agent does not stand where it stood. */
  function movedIn(before: ListedAgent | null, after: ListedAgent | null): Sort[] {
    const wasShown = before !== null && isShown(before);
    if (wasShown !== (after !== null && isShown(after))) return sorts;
    if (!wasShown || !after) return [];
    const key = (agent: ListedAgent): Record<Sort, number | bigint> => ({
      total_executions: agent.totalExecutions,
      success_rate: agent.successRate,
      price_asc: agent.price,
      price_desc: agent.price,
      created_at: agent.listedAt,
    });
    const [was, is] = [key(before), key(after)];
    return sorts.filter((sort) => was[sort] !== is[sort]);
  }

  /** Takes the listing as it is now; null where there is none any more. */
  function put(listing: string, after: ListedAgent | null): void {
    const known = placeOfListing.get(listing);
    const before = known === undefined ? null : agentAt(known);
    if (!before && !after) return;
    const at = known ?? free.pop() ?? agents.length;
    const moved = isSorted ? movedIn(before, after) : [];
    const isDescribedAnew = before?.metadataHash !== after?.metadataHash || before?.description !== after?.description;
    if (before && isShown(before)) for (const sort of moved) place(at, sort, 'remove');
    if (before && isDescribedAnew) describe(at, before, 'remove');
    if (after) {
      write(at, after);
      placeOfListing.set(listing, at);
      if (isDescribedAnew) describe(at, after, 'add');
      if (isShown(after)) for (const sort of moved) place(at, sort, 'add');
    } else {
      agents[at] = null;
      filters.hide(at);
      placeOfListing.delete(listing);
      free.push(at);
    }
  }

  /** Orders what was put so far, in turns; what comes later is put in its place at once. */
  async function sort(): Promise<void> {
    const pause = createTurns();
    const places: number[] = [];
    for (const at of agents.keys()) {
      if (filters.isShown(at)) places.push(at);
      if (at % 1_000 === 0) await pause();
    }
    // What is equal stays in this order, which they mostly come in.
    const byAddress = await sortInTurns(places, byListing);
    for (const sort of sorts) orders[sort] = await sortInTurns(byAddress, keys[sort]);
    for (const kept of [words, creatorWords, customTags]) await kept.sort();
    isSorted = true;
  }

  /** Every word begins one of theirs, or a standard tag; or the text is their own address or their creator's. */
  function conditionsOf(text: string): Condition[] {
    const own = placeOfListing.get(text);
    const creator = idOfCreator.get(text);
    const addressed = [
      ...(own === undefined ? [] : [own]),
      ...(creator === undefined ? [] : filters.ofCreator(creator)),
    ];
    const asked = leaveLongest(wordsOf(text));
    if (asked.length === 0) return [{ lists: [addressed], mask: 0 }];
    return asked.map((word) => ({
      lists: [...words.beginning(word), addressed],
      mask: tagMask(STANDARD_TAGS.filter((tag) => tag.startsWith(word))),
    }));
  }

  /** Marks those that the query asks for and returns how many they are; null where it asks for all. */
  function markMatching(query: AgentsQuery): number | null {
    const { q, tags = [], verified_only: isVerified, min_executions: least = 0, min_success_rate: rate = 0 } = query;
    const mask = tagMask(tags.filter(isStandardTag));
    const custom = tags.filter((tag) => !isStandardTag(tag));
    const isPlain = mask === 0 && !isVerified && least === 0 && rate === 0 && query.creator === undefined;
    if (isPlain && custom.length === 0 && q === undefined) return null;
    const conditions = [
      ...(q === undefined ? [] : conditionsOf(q)),
      ...custom.map((tag) => ({ lists: [customTags.having(tag)], mask: 0 })),
    ];
    return filters.mark(conditions, {
      mask,
      leastExecutions: least,
      leastRate: rate,
      isVerified,
      creator: query.creator === undefined ? null : (idOfCreator.get(query.creator) ?? -1),
    });
  }

  return {
    put,
    sort,
    /** Listings of whatever status, in no order; null where one was. */
    all: (): readonly (ListedAgent | null)[] => agents,
    get: (listing: string): ListedAgent | undefined => {
      const at = placeOfListing.get(listing);
      return at === undefined ? undefined : agentAt(at);
    },
    /** The active agents with a description that match, and how many they are. */
    page(query: AgentsQuery): { agents: ListedAgent[]; total: number } {
      const order = orders[query.sort];
      const total = markMatching(query);
      const end = query.offset + query.limit;
      if (total === null) return { agents: order.slice(query.offset, end).map(agentAt), total: order.length };
      // Only as far as the page: agents are strewn over memory in this order.
      const found: ListedAgent[] = [];
      let passed = 0;
      for (let next = 0; next < order.length && passed < Math.min(end, total); next += 1) {
        const at = order[next] as number;
        if (!filters.isMarked(at)) continue;
        if (passed >= query.offset) found.push(agentAt(at));
        passed += 1;
      }
      return { agents: found, total };
    },
    /** Listings of whatever status by creators whose names have all these words. */
    ofCreatorsNamed(text: string): ListedAgent[] {
      const conditions = leaveLongest(wordsOf(text)).map((word) => ({ lists: creatorWords.beginning(word), mask: 0 }));
      if (conditions.length === 0) return [];
      filters.markMeeting(conditions);
      return agents.filter((agent, at): agent is ListedAgent => agent !== null && filters.isMarked(at));
    },
  };
}

/** Without those that another begins with: whoever has the longer one has them. */
function leaveLongest(words: string[]): string[] {
  return words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)));
}
