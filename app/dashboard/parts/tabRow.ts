/**
 * The look of a row of tabs or of links beside each other. On a phone few tabs share the width; a longer row scrolls, and
 * fades where it goes on.
 */
import { type RefObject, useEffect } from 'react';

/** Without a scrollbar; it fades where `useSelectedTab` says that it goes on. */
const SCROLLS =
  'overflow-x-auto [scrollbar-width:none] data-[more~=left]:mask-l-from-95% data-[more~=right]:mask-r-from-85%';

export const TAB_ROW = `relative mb-6 flex overflow-y-hidden shadow-[inset_0_-1px_var(--color-line)] sm:gap-x-1 ${SCROLLS}`;

const SELECTED =
  'data-[state=active]:border-accent data-[state=active]:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink';
export const TAB = `inline-flex min-h-10 shrink-0 items-center justify-center gap-1.5 rounded-t-lg border-b-2 border-transparent px-2 max-[380px]:px-1.5 max-sm:grow max-sm:basis-0 text-sm sm:px-3 font-medium whitespace-nowrap text-faint hover:text-ink disabled:cursor-not-allowed disabled:hover:text-faint ${SELECTED}`;

/** The look of a few choices, of which one is taken. */
export const SEGMENTS = `relative flex w-fit max-w-full min-w-0 gap-1 rounded-lg bg-sunken p-1 ${SCROLLS}`;
export const SEGMENT =
  'min-h-8 shrink-0 rounded-md px-3 max-[380px]:px-2 text-sm whitespace-nowrap text-faint hover:text-ink data-[state=active]:bg-chosen data-[state=active]:font-medium data-[state=active]:text-ink aria-[current=page]:bg-chosen aria-[current=page]:font-medium aria-[current=page]:text-ink aria-pressed:bg-chosen aria-pressed:font-medium aria-pressed:text-ink';

/** The end of the tab before the first whole one stays in sight, faded, px. */
const PEEK = 16;

/** Where the row shows the selected tab in its middle, and begins with a whole tab. */
function startFor(selected: HTMLElement, row: HTMLElement): number {
  const middle = selected.offsetLeft - (row.clientWidth - selected.offsetWidth) / 2;
  const most = row.scrollWidth - row.clientWidth;
  const least = selected.offsetLeft + selected.offsetWidth - row.clientWidth;
  const starts = [...row.children]
    .map((tab) => Math.max(0, (tab as HTMLElement).offsetLeft - PEEK))
    .filter((start) => start >= least && start <= most);
  return starts.find((start) => start >= middle) ?? starts.at(-1) ?? middle;
}

/** Scrolls the row to its selected tab: at first, for another `of`, and when the width of the row or of a tab changes. */
export function useSelectedTab(list: RefObject<HTMLElement | null>, of?: string): void {
  useEffect(() => {
    const row = list.current;
    if (!row) return;
    const mark = () => {
      const rest = row.scrollWidth - row.clientWidth - row.scrollLeft;
      row.dataset.more = `${row.scrollLeft > 1 ? 'left' : ''} ${rest > 1 ? 'right' : ''}`;
    };
    const sizes = new ResizeObserver(() => {
      const selected = row.querySelector<HTMLElement>('[data-state="active"], [aria-current="page"]');
      if (selected) row.scrollLeft = startFor(selected, row);
      mark();
    });
    for (const part of [row, ...row.children]) sizes.observe(part);
    row.addEventListener('scroll', mark);
    return () => {
      sizes.disconnect();
      row.removeEventListener('scroll', mark);
    };
  }, [list, of]);
}
