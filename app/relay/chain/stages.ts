/** How long the stages of a call take, for what measures them. */

/** Is told how long a stage took, milliseconds; `chain` and `creator` are waiting for others. */
export type Observe = (
  stage: 'chain' | 'creator' | 'open' | 'dispatch' | 'verify' | 'settle' | 'refund',
  ms: number,
) => void;

/** Runs something and tells how long it took. */
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
