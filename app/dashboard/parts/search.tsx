/** Opens the search over agents, calls and pages: by its button, or by Ctrl-K (on a Mac, Cmd-K). */
import { lazy, Suspense, useEffect, useState } from 'react';
import { SearchIcon } from './icons.tsx';
import { cx, Spinner } from './ui.tsx';

const load = () => import('./palette.tsx');
const Palette = lazy(load);

// The build has no document.
const isMac = typeof document !== 'undefined' && /^(Mac|iP)/.test(navigator.platform);

export function SearchButton() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      const isModified = (isMac ? event.metaKey : event.ctrlKey) && !event.altKey && !event.shiftKey;
      if (!isModified || event.key.toLowerCase() !== 'k' || event.defaultPrevented) return;
      event.preventDefault();
      // Another dialog may have to be completed first.
      if (!document.querySelector('[role="dialog"][data-state]')) setOpen(true);
    };
    window.addEventListener('keydown', open);
    return () => window.removeEventListener('keydown', open);
  }, []);
  return (
    <>
      <button
        type="button"
        aria-label="Search"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
        onPointerEnter={() => void load()}
        onFocus={() => void load()}
        className={cx(
          'inline-flex size-10 shrink-0 items-center justify-center rounded-lg text-sm text-faint hover:bg-sunken hover:text-ink',
          'xl:w-auto xl:min-w-0 xl:shrink xl:border xl:border-line xl:bg-raised xl:px-3',
        )}
      >
        {/* Where the header has too little room, the keys wrap out of the one row. */}
        <span className="flex h-6 min-w-0 flex-wrap items-center gap-x-2 overflow-hidden whitespace-nowrap">
          <span className="flex h-6 shrink-0 items-center gap-2">
            <SearchIcon />
            <span className="max-xl:hidden">Search</span>
          </span>
          <span className="flex h-6 shrink-0 items-center max-xl:hidden">
            <kbd className="rounded border border-line px-1 font-sans text-xs">{isMac ? '⌘ K' : 'Ctrl K'}</kbd>
          </span>
        </span>
      </button>
      {isOpen && (
        <Suspense fallback={<Loading />}>
          <Palette onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

const Loading = () => (
  <div className="fixed inset-x-3 top-3 z-50 mx-auto grid h-14 max-w-xl place-items-center rounded-2xl border border-line bg-raised shadow-lg sm:top-[12vh]">
    <Spinner label="Loading …" />
  </div>
);
