/** The way back from a page to its list, the facts under its title, and the head of a card. */
import { createLink } from '@tanstack/react-router';
import { type ComponentProps, Fragment, type ReactNode } from 'react';
import { cx } from './ui.tsx';

export const Back = createLink(({ children, className, ...rest }: ComponentProps<'a'>) => (
  <a className={cx('mb-2 inline-block py-1 text-sm text-faint hover:text-ink print:hidden', className)} {...rest}>
    <span aria-hidden="true">← </span>
    {children}
  </a>
));

/** One line under a title: its badges, times and ids. */
export const HeadFacts = ({ facts }: { facts: readonly ReactNode[] }) => (
  <span className="flex flex-wrap items-baseline gap-x-2 gap-y-1 text-sm">
    {facts.filter(Boolean).map((fact, index) => (
      <Fragment key={index}>
        {/* On a phone it would end a line. */}
        {index > 0 && (
          <span aria-hidden="true" className="max-sm:hidden">
            ·
          </span>
        )}
        {fact}
      </Fragment>
    ))}
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
