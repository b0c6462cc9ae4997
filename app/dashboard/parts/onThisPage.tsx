/** Links to the sections of a long view. */
import { useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';
import { TextLink } from './links.tsx';
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
  // The section of the URL may have been missing until now, or is folded.
  useEffect(() => {
    const section = isRead ? document.getElementById(location.hash) : null;
    if (section instanceof HTMLDetailsElement) section.open = true;
    section?.scrollIntoView();
  }, [isRead, location]);
  return (
    <nav aria-label="On this page" className={cx('flex flex-wrap gap-x-5 text-sm print:hidden', className)}>
      {Object.entries(sections).map(([id, title]) => (
        <TextLink
          key={id}
          to="."
          search
          hash={id}
          activeOptions={{ includeHash: true }}
          className="inline-flex min-h-8 items-center underline-offset-4"
        >
          {title}
        </TextLink>
      ))}
    </nav>
  );
}
