/** Long work in short turns, so that no request waits for it. */
import { setImmediate } from 'node:timers/promises';

/** How long one turn may hold the event loop, milliseconds. */
const TURN_MS = 4;

/** Something to await between small pieces of work: it lets others go first once a turn is over. */
export function createTurns(): () => Promise<void> | undefined {
  let begun = performance.now();
  return () => {
    if (performance.now() - begun < TURN_MS) return undefined;
    return setImmediate().then(() => {
      begun = performance.now();
    });
  };
}

/** What is sorted at once, and merged between two looks at the clock. */
const PIECE = 512;

/** The same items in order, in turns. */
export async function sortInTurns<Item>(items: Item[], compare: (one: Item, other: Item) => number): Promise<Item[]> {
  const pause = createTurns();
  let sorted: Item[] = [];
  for (let at = 0; at < items.length; at += PIECE) {
    for (const item of items.slice(at, at + PIECE).sort(compare)) sorted.push(item);
    await pause();
  }
  for (let width = PIECE; width < items.length; width *= 2) {
    const merged: Item[] = [];
    for (let at = 0; at < items.length; at += 2 * width) {
      const middle = Math.min(at + width, items.length);
      const end = Math.min(at + 2 * width, items.length);
      let left = at;
      let right = middle;
      const isInOrder = middle === end || compare(sorted[middle - 1] as Item, sorted[middle] as Item) <= 0;
      while (left < middle || right < end) {
        const isLeft =
          right >= end || (left < middle && (isInOrder || compare(sorted[left] as Item, sorted[right] as Item) <= 0));
        merged.push(sorted[isLeft ? left++ : right++] as Item);
        if (merged.length % PIECE === 0) await pause();
      }
    }
    sorted = merged;
  }
  return sorted;
}

/** Where the item stands in a sorted list, or would stand. */
export function placeOf<Item>(sorted: Item[], item: Item, compare: (one: Item, other: Item) => number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(sorted[middle] as Item, item) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
