/** The title and the tabs of a caller's views, on each of them. */
import { Link, useLocation } from '@tanstack/react-router';
import { useRef } from 'react';
import { ACTIVITY } from './places.ts';
import { TAB, TAB_ROW, useSelectedTab } from './tabRow.ts';
import { WaitingAt } from './waiting.tsx';

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
          <Link key={to} to={to} className={TAB}>
            {title}
            <WaitingAt to={to} />
          </Link>
        ))}
      </nav>
    </div>
  );
}
