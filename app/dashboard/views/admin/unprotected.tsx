/** What protects the marketplace if somebody steals the admin's key, and what is missing. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { TextLink } from '../../parts/links.tsx';
import { Note } from '../../parts/ui.tsx';
import { formatSpan } from '../../parts/values.tsx';
import { changesQuery, configQuery } from '../../service.ts';

/** Only for real money: a test network needs neither. */
export function Unprotected() {
  const { data: config } = useQuery(configQuery);
  const { data: pending } = useQuery(changesQuery);
  if (config?.environment !== 'live' || !pending) return null;
  const [noGuardian, noDelay] = [pending.guardian === null, pending.admin_delay_seconds === 0];
  if (!noGuardian && !noDelay) return null;
  const lacks = [noGuardian && 'guardian', noDelay && 'delay of changes'].filter(Boolean);
  return (
    <Note tone="warn" title={`Needs you: no ${lacks.join(' and no ')}`}>
      {noDelay && 'Somebody who steals your key could change fees and authorities at once. '}
      {noGuardian && 'Nobody could stop a thief of your key who withdraws from the treasury. '}
      <TextLink to="/admin" search={{ tab: 'settings' }} hash="protection">
        Set them in Settings
      </TextLink>
    </Note>
  );
}

export function Protections() {
  const { data: pending } = useQuery(changesQuery);
  if (!pending) return 'Not known yet';
  const { guardian, admin_delay_seconds: delay } = pending;
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <span>
        {guardian === null ? <Lack>No guardian</Lack> : 'A guardian'},{' '}
        {delay === 0 ? <Lack>no delay of changes</Lack> : `changes wait ${formatSpan(delay)}`}
      </span>
      <TextLink to="/admin" search={{ tab: 'settings' }} hash="protection">
        Change in Settings
      </TextLink>
    </span>
  );
}

/** A protection that is not set. */
export const Lack = ({ children }: { children: ReactNode }) => <span className="text-warn">{children}</span>;
