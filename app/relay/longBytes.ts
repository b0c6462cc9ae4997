/** Bytes by the megabyte, such as creators' answers, and a queue for the work on them. */

/** Consecutive bytes in parts, as received or made: joining them would copy them. */
export type Body = readonly Uint8Array[];

export const lengthOf = (body: Body): number => body.reduce((sum, { length }) => sum + length, 0);

/** Runs functions in order of arrival, at most `places` in parallel. */
export function createQueue(places: number) {
  let taken = 0;
  const waiting: (() => void)[] = [];
  return async <Answer>(run: () => Promise<Answer>): Promise<Answer> => {
    if (taken < places) taken += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else taken -= 1;
    }
  };
}
