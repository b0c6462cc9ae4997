/** What a key may spend and do, with who enforces it. */
import { type Reach, type SpendLimits, spendWords } from './words.ts';

export function SpendWords({ limits, reach }: { limits: SpendLimits; reach: Reach }) {
  const { chain, unlimited, service } = spendWords(limits, reach);
  return (
    <>
      <p className="font-medium tabular-nums">
        The chain enforces: {chain} {unlimited}
      </p>
      <p>{service}</p>
    </>
  );
}
