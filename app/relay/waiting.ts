/** Waiting with a time limit. */

/** Resolves when the promise has settled either way, or after `ms`. */
export async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise.then(nothing, nothing), limit]);
  clearTimeout(timer);
}

function nothing(): void {}
