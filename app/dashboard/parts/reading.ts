/** A typed text that is parsed: its value, or its fault in words. */
export type Reading<T> = { value: T; error: null } | { value: undefined; error: string };

export function read<T>(parse: () => T): Reading<T> {
  try {
    return { value: parse(), error: null };
  } catch (error) {
    return { value: undefined, error: (error as Error).message };
  }
}
