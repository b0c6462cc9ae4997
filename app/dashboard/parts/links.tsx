/** Links in a text: `TextLink` to a view (`CellLink` in a table), `Anchor` to a document of its own, `Away` to another site or tab. */
import { useQuery } from '@tanstack/react-query';
import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { configQuery } from '../service.ts';
import { cx, LINK, QUIET_LINK } from './ui.tsx';

export const Anchor = ({ className, children, ...rest }: ComponentProps<'a'>) => (
  <a className={cx(LINK, className)} {...rest}>
    {children}
  </a>
);

export const TextLink = createLink(Anchor);

const Quiet = ({ className, children, ...rest }: ComponentProps<'a'>) => (
  <a className={cx(QUIET_LINK, className)} {...rest}>
    {children}
  </a>
);

/** Where links would otherwise drown figures or a title, as in a table. */
export const CellLink = createLink(Quiet);

export const Away = (props: ComponentProps<'a'>) => <Anchor target="_blank" rel="noreferrer" {...props} />;

/** Renders nothing if the operator gives no contact. */
export function ContactOperator({ className, isAddress = false }: { className: string; isAddress?: boolean }) {
  const { data: config } = useQuery(configQuery);
  const url = config?.operator_contact;
  return (
    url && (
      <a className={className} href={url} rel="noreferrer">
        {isAddress ? url.replace(/^mailto:/, '') : 'Contact the operator'}
      </a>
    )
  );
}
