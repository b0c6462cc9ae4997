/** Random choices for tests that compare two implementations. */

/** A generator. The same seed gives the same numbers. */
export function createRandom(seed: number) {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return { below, pick: <One>(all: readonly One[]): One => all[below(all.length)] as One };
}
export type Random = ReturnType<typeof createRandom>;
