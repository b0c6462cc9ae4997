/** The way back from a page to its list, and the head of a card. */
import { createLink } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import { cx } from './ui.tsx';

export const Back = createLink(({ children, className, ...rest }: ComponentProps<'a'>) => (
  <a className={cx('mb-2 inline-block py-1 text-sm text-faint hover:text-ink print:hidden', className)} {...rest}>
    <span aria-hidden="true">← </span>
    {children}
  </a>
));

interface CardHeadProps {
  title: string;
  about: ReactNode;
  as?: 'h2' | 'h3';
}

export function CardHead({ title, about, as: Heading = 'h2' }: CardHeadProps) {
  return (
    <div>
      <Heading className="font-semibold">{title}</Heading>
      <p className="mt-1 max-w-2xl text-sm text-faint">{about}</p>
    </div>
  );
}
