/**
 * For a field of limited length: the hint with a counter, and a fault as soon as the text is too long. The text is never
 * cut: whoever pastes a long one would not notice.
 */
import { formatCount } from './values.tsx';

export const limited = (text: string, most: number, hint: string, error?: string) => ({
  hint: `${hint} ${formatCount(text.length)} of ${formatCount(most)} characters.`,
  error:
    text.length > most
      ? `Too long by ${formatCount(text.length - most)}: at most ${formatCount(most)} characters.`
      : (error ?? null),
});
