/** Navigation through a list in pages. */
import { Button } from './ui.tsx';
import { formatCount } from './values.tsx';

export interface PagesProps {
  /** From 1. */
  page: number;
  size: number;
  total: number;
  /** The default is for a list from new to old. */
  order?: string;
  onPage(page: number): void;
  /** Names of the two links; the default is for a list from new to old. */
  names?: readonly [back: string, forth: string];
}

/** The part of a list that a page shows, as the procedures take it. */
export const pageOf = (page: number, size: number) => ({ limit: size, offset: (page - 1) * size });

export function Pages({ page, size, total, order, onPage, names }: PagesProps) {
  const [back, forth] = names ?? ['Newer', 'Older'];
  const sorted = order ?? (names ? undefined : 'newest first');
  const first = (page - 1) * size + 1;
  const last = Math.min(page * size, total);
  return (
    <nav aria-label="Pages" className="mt-4 flex items-center justify-between gap-4 text-sm text-faint">
      <p className="tabular-nums" aria-live="polite">
        {total > size
          ? `${formatCount(first)}–${formatCount(last)} of ${formatCount(total)}`
          : [`${formatCount(total)} in total`, sorted].filter(Boolean).join(', ')}
      </p>
      {total > size && (
        <div className="flex gap-2">
          <Button small disabled={page <= 1} onClick={() => onPage(page - 1)}>
            {back}
          </Button>
          <Button small disabled={last >= total} onClick={() => onPage(page + 1)}>
            {forth}
          </Button>
        </div>
      )}
    </nav>
  );
}
