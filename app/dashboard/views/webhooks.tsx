/** A wallet's webhooks: the endpoints of its events, and their deliveries. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { EVENT_TYPES } from '../../sdk/wire/events.ts';
import type { WebhookEndpoint } from '../../sdk/wire/wire.ts';
import { SignedIn } from '../parts/connect.tsx';
import { Anchor, TextLink } from '../parts/links.tsx';
import { SharedNote } from '../parts/sharedNote.tsx';
import { Unread } from '../parts/trouble.tsx';
import { Button, Empty, PageHead } from '../parts/ui.tsx';
import { useSession } from '../wallet/session.ts';
import { DeleteDialog, EndpointDialog, RotateDialog, SecretDialog } from './webhooks/dialogs.tsx';
import { type EndpointAction, EndpointCard } from './webhooks/endpointCard.tsx';
import { endpointsQuery } from './webhooks/endpoints.ts';
import { eventGroups } from './webhooks/eventGroups.ts';
import { EventsTable } from './webhooks/eventsTable.tsx';

const route = getRouteApi('/webhooks');
const OF_DISPUTES = EVENT_TYPES.filter((type) => type.startsWith('dispute.'));

/** While a test is under way, its answer appears soon. */
const POLL_MS = 5_000;

const TITLE = 'Webhooks';

export default function View() {
  const { wallet } = useSession();
  return (
    <SignedIn title={TITLE} why="Webhooks report a wallet’s own calls, disputes, agents and keys.">
      {wallet && <Webhooks key={wallet} wallet={wallet} />}
    </SignedIn>
  );
}

type Shown = 'create' | { action: EndpointAction; endpoint: WebhookEndpoint } | null;

function Webhooks({ wallet }: { wallet: string }) {
  const { add } = route.useSearch();
  const navigate = route.useNavigate();
  const [shown, setShown] = useState<Shown>(add ? 'create' : null);
  const [secret, setSecret] = useState<string | null>(null);
  const { isCreator } = useSession();
  const query = useQuery({ ...endpointsQuery(wallet), refetchInterval: POLL_MS });
  const { data: endpoints } = query;
  function close() {
    setShown(null);
    if (add) void navigate({ search: {}, replace: true });
  }
  const acted = shown === 'create' ? null : shown;
  const create = (
    <Button kind="primary" onClick={() => setShown('create')}>
      Add endpoint
    </Button>
  );
  return (
    <>
      <PageHead title={TITLE} about={<About isCreator={isCreator} />}>
        {endpoints && endpoints.length > 0 && create}
      </PageHead>
      <SharedNote>
        Other users of this shared test wallet see its endpoints here too, and can change or delete them.
      </SharedNote>
      {!endpoints && <Unread query={query} what="The webhooks" className="h-48" />}
      {endpoints?.length === 0 && (
        <Empty title="No endpoints yet">
          <p className="mb-5">
            Enter a URL of your server and choose its events. Messages follow Standard Webhooks; the{' '}
            <Anchor href="/docs#webhooks">guide</Anchor> has the code.
          </p>
          {create}
        </Empty>
      )}
      <ul className="grid grid-cols-1 gap-3">
        {endpoints?.map((endpoint) => (
          <li key={endpoint.endpoint_id}>
            <EndpointCard endpoint={endpoint} onAct={(action) => setShown({ action, endpoint })} />
          </li>
        ))}
      </ul>
      {endpoints && (
        <section className="mt-8 grid gap-3">
          <h2 className="text-lg font-semibold">Events</h2>
          <p className="text-sm text-faint">
            A message is JSON with <code>id</code>, <code>type</code>, <code>timestamp</code> and <code>data</code>.
          </p>
          <EventsTable groups={eventGroups(isCreator)} />
        </section>
      )}
      {shown === 'create' && <EndpointDialog chosen={add ? OF_DISPUTES : []} onClose={close} onMade={setSecret} />}
      {acted?.action === 'edit' && <EndpointDialog endpoint={acted.endpoint} onClose={close} onMade={setSecret} />}
      {acted?.action === 'rotate' && <RotateDialog endpoint={acted.endpoint} onClose={close} onMade={setSecret} />}
      {acted?.action === 'delete' && <DeleteDialog endpoint={acted.endpoint} onClose={close} />}
      {secret && <SecretDialog secret={secret} onClose={() => setSecret(null)} />}
    </>
  );
}

const About = ({ isCreator }: { isCreator: boolean }) => (
  <>
    Your server gets a message about your calls, disputes, agents and API keys.{' '}
    {isCreator && (
      <>
        Not about calls that your agents receive: see <TextLink to="/creator/calls">Calls of all agents</TextLink>.{' '}
      </>
    )}
    If it does not answer with a 2xx status within 10 seconds, the message is sent again for about 24 hours. An endpoint
    is switched off if every delivery fails for 3 days. To hear of that, add a second one on another server.
  </>
);
