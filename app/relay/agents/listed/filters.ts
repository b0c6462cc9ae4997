/**
 * What filters ask of agents, apart from the rest and without pointers, so that a walk over all touches little memory. Where
 * words or custom tags are asked for, only those that have them are walked over. A question allocates nothing of the
 * size of all agents: to collect that would take longer than to answer.
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
  /** Of the question that is being answered. */
  let marks = new Uint8Array(room);
  let picked = new Uint32Array(room);
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
    picked = new Uint32Array(room);
  }

  const clearMarks = () => marks.fill(0, 0, end);

  /** Picks those of the lists; returns how many they are. */
  function pick(lists: Condition['lists']): number {
    clearMarks();
    let count = 0;
    for (const list of lists) {
      for (const at of list) {
        if (marks[at] === 1) continue;
        marks[at] = 1;
        picked[count] = at;
        count += 1;
      }
    }
    return count;
  }

  /** Leaves those that meet the condition, of the first `count` picked ones or of all. */
  function narrow({ lists, mask }: Condition, count: number | null): number {
    clearMarks();
    for (const list of lists) for (const at of list) marks[at] = 1;
    let kept = 0;
    for (let index = 0; index < (count ?? end); index += 1) {
      const at = count === null ? index : (picked[index] as number);
      if (marks[at] === 0 && ((masks[at] as number) & mask) === 0) continue;
      picked[kept] = at;
      kept += 1;
    }
    return kept;
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
    /** Those that meet all conditions, none where there are none; good until the next question. */
    meeting(conditions: readonly Condition[]): Uint32Array {
      // The fewer there are at first, the less is left to do.
      const [first, ...others] = conditions.toSorted((one, other) => sizeOf(one) - sizeOf(other));
      if (!first) return picked.subarray(0, 0);
      // Few are picked one by one; many in the order of their memory.
      let count = sizeOf(first) * FEW <= end ? pick(first.lists) : narrow(first, null);
      for (const condition of others) count = narrow(condition, count);
      return picked.subarray(0, count);
    },
    /** Marks those, of all where none are named, that are in lists and pass; returns how many they are. */
    mark(among: Uint32Array | null, filter: Filter): number {
      const { mask, leastExecutions, leastRate, isVerified, creator } = filter;
      clearMarks();
      const needless = Number(!isVerified);
      let total = 0;
      const count = among ? among.length : end;
      for (let index = 0; index < count; index += 1) {
        const at = among ? (among[index] as number) : index;
        if (((masks[at] as number) & mask) !== mask) continue;
        if (creator !== null && creators[at] !== creator) continue;
        // Without a branch, because about as many pass as do not.
        const isAsked =
          (shown[at] as number) &
          Number((totals[at] as number) >= leastExecutions) &
          Number((rates[at] as number) >= leastRate) &
          ((badges[at] as number) | needless);
        marks[at] = isAsked;
        total += isAsked;
      }
      return total;
    },
    isMarked: (at: number): boolean => marks[at] === 1,
  };
}

/** The mask is looked for in all. */
function sizeOf({ lists, mask }: Condition): number {
  return mask === 0 ? lists.reduce((sum, list) => sum + list.length, 0) : Number.POSITIVE_INFINITY;
}
