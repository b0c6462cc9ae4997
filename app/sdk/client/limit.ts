/** Time limits and signals of requests, with two faults of platforms avoided. */

/** Calls `act` after this time, or never if it is null or too long for a timer: over 2^31 - 1 ms, one fires at once. */
export function startTimer(ms: number | null, act: () => void): ReturnType<typeof setTimeout> | undefined {
  return ms !== null && ms < 2 ** 31 ? setTimeout(act, ms) : undefined;
}

/** Each signal of `anyOf` keeps its sources here. */
const SOURCES = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * A signal that aborts with the first of these. AbortSignal.any alone does not keep its sources: Node 20 may collect an
 * AbortSignal.timeout among them, which then never aborts.
 */
export function anyOf(...given: (AbortSignal | null | undefined)[]): AbortSignal {
  const signals = given.filter((signal) => signal != null);
  const any = AbortSignal.any(signals);
  SOURCES.set(any, signals);
  return any;
}
