/** The frame around every view: current view, navigation, and account. */
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import icon from '../icon.svg';
import { call, request } from '../service.ts';
import { pollMs, useWalletEvents } from '../wallet/events.ts';
import { useSession } from '../wallet/session.ts';
import { Account } from './connect.tsx';
import { Badge } from './ui.tsx';

export function Layout() {
  const { wallet, isAdmin } = useSession();
  useWalletEvents(wallet);
  const nav = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  // On a phone the row is wider than the window, so the current link is scrolled into view.
  useEffect(() => {
    const row = nav.current;
    const current = row?.querySelector<HTMLElement>('[aria-current]');
    if (row && current) row.scrollLeft = current.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
  }, [path, wallet, isAdmin]);
  return (
    <>
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-60 focus:bg-raised focus:p-3">
        Skip to the content
      </a>
      <p className="hidden bg-warn-soft px-4 py-1.5 text-center text-sm text-warn test:block print:hidden">
        <strong>Test network.</strong> USDC here has no value.
      </p>
      <header className="sticky top-0 z-30 print:hidden [@media(max-height:30rem)]:static border-b border-line bg-paper/90 backdrop-blur">
        <div className="mx-auto flex max-w-6xl flex-wrap items-center gap-x-3 px-4 sm:gap-x-4 sm:px-6">
          <Link to="/" className="flex min-h-14 items-center sm:min-h-16 gap-2.5 font-semibold">
            <img src={icon} alt="" width="28" height="28" />
            {/* On a narrow phone the wallet with its balance needs the room. */}
            <span className="max-sm:w-20 max-sm:text-xs max-sm:leading-tight max-[23.4rem]:sr-only">
              Agent Marketplace
            </span>
          </Link>
          <nav
            ref={nav}
            aria-label="Main"
            className="max-md:goes-on relative order-last -mx-1 flex w-full gap-1 overflow-x-auto pb-2 md:order-none md:w-auto md:flex-1 md:pb-0"
          >
            <NavLink to="/">Agents</NavLink>
            <NavLink to="/verify" reload>
              Verify
            </NavLink>
            {wallet && (
              <>
                <NavLink to="/keys">API keys</NavLink>
                <NavLink to="/executions">
                  Executions
                  <RunningBadge wallet={wallet} />
                </NavLink>
                <NavLink to="/disputes">
                  Disputes
                  <DisputesBadge wallet={wallet} />
                </NavLink>
              </>
            )}
            <NavLink to="/creator">Create</NavLink>
            <NavLink to="/docs" reload>
              Docs
            </NavLink>
            {isAdmin && (
              <NavLink to="/admin">
                Admin
                <QueueBadge />
              </NavLink>
            )}
          </nav>
          <div className="ml-auto flex items-center gap-2">
            <ThemeButton />
            <Account />
          </div>
        </div>
      </header>
      {/* At least as high as the window, so that the footer does not jump when the view loads. */}
      <main
        id="content"
        className="mx-auto min-h-screen max-w-6xl px-4 py-8 sm:px-6 print:min-h-0 print:p-0"
        tabIndex={-1}
      >
        <Outlet />
      </main>
      <footer className="mx-auto flex print:hidden max-w-6xl flex-wrap gap-x-6 gap-y-2 border-t border-line px-4 py-6 text-sm text-faint sm:px-6">
        <a className="hover:text-ink" href="/docs">
          Guide and API
        </a>
        <a className="hover:text-ink" href="/openapi.json">
          OpenAPI
        </a>
        <a className="hover:text-ink" href="/idl.json">
          Program interface
        </a>
        <Link className="hover:text-ink" to="/terms">
          Fees and settings
        </Link>
      </footer>
      <Announcer />
    </>
  );
}

/** The number of running calls of the wallet, wherever they were started. */
function RunningBadge({ wallet }: { wallet: string }) {
  const { data } = useQuery({
    queryKey: ['executions', 'running', wallet],
    queryFn: () => request('listExecutions', { status: 'running', limit: 1 }),
    refetchInterval: pollMs,
  });
  if (!data?.total) return null;
  return (
    <Badge tone="accent" className="ml-1.5">
      {data.total} running
    </Badge>
  );
}

const DISPUTES_MS = 60_000;
/** Number of latest disputes in which open ones are counted. */
const LATEST_DISPUTES = 100;

/** The number of the wallet's latest disputes that wait for a decision. Until then the creator can reply. */
function DisputesBadge({ wallet }: { wallet: string }) {
  const { data } = useQuery({
    queryKey: ['disputes.mine', 'open', wallet],
    queryFn: () => call('disputes.mine', { limit: LATEST_DISPUTES }),
    refetchInterval: DISPUTES_MS,
  });
  return <OpenBadge count={data?.disputes.filter(({ outcome }) => outcome === 'open').length} />;
}

/** The number of disputes that wait for the admin. */
function QueueBadge() {
  const { data } = useQuery({
    queryKey: ['disputes.queue', 'open'],
    queryFn: () => call('disputes.queue', { outcome: 'open', limit: 1 }),
    refetchInterval: DISPUTES_MS,
  });
  return <OpenBadge count={data?.total} />;
}

function OpenBadge({ count = 0 }: { count?: number | undefined }) {
  if (count === 0) return null;
  return (
    <Badge tone="warn" className="ml-1.5">
      {count}
      {/* For screen readers only: the row has no room for the word. */}
      <span className="sr-only"> open</span>
    </Badge>
  );
}

/** `reload`: loads a new document, because the service sends that one with another CSP or text. */
function NavLink({ to, reload = false, children }: { to: string; reload?: boolean; children: ReactNode }) {
  return (
    <Link
      to={to}
      reloadDocument={reload}
      activeOptions={{ exact: to === '/' }}
      className="flex min-h-9 items-center rounded-lg px-2.5 text-sm whitespace-nowrap text-faint -outline-offset-2 hover:bg-sunken hover:text-ink"
      activeProps={{ className: 'bg-sunken !text-ink font-medium', 'aria-current': 'page' }}
    >
      {children}
    </Link>
  );
}

const THEMES = { light: 'dark', dark: 'light' } as const;

function currentTheme(): keyof typeof THEMES {
  // Prerendering has no document.
  if (typeof document === 'undefined') return 'light';
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

function ThemeButton() {
  const [theme, setTheme] = useState(currentTheme);
  function change() {
    const next = THEMES[theme];
    document.documentElement.dataset.theme = next;
    localStorage.setItem('theme', next);
    setTheme(next);
  }
  return (
    <button
      type="button"
      onClick={change}
      className="inline-grid size-10 place-items-center rounded-lg hover:bg-sunken"
      aria-label={`Use ${THEMES[theme]} colours`}
    >
      <svg
        viewBox="0 0 16 16"
        className="size-4"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        aria-hidden="true"
      >
        <circle cx="8" cy="8" r="5.5" />
        <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" />
      </svg>
    </button>
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
