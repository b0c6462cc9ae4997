/** What a key may spend and do, with who enforces it. */
import { type Reach, spendWords } from './words.ts';

export function SpendWords({ limits, reach }: { limits: Parameters<typeof spendWords>[0]; reach: Reach }) {
  const [chain, service] = spendWords(limits, reach);
  return (
    <>
      <p className="font-medium tabular-nums">{chain}</p>
      <p>{service}</p>
    </>
  );
}
