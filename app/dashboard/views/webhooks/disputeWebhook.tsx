/** For a creator with an active agent and no webhook about disputes: how to hear of one in time. Renders nothing for others. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { buttonStyle, Note } from '../../parts/ui.tsx';
import { SLASH_MULTIPLE } from '../../wallet/programTerms.ts';
import { useSession } from '../../wallet/session.ts';
import { ownListingsQuery } from '../listing/own.ts';
import { endpointsQuery } from './endpoints.ts';

export function DisputeWebhook() {
  const { wallet } = useSession();
  const { data: endpoints } = useQuery(endpointsQuery(wallet));
  const { data: own } = useQuery({ ...ownListingsQuery, enabled: Boolean(wallet) });
  const isTold = endpoints?.some(
    ({ status, event_types: types }) =>
      status !== 'disabled' && (types.length === 0 || types.includes('dispute.opened')),
  );
  const canBeDisputed = own?.listings.some(({ status }) => status === 'active');
  if (!endpoints || isTold || !canBeDisputed) return null;
  return (
    <Note>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 sm:flex-nowrap">
        <div className="min-w-0">
          <p className="mb-1 font-semibold text-ink">Nothing tells you of a dispute while you are away</p>
          <p>
            A dispute can take up to {SLASH_MULTIPLE} times the price of a call, and you can reply only until the admin
            decides.
          </p>
        </div>
        <Link to="/webhooks" search={{ add: 'disputes' }} className={buttonStyle()}>
          Add a webhook
        </Link>
      </div>
    </Note>
  );
}
