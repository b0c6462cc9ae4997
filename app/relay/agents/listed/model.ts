/**
 * All listings in memory with what lists show of them, ordered in every way that lists are: a page costs the same wherever
 * it is, and a filter one walk over small numbers.
 */
import { isStandardTag, STANDARD_TAGS, tagMask } from '../../../sdk/wire/metadata.ts';
import type { AgentsQuery } from '../../../sdk/wire/wire.ts';
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
  // What filters ask is apart from the rest, so that a walk over all touches little memory.
  const masks: number[] = [];
  const totals: number[] = [];
  const rates: number[] = [];
  const times: number[] = [];
  const prices: bigint[] = [];
  const badges: number[] = [];
  const creatorIds: number[] = [];
  /** 1 where the agent is in lists. */
  const shown: number[] = [];
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
    masks[at] = agent.tagMask;
    totals[at] = agent.totalExecutions;
    rates[at] = agent.successRate;
    times[at] = agent.listedAt;
    prices[at] = agent.price;
    shown[at] = Number(isShown(agent));
    badges[at] = Number(agent.verified);
    let id = idOfCreator.get(agent.creator);
    if (id === undefined) {
      id = idOfCreator.size;
      idOfCreator.set(agent.creator, id);
    }
    creatorIds[at] = id;
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
      shown[at] = 0;
      placeOfListing.delete(listing);
      free.push(at);
    }
  }

  /** Orders what was put so far, in turns; what comes later is put in its place at once. */
  async function sort(): Promise<void> {
    const pause = createTurns();
    const places: number[] = [];
    for (const [at, isIn] of shown.entries()) {
      if (isIn === 1) places.push(at);
      if (at % 1_000 === 0) await pause();
    }
    // What is equal stays in this order, which they mostly come in.
    const byAddress = await sortInTurns(places, byListing);
    for (const sort of sorts) orders[sort] = await sortInTurns(byAddress, keys[sort]);
    for (const kept of [words, creatorWords, customTags]) await kept.sort();
    isSorted = true;
  }

  /** Those of which every word begins one of theirs, or a standard tag. */
  function markWords(text: string): Uint8Array {
    const all = leaveLongest(wordsOf(text));
    const marks = new Uint8Array(agents.length).fill(all.length === 0 ? 0 : 1);
    for (const word of all) {
      const has = new Uint8Array(agents.length);
      words.markBeginning(word, has);
      const mask = tagMask(STANDARD_TAGS.filter((tag) => tag.startsWith(word)));
      for (let at = 0; at < marks.length; at += 1) {
        if (has[at] === 0 && ((masks[at] as number) & mask) === 0) marks[at] = 0;
      }
    }
    return marks;
  }

  /** By words, by their own address or by their creator's. */
  function markAsked(text: string): Uint8Array {
    const marks = markWords(text);
    const own = placeOfListing.get(text);
    if (own !== undefined) marks[own] = 1;
    const creator = idOfCreator.get(text);
    if (creator !== undefined) {
      for (let at = 0; at < marks.length; at += 1) if (creatorIds[at] === creator) marks[at] = 1;
    }
    return marks;
  }

  /** Marks those that the query asks for; null where it asks for all. */
  function markMatching(query: AgentsQuery): Uint8Array | null {
    const tags = query.tags ?? [];
    const mask = tagMask(tags.filter(isStandardTag));
    const { verified_only: verified, min_executions: least = 0, min_success_rate: rate = 0 } = query;
    const custom = tags.filter((tag) => !isStandardTag(tag));
    const isPlain = mask === 0 && !verified && least === 0 && rate === 0 && query.creator === undefined;
    if (isPlain && custom.length === 0 && query.q === undefined) return null;
    const marks = query.q === undefined ? new Uint8Array(agents.length).fill(1) : markAsked(query.q);
    for (const tag of custom) {
      const having = new Uint8Array(agents.length);
      for (const at of customTags.having(tag)) having[at] = 1;
      for (let at = 0; at < marks.length; at += 1) (marks[at] as number) &= having[at] as number;
    }
    if (isPlain) return marks;
    const creator = query.creator === undefined ? null : (idOfCreator.get(query.creator) ?? -1);
    for (let at = 0; at < marks.length; at += 1) {
      const isAsked =
        ((masks[at] as number) & mask) === mask &&
        (totals[at] as number) >= least &&
        (rates[at] as number) >= rate &&
        (!verified || badges[at] === 1) &&
        (creator === null || creatorIds[at] === creator);
      if (!isAsked) marks[at] = 0;
    }
    return marks;
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
      const marks = markMatching(query);
      const end = query.offset + query.limit;
      if (!marks) return { agents: order.slice(query.offset, end).map(agentAt), total: order.length };
      let total = 0;
      for (let at = 0; at < marks.length; at += 1) {
        (marks[at] as number) &= shown[at] as number;
        total += marks[at] as number;
      }
      // Only as far as the page: agents are strewn over memory in this order.
      const found: ListedAgent[] = [];
      let passed = 0;
      for (let next = 0; passed < Math.min(end, total); next += 1) {
        const at = order[next] as number;
        if (marks[at] === 0) continue;
        if (passed >= query.offset) found.push(agentAt(at));
        passed += 1;
      }
      return { agents: found, total };
    },
    /** Listings of whatever status by creators whose names have all these words. */
    ofCreatorsNamed(text: string): ListedAgent[] {
      const all = leaveLongest(wordsOf(text));
      const hits = all.map((word) => {
        const marks = new Uint8Array(agents.length);
        creatorWords.markBeginning(word, marks);
        return marks;
      });
      if (hits.length === 0) return [];
      return agents.filter((agent, at): agent is ListedAgent => agent !== null && hits.every((hit) => hit[at] === 1));
    },
  };
}

/** Without those that another begins with: whoever has the longer one has them. */
function leaveLongest(words: string[]): string[] {
  return words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)));
}
