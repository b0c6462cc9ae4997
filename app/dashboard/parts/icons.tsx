/** Icons that several views use. */
import { cx } from './ui.tsx';

export const SearchIcon = ({ className }: { className?: string }) => (
  <svg
    viewBox="0 0 16 16"
    className={cx('size-4', className)}
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    aria-hidden="true"
  >
    <circle cx="7" cy="7" r="4.5" />
    <path d="m10.5 10.5 3 3" strokeLinecap="round" />
  </svg>
);

export const DotsIcon = () => (
  <svg viewBox="0 0 16 16" className="size-4" fill="currentColor" aria-hidden="true">
    <circle cx="3" cy="8" r="1.5" />
    <circle cx="8" cy="8" r="1.5" />
    <circle cx="13" cy="8" r="1.5" />
  </svg>
);

export const CrossIcon = () => (
  <svg viewBox="0 0 16 16" className="size-4" fill="none" stroke="currentColor" strokeWidth="1.5" aria-hidden="true">
    <path d="m4 4 8 8m0-8-8 8" strokeLinecap="round" />
  </svg>
);

/** Points down. Callers rotate it while their part is open. */
export const Chevron = ({ className }: { className: string }) => (
  <svg
    viewBox="0 0 16 16"
    className={cx('size-4 shrink-0 text-faint transition-transform', className)}
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    aria-hidden="true"
  >
    <path d="m4 6 4 4 4-4" strokeLinecap="round" strokeLinejoin="round" />
  </svg>
);
