/** Measures how long the stages of a call take. */

/** Receives how long a stage took, milliseconds. `chain` and `creator` are time spent waiting for others. */
export type Observe = (
  stage: 'chain' | 'creator' | 'deposit' | 'open' | 'dispatch' | 'verify' | 'settle' | 'refund',
  ms: number,
) => void;

/** Runs `run` and reports how long it took. */
export async function timed<T>(
  observe: Observe | undefined,
  stage: Parameters<Observe>[0],
  run: () => Promise<T>,
): Promise<T> {
  if (!observe) return run();
  const started = performance.now();
  try {
    return await run();
  } finally {
    observe(stage, performance.now() - started);
  }
}
