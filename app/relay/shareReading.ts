/** A reading that many requests share: the node is asked once for all of them. */

/** Maximum age of a shared reading, acceptable for a deployment's terms and readiness, milliseconds. */
const MAX_AGE_MS = 2_000;

/**
 * `read`, called again only if its last start was `maxAgeMs` ago. A failure is shared for the same time, so that a
 * silent node gets no extra requests.
 */
export function shareReading<Value>(
  read: () => Promise<Value>,
  now: () => number,
  maxAgeMs = MAX_AGE_MS,
): () => Promise<Value> {
  let last: { begunMs: number; value: Promise<Value> } | undefined;
  return () => {
    const nowMs = now();
    // A clock that was set back must not extend the life of a value.
    if (!last || nowMs < last.begunMs || nowMs >= last.begunMs + maxAgeMs) last = { begunMs: nowMs, value: read() };
    return last.value;
  };
}
