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
  const lacks = [pending.guardian === null && 'guardian', pending.admin_delay_seconds === 0 && 'delay of changes'];
  const words = lacks.filter((lack) => lack !== false).join(' and no ');
  if (!words) return null;
  return (
    <Note tone="warn" title={`Needs you: no ${words}`}>
      Somebody who steals your key could change fees and authorities, or empty the treasury, and nobody could stop that
      in time.{' '}
      <Link to="/admin" search={{ tab: 'settings' }} hash="protection" className="underline">
        Set them in Settings
      </Link>
    </Note>
  );
}
