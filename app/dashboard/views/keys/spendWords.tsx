/** What a key may spend and do, with who enforces it. */
import { cx } from '../../parts/ui.tsx';
import { type Reach, spendWords } from './words.ts';

interface SpendWordsProps {
  limits: Parameters<typeof spendWords>[0];
  reach: Reach;
  /** A missing limit stands out, because it is set now. */
  warns?: boolean;
}

export function SpendWords({ limits, reach, warns = false }: SpendWordsProps) {
  const { chain, unlimited, service } = spendWords(limits, reach);
  return (
    <>
      <p className="font-medium tabular-nums">
        {chain} {unlimited && <span className={cx(warns && 'text-warn')}>{unlimited}</span>}
      </p>
      <p>{service}</p>
    </>
  );
}
