/** A reading that many may ask for: the node is asked once for all of them, however many there are. */

/** An age that nobody who reads a deployment's terms or readiness minds, milliseconds. */
const MAX_AGE_MS = 2_000;

/**
 * `read`, asked again only when the last time it began is 2 s ago. A failure is shared as long as a value, so that a node
 * that does not answer is not asked all the more.
 */
export function shareReading<Value>(read: () => Promise<Value>, now: () => number): () => Promise<Value> {
  let last: { begunMs: number; value: Promise<Value> } | undefined;
  return () => {
    const nowMs = now();
    // A clock that was set back must not make a value live longer.
    if (!last || nowMs < last.begunMs || nowMs >= last.begunMs + MAX_AGE_MS) last = { begunMs: nowMs, value: read() };
    return last.value;
  };
}
