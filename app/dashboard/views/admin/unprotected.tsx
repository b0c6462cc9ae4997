/** What the admin should set up in case somebody steals its key. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Note } from '../../parts/ui.tsx';
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
      <Link to="/admin" search={{ tab: 'settings' }} hash="protection" className="underline">
        Set them in Settings
      </Link>
    </Note>
  );
}
