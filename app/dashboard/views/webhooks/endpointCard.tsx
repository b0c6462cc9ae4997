/** One endpoint: its state, its actions, and its log of deliveries. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { WebhookDelivery, WebhookEndpoint } from '../../../sdk/wire/wire.ts';
import { TextLink } from '../../parts/links.tsx';
import { PagedTable } from '../../parts/pagedTable.tsx';
import { pageOf } from '../../parts/pages.tsx';
import { useNotify } from '../../parts/toasts.tsx';
import { Badge, Button, Card, Note, type Tone } from '../../parts/ui.tsx';
import { formatDuration, Time } from '../../parts/values.tsx';
import { explain, request } from '../../service.ts';

export type EndpointAction = 'edit' | 'rotate' | 'delete';

const TONES: Record<WebhookEndpoint['status'], Tone> = { active: 'good', failing: 'warn', disabled: 'bad' };

export function EndpointCard({ endpoint, onAct }: { endpoint: WebhookEndpoint; onAct(action: EndpointAction): void }) {
  const { endpoint_id, url, event_types, status } = endpoint;
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  const notify = useNotify();
  const refresh = () => queries.invalidateQueries({ queryKey: ['webhooks'] });
  const test = useMutation({
    mutationFn: () => request('testWebhook', { endpoint_id }),
    onSuccess: async () => {
      setOpen(true);
      notify('The test is sent', 'Its answer appears in the log within a few seconds.');
      await refresh();
    },
  });
  const enable = useMutation({
    mutationFn: (enabled: boolean) => request('updateWebhook', { endpoint_id, body: { enabled } }),
    onSuccess: refresh,
  });
  const error = test.error ?? enable.error;
  return (
    <Card aria-label={url}>
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h2 className="font-mono text-sm font-medium break-all">{url}</h2>
          <p className="mt-1 text-sm text-faint">
            {event_types.length === 0 ? 'All events' : event_types.join(', ')} · since <Time at={endpoint.created_at} />
          </p>
        </div>
        <Badge tone={TONES[status]}>{status === 'disabled' ? 'switched off' : status}</Badge>
      </div>
      <div className="mt-4 grid grid-cols-1 gap-3">
        <State endpoint={endpoint} />
        {error && <Note tone="bad">{explain(error)}</Note>}
        <div className="flex flex-wrap gap-2">
          <Button small busy={test.isPending} onClick={() => test.mutate()}>
            Send a test
          </Button>
          <Button small aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Hide the log' : 'Show the log'}
          </Button>
          <Button small onClick={() => onAct('edit')}>
            Change
          </Button>
          <Button small onClick={() => onAct('rotate')}>
            Replace the secret
          </Button>
          <Button small busy={enable.isPending} onClick={() => enable.mutate(status === 'disabled')}>
            {status === 'disabled' ? 'Switch on' : 'Switch off'}
          </Button>
          <Button small kind="danger" onClick={() => onAct('delete')}>
            Delete
          </Button>
        </div>
        {isOpen && <Deliveries endpointId={endpoint_id} />}
      </div>
    </Card>
  );
}

function State({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { status, disabled_by, disabled_at, failing_since, old_secret_until } = endpoint;
  return (
    <>
      {status === 'disabled' && disabled_by === 'failures' && disabled_at && (
        <Note tone="bad" title="Switched off after days of failures">
          Nothing has been sent since <Time at={disabled_at} />. Fix your server, send a test, then switch the endpoint
          on. Earlier events are not sent. Read your calls to find what you missed.
        </Note>
      )}
      {status === 'failing' && failing_since && (
        <Note tone="warn">
          Every attempt has failed since <Time at={failing_since} />. Each event is retried for 24 hours. After 3 days
          the endpoint is switched off.
        </Note>
      )}
      {old_secret_until && (
        <Note>
          The old secret signs too until <Time at={old_secret_until} />.
        </Note>
      )}
    </>
  );
}

const SIZE = 10;
const DELIVERY_TONES: Record<WebhookDelivery['status'], Tone> = { delivered: 'good', pending: 'warn', failed: 'bad' };

function Deliveries({ endpointId }: { endpointId: string }) {
  const [page, setPage] = useState(1);
  const query = useQuery({
    queryKey: ['webhooks', 'deliveries', endpointId, page],
    queryFn: () => request('listWebhookDeliveries', { endpoint_id: endpointId, ...pageOf(page, SIZE) }),
    refetchInterval: 3_000,
    placeholderData: (before) => before,
  });
  return (
    <PagedTable
      head={[
        'Event',
        'Answer',
        'Attempts',
        'Sent',
        <span key="act" className="sr-only">
          Actions
        </span>,
      ]}
      label="Deliveries"
      query={query}
      what="The log"
      className="h-32"
      empty={<p className="text-sm text-faint">Nothing has been sent yet.</p>}
      page={page}
      size={SIZE}
      onPage={setPage}
    >
      {query.data?.deliveries.map((delivery) => (
        <Row key={delivery.delivery_id} delivery={delivery} />
      ))}
    </PagedTable>
  );
}

function Row({ delivery }: { delivery: WebhookDelivery }) {
  const queries = useQueryClient();
  const notify = useNotify();
  const again = useMutation({
    mutationFn: () => request('redeliverWebhook', { delivery_id: delivery.delivery_id }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['webhooks'] }),
    onError: (error) => notify('It was not sent again', explain(error)),
  });
  const { execution_id, http_status, error, body } = delivery;
  return (
    <tr>
      <td>
        <span className="font-mono text-[0.8125rem]">{delivery.event_type}</span>
        {execution_id && (
          <TextLink to="/executions/$executionId" params={{ executionId: execution_id }} className="block">
            Call
          </TextLink>
        )}
      </td>
      <td className="max-w-72">
        <Badge tone={DELIVERY_TONES[delivery.status]}>{http_status ?? delivery.status}</Badge>
        {error && <p className="mt-1 text-bad">{error}</p>}
        {body && (
          <details className="mt-1 text-faint">
            <summary>Body</summary>
            <pre className="mt-1 max-h-40 overflow-auto whitespace-pre-wrap break-all">{body}</pre>
          </details>
        )}
      </td>
      <td className="tabular-nums">
        {delivery.attempts}
        {delivery.next_attempt_at && delivery.attempts > 0 && (
          <p className="text-faint">
            next <Time at={delivery.next_attempt_at} />
          </p>
        )}
      </td>
      <td>
        {delivery.attempted_at ? <Time at={delivery.attempted_at} /> : 'Not yet'}
        {delivery.duration_ms !== null && <p className="text-faint">{formatDuration(delivery.duration_ms)}</p>}
      </td>
      <td>
        <Button small busy={again.isPending} onClick={() => again.mutate()}>
          Send again
        </Button>
      </td>
    </tr>
  );
}
