/**
 * What filters ask of agents, apart from the rest and without pointers: each thing that is asked is a walk over one column,
 * with no branch, because about as many pass as do not. Where words or custom tags are asked for that few agents have, only
 * those are looked at. A question allocates nothing of the size of all agents: to collect that would take longer than to
 * answer.
 */

/** Agents that there is room for at first; it doubles. */
const FIRST_ROOM = 1_024;

/** Of all agents, at most one of so many. */
const FEW = 8;

/** Met by the agents of any of these lists, and by those with a standard tag of the mask. */
export interface Condition {
  lists: readonly (readonly number[])[];
  mask: number;
}

/** What is asked of an agent beside words and custom tags. */
export interface Filter {
  /** Standard tags, all of them. */
  mask: number;
  leastExecutions: number;
  leastRate: number;
  isVerified: boolean;
  /** Null where any will do. */
  creator: number | null;
}

/** What is kept of an agent. */
interface Asked {
  tagMask: number;
  totalExecutions: number;
  successRate: number;
  verified: boolean;
}

/** Agents and creators are named by small numbers. */
export function createFilters() {
  let room = FIRST_ROOM;
  let masks = new Uint32Array(room);
  let creators = new Uint32Array(room);
  let totals = new Float64Array(room);
  let rates = new Float64Array(room);
  let badges = new Uint8Array(room);
  /** 1 where the agent is in lists. */
  let shown = new Uint8Array(room);
  /** Of the question that is being answered: 1 where the agent has passed, and where it meets one condition of it. */
  let marks = new Uint8Array(room);
  let met = new Uint8Array(room);
  /** One past the last agent. */
  let end = 0;

  function grow(): void {
    room *= 2;
    const enlarge = <Column extends Uint8Array | Uint32Array | Float64Array>(
      column: Column,
      larger: Column,
    ): Column => {
      larger.set(column);
      return larger;
    };
    masks = enlarge(masks, new Uint32Array(room));
    creators = enlarge(creators, new Uint32Array(room));
    totals = enlarge(totals, new Float64Array(room));
    rates = enlarge(rates, new Float64Array(room));
    badges = enlarge(badges, new Uint8Array(room));
    shown = enlarge(shown, new Uint8Array(room));
    marks = new Uint8Array(room);
    met = new Uint8Array(room);
  }

  function meet({ lists, mask }: Condition): void {
    met.fill(0, 0, end);
    for (const list of lists) add(met, list);
    if (mask !== 0) addAny(met, masks, mask, end);
  }

  /** Leaves marked those that meet all of them. */
  function keepMeeting(conditions: readonly Condition[]): void {
    for (const condition of conditions) {
      meet(condition);
      keepBoth(marks, met, end);
    }
  }

  /** As `mark`, looking at no agent but those of the lists. */
  function markFew(lists: Condition['lists'], others: readonly Condition[], filter: Filter): number {
    const { mask, leastExecutions, leastRate, isVerified, creator } = filter;
    const passes = (at: number) =>
      shown[at] === 1 &&
      ((masks[at] as number) & mask) === mask &&
      (creator === null || creators[at] === creator) &&
      (totals[at] as number) >= leastExecutions &&
      (rates[at] as number) >= leastRate &&
      (!isVerified || badges[at] === 1);
    let few: number[] = [];
    marks.fill(0, 0, end);
    for (const list of lists) {
      for (const at of list) {
        if (marks[at] === 0 && passes(at)) few.push(at);
        marks[at] = 1;
      }
    }
    for (const other of others) {
      meet(other);
      few = few.filter((at) => met[at] === 1);
    }
    marks.fill(0, 0, end);
    for (const at of few) marks[at] = 1;
    return few.length;
  }

  return {
    write(at: number, agent: Asked, creator: number, isShown: boolean): void {
      while (at >= room) grow();
      end = Math.max(end, at + 1);
      masks[at] = agent.tagMask;
      creators[at] = creator;
      totals[at] = agent.totalExecutions;
      rates[at] = agent.successRate;
      badges[at] = Number(agent.verified);
      shown[at] = Number(isShown);
    },
    isShown: (at: number): boolean => shown[at] === 1,
    hide(at: number): void {
      shown[at] = 0;
    },
    ofCreator(creator: number): number[] {
      const found: number[] = [];
      for (let at = 0; at < end; at += 1) if (creators[at] === creator) found.push(at);
      return found;
    },
    /** Marks those that meet all conditions, in lists or not. */
    markMeeting(conditions: readonly Condition[]): void {
      marks.fill(1, 0, end);
      keepMeeting(conditions);
    },
    /** Marks those in lists that meet all conditions and pass; returns how many they are. */
    mark(conditions: readonly Condition[], filter: Filter): number {
      const [first, ...others] = conditions.toSorted((one, other) => sizeOf(one) - sizeOf(other));
      if (first && sizeOf(first) * FEW <= end) return markFew(first.lists, others, filter);
      const { mask, leastExecutions, leastRate, isVerified, creator } = filter;
      marks.set(shown.subarray(0, end));
      keepMeeting(conditions);
      if (mask !== 0) keepAll(marks, masks, mask, end);
      if (creator !== null) keepEqual(marks, creators, creator, end);
      if (leastExecutions > 0) keepLeast(marks, totals, leastExecutions, end);
      if (leastRate > 0) keepLeast(marks, rates, leastRate, end);
      if (isVerified) keepBoth(marks, badges, end);
      return count(marks, end);
    },
    isMarked: (at: number): boolean => marks[at] === 1,
  };
}

/** The mask is looked for in all. */
function sizeOf({ lists, mask }: Condition): number {
  return mask === 0 ? lists.reduce((sum, list) => sum + list.length, 0) : Number.POSITIVE_INFINITY;
}

// Columns are handed in, so that the compiler knows that they stay the same while it walks.

function add(marks: Uint8Array, list: readonly number[]): void {
  for (let index = 0; index < list.length; index += 1) marks[list[index] as number] = 1;
}

function addAny(marks: Uint8Array, masks: Uint32Array, mask: number, end: number): void {
  for (let at = 0; at < end; at += 1) (marks[at] as number) |= Number(((masks[at] as number) & mask) !== 0);
}

function keepAll(marks: Uint8Array, masks: Uint32Array, mask: number, end: number): void {
  for (let at = 0; at < end; at += 1) (marks[at] as number) &= Number(((masks[at] as number) & mask) === mask);
}

function keepEqual(marks: Uint8Array, values: Uint32Array, value: number, end: number): void {
  for (let at = 0; at < end; at += 1) (marks[at] as number) &= Number(values[at] === value);
}

function keepLeast(marks: Uint8Array, values: Float64Array, least: number, end: number): void {
  for (let at = 0; at < end; at += 1) (marks[at] as number) &= Number((values[at] as number) >= least);
}

/** Four marks at once: a column's room is a multiple of four. */
const inFours = ({ buffer }: Uint8Array, end: number) => new Uint32Array(buffer, 0, Math.ceil(end / 4));

function keepBoth(marks: Uint8Array, others: Uint8Array, end: number): void {
  const [fours, otherFours] = [inFours(marks, end), inFours(others, end)];
  for (let at = 0; at < fours.length; at += 1) (fours[at] as number) &= otherFours[at] as number;
}

/** Multiplied so, a number's four bytes are added up in the highest. */
function count(marks: Uint8Array, end: number): number {
  const fours = inFours(marks, end);
  let total = 0;
  for (let at = 0; at < fours.length; at += 1) total += Math.imul(fours[at] as number, 0x01_01_01_01) >>> 24;
  return total;
}
