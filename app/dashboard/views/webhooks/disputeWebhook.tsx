/** For a creator without a webhook about disputes: how to hear of one in time. Renders nothing for others. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useSession } from '../../wallet/session.ts';
import { endpointsQuery } from './endpoints.ts';

export function DisputeWebhook() {
  const { wallet } = useSession();
  const { data } = useQuery(endpointsQuery(wallet));
  const isTold = data?.some(
    ({ status, event_types: types }) =>
      status !== 'disabled' && (types.length === 0 || types.includes('dispute.opened')),
  );
  if (!data || isTold) return null;
  return (
    <p className="text-sm text-faint">
      Nothing tells you of a dispute while you are away.{' '}
      <Link to="/webhooks" className="text-accent underline underline-offset-2">
        Add a webhook
      </Link>{' '}
      to reply before the admin decides.
    </p>
  );
}
