/** Icons that several views use: lines in the colour of the text. */
import type { ComponentProps } from 'react';
import { cx } from './ui.tsx';

export const Icon = ({ size = 'size-4', className, ...rest }: ComponentProps<'svg'> & { size?: string }) => (
  <svg
    viewBox="0 0 16 16"
    className={cx(size, className)}
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    {...rest}
  />
);

export const SearchIcon = ({ className }: { className?: string }) => (
  <Icon className={className}>
    <circle cx="7" cy="7" r="4.5" />
    <path d="m10.5 10.5 3 3" />
  </Icon>
);

export const DotsIcon = () => (
  <Icon>
    <path d="M3 8h0m5 0h0m5 0h0" strokeWidth="3" />
  </Icon>
);

export const CrossIcon = () => (
  <Icon>
    <path d="m4 4 8 8m0-8-8 8" />
  </Icon>
);

/** Points down. Callers rotate it while their part is open. */
export const Chevron = ({ className }: { className: string }) => (
  <Icon className={cx('shrink-0 text-faint transition-transform', className)}>
    <path d="m4 6 4 4 4-4" />
  </Icon>
);
