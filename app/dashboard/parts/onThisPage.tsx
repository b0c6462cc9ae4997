/** Links to the sections of a long view. */
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { SEGMENT, SEGMENTS, useSelectedTab } from './tabRow.ts';
import { cx } from './ui.tsx';

interface OnThisPageProps {
  /** By the id of the section. */
  sections: Record<string, string>;
  /** False while sections are missing. */
  isRead: boolean;
  className?: string;
}

export function OnThisPage({ sections, isRead, className }: OnThisPageProps) {
  const location = useLocation();
  const row = useRef<HTMLElement>(null);
  useSelectedTab(row, location.hash);
  // The section of the URL may have been missing until now, or is folded.
  useEffect(() => {
    const section = isRead ? document.getElementById(location.hash) : null;
    if (section instanceof HTMLDetailsElement) section.open = true;
    section?.scrollIntoView();
  }, [isRead, location]);
  return (
    <nav ref={row} aria-label="On this page" className={cx(SEGMENTS, 'relative print:hidden', className)}>
      {Object.entries(sections).map(([id, title]) => (
        <Link
          key={id}
          to="."
          search
          hash={id}
          activeOptions={{ includeHash: true }}
          className={cx(SEGMENT, 'inline-flex items-center')}
        >
          {title}
        </Link>
      ))}
    </nav>
  );
}
