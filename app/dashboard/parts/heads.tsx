/** The way back from a page to its list, the facts under its title, and the head of a card. */
import { createLink } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import { cx } from './ui.tsx';

export const Back = createLink(({ children, className, ...rest }: ComponentProps<'a'>) => (
  <a className={cx('mb-2 inline-block py-1 text-sm text-faint hover:text-ink print:hidden', className)} {...rest}>
    <span aria-hidden="true">← </span>
    {children}
  </a>
));

/** One line under a title: its badges, times and ids. */
export const HeadFacts = ({ facts }: { facts: readonly ReactNode[] }) => (
  // The point before the first fact of each line is cut off.
  <span className="-mx-1 block overflow-x-clip px-1 text-sm">
    <span className="-ml-5 flex flex-wrap items-baseline gap-y-1">
      {facts.filter(Boolean).map((fact, index) => (
        <span key={index} className="flex max-w-full items-baseline">
          <span aria-hidden="true" className="w-5 shrink-0 text-center">
            ·
          </span>
          <span className="min-w-0">{fact}</span>
        </span>
      ))}
    </span>
  </span>
);

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
