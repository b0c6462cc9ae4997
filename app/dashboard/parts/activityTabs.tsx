/** The title and the tabs of a caller's views, on each of them. */
import { Link, useLocation } from '@tanstack/react-router';
import { useRef } from 'react';
import { ACTIVITY } from './places.ts';
import { TAB, TAB_ROW, useSelectedTab } from './tabRow.ts';
import { cx } from './ui.tsx';
import { WaitingAt } from './waiting.tsx';

/** On a phone, so that all tabs fit. */
const SHORT: Record<string, string> = { '/executions': 'Calls', '/keys': 'Keys' };

/** Renders nothing on other views. */
export function ActivityTabs() {
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
