/** The frame around every view: navigation, search, and account. */
import { Link, Outlet, useLocation, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import icon from '../icon.svg';
import { useWalletEvents } from '../wallet/events.ts';
import { useSession } from '../wallet/session.ts';
import { Account } from './connect.tsx';
import { NEW } from './explained.tsx';
import { SearchIcon } from './icons.tsx';
import { ContactOperator } from './links.tsx';
import { NarrowMenu, Navigation } from './navigation.tsx';
import { ACTIVITY, creatorPlaceOf, TERMS } from './places.ts';
import { TAB, TAB_ROW, useSelectedTab } from './tabRow.ts';
import { ThemeButton } from './theme.tsx';
import { cx, Spinner } from './ui.tsx';
import { WaitingAt } from './waiting.tsx';

export function Layout() {
  const { wallet, isCreator } = useSession();
  useWalletEvents(wallet);
  return (
    <>
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-60 focus:bg-raised focus:p-3">
        Skip to the content
      </a>
      <p className="hidden bg-test-soft px-4 py-1.5 text-center text-sm text-test max-sm:text-xs test:block print:hidden">
        <Link to="/" hash={NEW} className="font-bold underline">
          Test network
        </Link>
        . Its money, USDC and SOL, has no value.
      </p>
      <header className="sticky top-0 z-30 print:hidden [@media(max-height:30rem)]:static border-b border-line bg-paper">
        <div className="mx-auto flex min-h-14 max-w-6xl items-center gap-x-3 px-4 sm:min-h-16 sm:gap-x-4 sm:px-6">
          {/* On a narrow phone the name wraps out of its one row of space, and the account gets the room. */}
          <Link
            to="/"
            className="flex h-8 min-w-7 shrink flex-wrap gap-x-2.5 sm:shrink-0 gap-y-2 overflow-hidden font-semibold"
          >
            <span className="flex h-8 items-center">
              <img src={icon} alt="" width="28" height="28" />
            </span>
            <span className="flex h-8 items-center whitespace-nowrap max-sm:w-20 max-sm:shrink-0 max-sm:whitespace-normal max-sm:text-xs max-sm:leading-tight">
              Agent Marketplace
            </span>
          </Link>
          <Navigation />
          <div className="ml-auto flex items-center gap-1.5 sm:min-w-0 sm:gap-2">
            <SearchButton />
            <span className="shrink-0 max-sm:hidden">
              <ThemeButton />
            </span>
            <Account />
            <NarrowMenu />
          </div>
        </div>
      </header>
      {/* At least as high as the window, so that the footer does not jump when the view loads. */}
      <main
        id="content"
        className="mx-auto min-h-screen max-w-6xl px-4 py-8 sm:px-6 print:min-h-0 print:p-0"
        tabIndex={-1}
      >
        <ActivityTabs />
        <Outlet />
      </main>
      <footer className="border-t border-line print:hidden">
        <div className="mx-auto flex max-w-6xl flex-wrap gap-x-6 gap-y-2 px-4 py-6 text-sm text-faint sm:px-6">
          {[creatorPlaceOf(isCreator), TERMS].map(({ to, title }) => (
            <Link key={to} className="hover:text-ink" to={to}>
              {title}
            </Link>
          ))}
          <a className="hover:text-ink" href="/docs">
            Docs
          </a>
          <ContactOperator className="hover:text-ink" />
        </div>
      </footer>
      <Announcer />
    </>
  );
}

/** Announces a new title of the view to screen readers, and sets the tab's title. */
function Announcer() {
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const [title, setTitle] = useState('');
  useEffect(() => {
    const main = document.querySelector('main');
    if (!main) return;
    // A view's heading may appear later, with its data.
    const read = () => {
      const heading = main.querySelector('h1')?.textContent ?? '';
      const mark = document.documentElement.dataset.environment === 'test' ? 'TEST · ' : '';
      if (heading) document.title = `${mark}${path === '/' ? '' : `${heading} · `}Agent Marketplace`;
      setTitle(heading);
    };
    const observer = new MutationObserver(read);
    observer.observe(main, { childList: true, subtree: true, characterData: true });
    read();
    return () => observer.disconnect();
  }, [path]);
  return (
    <p className="sr-only" role="status">
      {title}
    </p>
  );
}

/** On a phone, so that all tabs fit. */
const SHORT: Record<string, string> = { '/executions': 'Calls', '/keys': 'Keys' };

/** Renders nothing on other views. */
function ActivityTabs() {
  const path = useLocation({ select: ({ pathname }) => pathname });
  const row = useRef<HTMLElement>(null);
  useSelectedTab(row, path);
  if (!ACTIVITY.some(({ to }) => to === path)) return null;
  return (
    <div id="activity" className="print:hidden">
      <p className="mb-6 text-2xl font-semibold">Activity</p>
      <nav ref={row} aria-label="Activity" className={TAB_ROW}>
        {ACTIVITY.map(({ to, title }) => (
          <Link key={to} to={to} className={cx(TAB, 'max-[380px]:text-[0.8125rem]')}>
            <span className={cx(SHORT[to] && 'max-sm:sr-only')}>{title}</span>
            {/* Seen only: the name of the link stays. */}
            {SHORT[to] && (
              <span aria-hidden="true" data-short={SHORT[to]} className="before:content-[attr(data-short)] sm:hidden" />
            )}
            <WaitingAt to={to} />
          </Link>
        ))}
      </nav>
    </div>
  );
}

const load = () => import('./palette.tsx');
const Palette = lazy(load);

// The build has no document.
const isMac = typeof document !== 'undefined' && /^(Mac|iP)/.test(navigator.platform);

function SearchButton() {
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
