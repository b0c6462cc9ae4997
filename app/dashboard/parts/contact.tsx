/** The link to the operator of this deployment. */
import { useQuery } from '@tanstack/react-query';
import { configQuery } from '../service.ts';

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
