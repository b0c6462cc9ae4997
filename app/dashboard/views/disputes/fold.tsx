/** A part of a view that is folded until somebody needs it, with its gist beside its title. */
import type { ReactNode } from 'react';
import { Chevron } from '../../parts/icons.tsx';
import { Mark } from '../../parts/mark.tsx';

interface FoldProps {
  /** Of the fragment that leads to it. */
  id?: string;
  title: string;
  /** What it says, in a few words. */
  gist?: ReactNode;
  mark?: 'passed' | 'failed';
  open?: boolean;
  children: ReactNode;
}

export function Fold({ id, title, gist, mark, open = false, children }: FoldProps) {
  return (
    <details id={id} className="group min-w-0 rounded-xl border border-line bg-raised" open={open}>
      <summary className="flex list-none items-center gap-x-3 rounded-xl p-4 sm:px-5 hover:bg-sunken/60 [&::-webkit-details-marker]:hidden">
        {mark && <Mark state={mark} />}
        <span className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-3">
          <h2 className="font-semibold">{title}</h2>
          {gist && <span className="min-w-0 text-sm text-faint">{gist}</span>}
        </span>
        <Chevron className="group-open:rotate-180" />
      </summary>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 px-4 pb-4 sm:px-5 sm:pb-5">{children}</div>
    </details>
  );
}
