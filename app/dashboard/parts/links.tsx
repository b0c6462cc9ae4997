/** Links in a text: `TextLink` to a view, `Anchor` to a document of its own, `Away` to another site or tab. */
import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { cx } from './ui.tsx';

export const Anchor = ({ className, children, ...rest }: ComponentProps<'a'>) => (
  <a className={cx('text-accent underline', className)} {...rest}>
    {children}
  </a>
);

export const TextLink = createLink(Anchor);

export const Away = (props: ComponentProps<'a'>) => <Anchor target="_blank" rel="noreferrer" {...props} />;
