/** Routes of event streams. */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { EventData, EventType, MarketplaceEvent } from '../../../sdk/wire/events.ts';
import { clientNetwork } from '../../access/clientAddress.ts';
import type { RelayDeps } from '../deps.ts';
import { CACHING, type Caller, route } from './route.ts';
import { AGENT_ID, EXECUTION_ID, EXECUTION_PARAM } from './samples.ts';

const LAST_EVENT_ID = {
  'Last-Event-ID': {
    about:
      'The `id` of the last event that you have, such as `evt_42`: the stream continues after it. Browsers send it automatically. Empty means none.',
    schema: z.string().regex(/^(evt_(0|[1-9][0-9]{0,15}))?$/),
  },
};

/** An example of an event, as it is streamed and sent to webhooks. */
function sampleOf<Type extends EventType>(type: Type, data: EventData<Type>, id = 42): MarketplaceEvent {
  return { id: `evt_${id}`, type, timestamp: '2026-11-25T09:24:11.000Z', data } as MarketplaceEvent;
}

export const COMPLETED_EVENT = sampleOf('execution.completed', {
  execution_id: EXECUTION_ID,
  agent_id: AGENT_ID,
  status: 'completed',
  cost_usdc: 0.25,
  error_code: null,
});

const readerOf = (deps: RelayDeps, request: IncomingMessage, caller: Caller<'read'>) => ({
  ...caller,
  network: clientNetwork(request, deps.config.trustProxy),
});

const STREAM = {
  about:
    'The stream: for each event its `id`, its type as `event`, and its JSON as `data`. A comment every 15 seconds shows that the stream is alive. It ends after 10 minutes at the latest; reconnect with `Last-Event-ID`.',
  bytes: 'text/event-stream' as const,
  examples: {
    completed: `id: ${COMPLETED_EVENT.id}\nevent: ${COMPLETED_EVENT.type}\ndata: ${JSON.stringify(COMPLETED_EVENT)}\n\n`,
  },
};

/** The common fields of these routes. */
const SHARED = { method: 'get', tag: 'Events', access: 'read', headers: LAST_EVENT_ID, cache: CACHING.never } as const;

export const eventRoutes = {
  streamExecutionEvents: route({
    ...SHARED,
    path: '/v1/executions/{execution_id}/events',
    summary: 'Follow one execution',
    about:
      'Server-Sent Events of an execution, beginning with its first event: `execution.pending`, `execution.running`, and `execution.completed` or `execution.failed`, after which the stream ends. An event may be sent twice, with the same `id`.',
    params: { execution_id: EXECUTION_PARAM },
    answers: { 200: STREAM, 204: { about: 'The execution has ended, and you have its last event.' } },
    errors: ['execution_not_found'],
    async handle({ deps }, { caller, request, param }) {
      const id = request.headers['last-event-id'] as string | undefined;
      return { stream: await deps.streams.ofExecution(readerOf(deps, request, caller), param('execution_id'), id) };
    },
  }),

  streamEvents: route({
    ...SHARED,
    path: '/v1/events',
    summary: 'Follow all events of a wallet',
    about:
      'Server-Sent Events of all executions, disputes, listings and keys of the wallet, from now on, or after `Last-Event-ID`. Events are kept for 30 days. To receive events without an open connection, use webhooks.',
    answers: { 200: STREAM },
    errors: [],
    async handle({ deps }, { caller, request }) {
      const id = request.headers['last-event-id'] as string | undefined;
      return { stream: await deps.streams.ofWallet(readerOf(deps, request, caller), id) };
    },
  }),
};
