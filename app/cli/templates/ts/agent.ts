/** The work that callers pay for. */
import { type CreatorOptions, ExecutionFailure } from '@agent-marketplace/sdk/creator';

/** The marketplace has checked `parameters` against `input_schema` of agent.json. */
export const execute: CreatorOptions['execute'] = ({ parameters }) => {
  const { text, top = 10 } = parameters as { text: string; top?: number };
  const counts = new Map<string, number>();
  // Marks belong to their letters, and one text may write é in two ways.
  const plain = text.normalize('NFC').toLowerCase();
  for (const word of plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  // The caller reads this reason, and gets the price back.
  if (counts.size === 0) throw new ExecutionFailure('the text has no words');
  const words = [...counts].sort(([, a], [, b]) => b - a).map(([word, count]) => ({ word, count }));
  return { result: JSON.stringify({ words: words.slice(0, top) }) };
};
