/** A typed text that is parsed, limited in length, or sought once typing pauses. */
import { formatCount } from './values.tsx';
export type Reading<T> = { value: T; error: null } | { value: undefined; error: string };

export function read<T>(parse: () => T): Reading<T> {
  try {
    return { value: parse(), error: null };
  } catch (error) {
    return { value: undefined, error: (error as Error).message };
  }
}

/** Null if it is short enough. */
export const faultOfLength = (text: string, most: number): string | null =>
  text.length > most
    ? `Too long by ${formatCount(text.length - most)}: at most ${formatCount(most)} characters.`
    : null;

/** The hint with a counter, and a fault as soon as the text is too long. */
export const limited = (text: string, most: number, hint: string, error?: string) => ({
  hint: `${hint} ${formatCount(text.length)} of ${formatCount(most)} characters.`,
  error: faultOfLength(text, most) ?? error ?? null,
});

const PAUSE_MS = 200;

/** Rejects if typing goes on: the query has another key then, and its `signal` is aborted. */
export async function pauseInTyping(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  signal.throwIfAborted();
}
