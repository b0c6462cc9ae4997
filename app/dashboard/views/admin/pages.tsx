import { Button } from '../../parts/ui.tsx';
import { formatCount } from '../../parts/values.tsx';

export const PAGE_SIZE = 20;

/** To the pages before and after; nothing where all fits on one. */
export function Pages({ page, total, onPage }: { page: number; total: number; onPage(page: number): void }) {
  const last = Math.max(1, Math.ceil(total / PAGE_SIZE));
  if (last === 1) return null;
  return (
    <nav aria-label="Pages" className="flex items-center justify-between gap-4 text-sm text-faint">
      <span className="tabular-nums">
        Page {formatCount(page)} of {formatCount(last)}
      </span>
      <span className="flex gap-2">
        <Button small disabled={page <= 1} onClick={() => onPage(page - 1)}>
          Before
        </Button>
        <Button small disabled={page >= last} onClick={() => onPage(page + 1)}>
          Next
        </Button>
      </span>
    </nav>
  );
}
