/** Which agents have a word, or one that begins so: a full-text index in memory, the same whatever the database is. */
import { placeOf, sortInTurns } from './turns.ts';

/** The words of a text in one form for all ways to write them: without case, accents, and what separates them. */
export function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return [...new Set(plain.match(/[\p{L}\p{N}]+/gu) ?? [])];
}

/** Words by code units: all that begin alike stand together. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

export type Words = ReturnType<typeof createWords>;

/** Agents are named by small numbers. */
export function createWords() {
  const agentsOf = new Map<string, number[]>();
  let sorted: string[] = [];
  /** Whether `sorted` follows `agentsOf`. */
  let isSorted = false;

  return {
    add(word: string, agent: number): void {
      const agents = agentsOf.get(word);
      if (agents) {
        agents.push(agent);
        return;
      }
      agentsOf.set(word, [agent]);
      if (isSorted) sorted.splice(placeOf(sorted, word, compare), 0, word);
    },
    remove(word: string, agent: number): void {
      const agents = agentsOf.get(word);
      const at = agents?.indexOf(agent) ?? -1;
      if (!agents || at < 0) return;
      const last = agents.pop() as number;
      if (at < agents.length) agents[at] = last;
      if (agents.length > 0) return;
      agentsOf.delete(word);
      if (isSorted) sorted.splice(placeOf(sorted, word, compare), 1);
    },
    /** To be awaited once after the first many words: later ones are put in their places. */
    async sort(): Promise<void> {
      sorted = await sortInTurns([...agentsOf.keys()], compare);
      isSorted = true;
    },
    /** Those that have this very word. */
    having(word: string): readonly number[] {
      return agentsOf.get(word) ?? [];
    },
    /** Those that have a word which begins so, a list for each word. */
    beginning(beginning: string): (readonly number[])[] {
      const lists: (readonly number[])[] = [];
      for (let at = placeOf(sorted, beginning, compare); sorted[at]?.startsWith(beginning); at += 1) {
        lists.push(agentsOf.get(sorted[at] as string) ?? []);
      }
      return lists;
    },
  };
}
