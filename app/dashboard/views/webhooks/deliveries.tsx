/** The deliveries to an endpoint, with their answers. Each can be sent again. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { WebhookDelivery } from '../../../sdk/wire/wire.ts';
import { TextLink } from '../../parts/links.tsx';
import { PagedTable } from '../../parts/pagedTable.tsx';
import { pageOf } from '../../parts/pages.tsx';
import { useNotify } from '../../parts/toasts.tsx';
import { Badge, Button, type Tone } from '../../parts/ui.tsx';
import { formatDuration, Time } from '../../parts/values.tsx';
import { explain, request } from '../../service.ts';

const SIZE = 10;
const TONES: Record<WebhookDelivery['status'], Tone> = { delivered: 'good', pending: 'warn', failed: 'bad' };

export function Deliveries({ endpointId }: { endpointId: string }) {
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
        <Badge tone={TONES[delivery.status]}>{http_status ?? delivery.status}</Badge>
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
