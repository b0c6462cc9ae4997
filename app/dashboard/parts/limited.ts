/** Fields of limited length. A text is never cut: a person who pastes a long one would not notice. */
import { formatCount } from './values.tsx';

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
