/** The links between the views: a row, or on a narrow window a menu that works before any script has loaded. */
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { type FocusEvent, type ToggleEvent, useRef } from 'react';
import { caseQuery } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import { CrossIcon, Icon } from './icons.tsx';
import { ADMIN, isReloaded, OWN_PLACES, type Place, placesOf, TERMS } from './places.ts';
import { ThemeButton } from './theme.tsx';
import { buttonStyle, cx } from './ui.tsx';
import { useOpenDisputes, useUnanswered, WaitingAt } from './waiting.tsx';

export function Navigation() {
  const { isAdmin, isCreator } = useSession();
  const shown = useShownPath();
  return (
    <nav aria-label="Main" className="flex shrink-0 gap-1 max-lg:hidden">
      {[...placesOf(isCreator), ...(isAdmin ? [ADMIN] : [])].map((place) => (
        <NavLink key={place.to} place={place} isCreator={isCreator} shown={shown} isWide />
      ))}
    </nav>
  );
}

const MENU = 'menu';

export function NarrowMenu() {
  const { wallet, isAdmin, isCreator } = useSession();
  const shown = useShownPath();
  const places = placesOf(isCreator);
  const own = OWN_PLACES.filter(({ to }) => to !== '/creator');
  const menu = useRef<HTMLDivElement>(null);
  const close = () => menu.current?.hidePopover();
  const closeBehind = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) close();
  };
  const focusFirst = ({ newState, currentTarget }: ToggleEvent<HTMLElement>) => {
    if (newState === 'open') currentTarget.querySelector('button')?.focus();
  };
  return (
    <>
      <button
        type="button"
        popoverTarget={MENU}
        className="relative inline-grid size-10 shrink-0 place-items-center rounded-lg hover:bg-sunken lg:hidden"
      >
        <Icon size="size-5">
          <path d="M2 4h12M2 8h12M2 12h12" />
        </Icon>
        <span className="sr-only">Menu</span>
        <WaitingDisputes />
      </button>
      <div
        ref={menu}
        id={MENU}
        popover="auto"
        role="dialog"
        aria-label="Menu"
        onBlur={closeBehind}
        onToggle={focusFirst}
        className="fixed inset-x-0 top-0 m-0 max-h-dvh w-full max-w-none overflow-y-auto overscroll-contain border-b border-line bg-raised px-4 pt-2 pb-5 text-ink shadow-lg backdrop:bg-black/50 sm:px-6"
      >
        <div className="flex items-center justify-between gap-3">
          <p className="font-semibold">Menu</p>
          <button
            type="button"
            popoverTarget={MENU}
            popoverTargetAction="hide"
            aria-label="Close the menu"
            className={buttonStyle('quiet', true)}
          >
            <CrossIcon />
          </button>
        </div>
        {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: its links have both */}
        <div onClick={close}>
          <nav aria-label="Main" className="grid gap-0.5">
            {places.map((place) => (
              <NavLink key={place.to} place={place} isCreator={isCreator} shown={shown} />
            ))}
          </nav>
          {wallet && (
            <nav aria-label="Your wallet" className="mt-3 grid gap-0.5 border-t border-line pt-3">
              {[...own, TERMS, ...(isAdmin ? [ADMIN] : [])].map((place) => (
                <NavLink key={place.to} place={place} isCreator={isCreator} shown={shown} />
              ))}
            </nav>
          )}
        </div>
        <div className="mt-3 border-t border-line pt-3 sm:hidden">
          <ThemeButton hasText />
        </div>
      </div>
    </>
  );
}

/** On the button of the menu, whose links say which they are. Only what the wallet may do something about. */
function WaitingDisputes() {
  const { toDecide } = useOpenDisputes();
  const count = useUnanswered() + toDecide;
  if (count === 0) return null;
  const words = `${count} open ${count === 1 ? 'dispute' : 'disputes'}`;
  return (
    <span className="absolute top-2 right-1.5 size-2.5 rounded-full bg-amber-500 ring-2 ring-paper" title={words}>
      <span className="sr-only">{words}</span>
    </span>
  );
}

const DISPUTE = /^\/disputes\/([^/]+)/;

/**
 * The path of the shown view. A dispute has the path of the place where it belongs: its creator's agents, or its caller's
 * disputes. Null until its view knows.
 */
function useShownPath(): string | null {
  const { wallet } = useSession();
  const pathname = useLocation({ select: ({ pathname }) => pathname });
  const [, executionId] = DISPUTE.exec(pathname) ?? [];
  const { data } = useQuery({ ...caseQuery(executionId ?? ''), enabled: false });
  if (executionId === undefined) return pathname;
  return data ? (data.dispute.creator === wallet ? '/creator' : '/disputes') : null;
}

const CURRENT = 'bg-chip !text-ink font-medium';

interface NavLinkProps {
  place: Place;
  isCreator: boolean;
  shown: string | null;
  /** In the row, which has no link of its own to any view that belongs to a place. The menu has one to each of Activity. */
  isWide?: boolean;
}

function NavLink({ place, isCreator, shown, isWide = false }: NavLinkProps) {
  const { to, title, also = [] } = place;
  const isWithin =
    shown === to || ((isWide || to === '/') && also.some((path) => shown === path || shown?.startsWith(`${path}/`)));
  return (
    <Link
      to={to}
      reloadDocument={isReloaded(place)}
      // Without agents, the way to list the first is a link of its own.
      activeOptions={{ exact: to === '/' || to === '/disputes' || (to === '/creator' && !isCreator) }}
      className={cx(
        'flex min-h-9 items-center gap-1.5 rounded-lg px-2.5 text-sm whitespace-nowrap text-faint -outline-offset-2 hover:bg-sunken hover:text-ink max-lg:min-h-11 max-lg:text-base',
        isWithin && CURRENT,
      )}
      aria-current={isWithin || undefined}
      activeProps={{ className: CURRENT, 'aria-current': 'page' }}
    >
      {title}
      <WaitingAt to={to} />
    </Link>
  );
}
