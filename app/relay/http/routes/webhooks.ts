/**
 * Routes of webhooks. An endpoint gets all events of its wallet, even after the key that created it is revoked. Its log
 * has the answers of the wallet's server. So these routes need a session, or a key with the scope `webhooks`.
 */
import {
  CreateWebhookBody,
  DeliveriesQuery,
  UpdateWebhookBody,
  WebhookDeliveries,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpoints,
  WebhookId,
  WebhookSecret,
} from '../../../sdk/wire/wire.ts';
import { clientNetwork } from '../../access/clientAddress.ts';
import { parse, readObject, readQuery } from '../../parse.ts';
import { CACHING, ok, route } from './route.ts';
import { EXECUTION_ID } from './samples.ts';

/** Largest body of a webhook route. */
const MAX_BYTES = 32 * 1024;

const ENDPOINT_ID = 'we_1f2e3d4c5b6a79880f1e2d3c';
const DELIVERY_ID = 'dlv_42';
const ENDPOINT_PARAM = { about: 'The endpoint.', example: ENDPOINT_ID };
const URL_EXAMPLE = 'https://example.com/hook';

const ENDPOINT = {
  endpoint_id: ENDPOINT_ID,
  url: URL_EXAMPLE,
  event_types: ['execution.completed' as const],
  status: 'active',
  failing_since: null,
  disabled_at: null,
  disabled_by: null,
  old_secret_until: null,
  created_at: '2026-11-25T09:24:11.000Z',
};
const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

const DELIVERY = {
  delivery_id: DELIVERY_ID,
  endpoint_id: ENDPOINT_ID,
  event_id: 'evt_42',
  event_type: 'execution.completed',
  execution_id: EXECUTION_ID,
  status: 'delivered',
  attempts: 1,
  next_attempt_at: null,
  attempted_at: '2026-11-25T09:24:12.000Z',
  duration_ms: 87,
  http_status: 204,
  body: null,
  error: null,
  created_at: '2026-11-25T09:24:11.000Z',
};

/** The common fields of these routes. */
const SHARED = { tag: 'Webhooks', access: 'webhooks', cache: CACHING.never } as const;
const ONE = { ...SHARED, params: { endpoint_id: ENDPOINT_PARAM } };

export const webhookRoutes = {
  listWebhooks: route({
    ...SHARED,
    method: 'get',
    path: '/v1/webhooks',
    summary: 'List the webhook endpoints of a wallet',
    about:
      'All endpoints, the oldest first; a wallet may have 10. Like every route of webhooks it takes the token of a session of the wallet (`auth.verify` of /trpc), or an API key with the scope `webhooks`, which no key has unless its wallet adds it.',
    answers: ok({
      about: 'The endpoints.',
      schema: WebhookEndpoints,
      examples: { endpoints: { endpoints: [ENDPOINT] } },
    }),
    errors: [],
    async handle({ webhooks }, { caller }) {
      return { status: 200, value: await webhooks.list(caller.wallet) };
    },
  }),

  createWebhook: route({
    ...SHARED,
    method: 'post',
    path: '/v1/webhooks',
    summary: 'Add a webhook endpoint',
    about:
      'Events from now on are sent to `url`. The `secret` verifies them. Only this answer contains it. The address must be https and public, except on a local network.',
    body: {
      schema: CreateWebhookBody,
      maxBytes: MAX_BYTES,
      example: { url: URL_EXAMPLE, event_types: ['execution.completed'] },
    },
    answers: ok({
      about: 'The endpoint with its secret.',
      schema: WebhookSecret,
      examples: { created: { endpoint: ENDPOINT, secret: SECRET } },
    }),
    errors: ['webhook_limit_reached', 'foreign_origin'],
    async handle({ deps, webhooks }, { caller, request, bytes }) {
      const body = parse(CreateWebhookBody, readObject(bytes), 'body');
      const network = clientNetwork(request, deps.config.trustProxy);
      return { status: 200, value: await webhooks.create(caller.wallet, body, network) };
    },
  }),

  getWebhook: route({
    ...ONE,
    method: 'get',
    path: '/v1/webhooks/{endpoint_id}',
    summary: 'Read one webhook endpoint',
    about: 'Its settings, and its status. Its secret is not shown again.',
    answers: ok({ about: 'The endpoint.', schema: WebhookEndpoint, examples: { endpoint: ENDPOINT } }),
    errors: ['webhook_not_found'],
    async handle({ webhooks }, { caller, param }) {
      return { status: 200, value: await webhooks.retrieve(caller.wallet, param('endpoint_id')) };
    },
  }),

  updateWebhook: route({
    ...ONE,
    method: 'patch',
    path: '/v1/webhooks/{endpoint_id}',
    summary: 'Change a webhook endpoint',
    about:
      'Changes the fields that the body has. With `enabled` false, waiting events are dropped. With `enabled` true, events from now on are sent.',
    body: { schema: UpdateWebhookBody, maxBytes: MAX_BYTES, example: { event_types: [], enabled: true } },
    answers: ok({
      about: 'The endpoint after the change.',
      schema: WebhookEndpoint,
      examples: { changed: { ...ENDPOINT, event_types: [] } },
    }),
    errors: ['webhook_not_found', 'foreign_origin'],
    async handle({ webhooks }, { caller, param, bytes }) {
      const body = parse(UpdateWebhookBody, readObject(bytes), 'body');
      return { status: 200, value: await webhooks.update(caller.wallet, param('endpoint_id'), body) };
    },
  }),

  deleteWebhook: route({
    ...ONE,
    method: 'delete',
    path: '/v1/webhooks/{endpoint_id}',
    summary: 'Delete a webhook endpoint',
    about: 'Nothing more is sent to it. Its log of deliveries is deleted too.',
    answers: ok({ about: 'It is deleted.', schema: WebhookId, examples: { deleted: { endpoint_id: ENDPOINT_ID } } }),
    errors: ['webhook_not_found', 'foreign_origin'],
    async handle({ webhooks }, { caller, param }) {
      return { status: 200, value: await webhooks.delete(caller.wallet, param('endpoint_id')) };
    },
  }),

  rotateWebhookSecret: route({
    ...ONE,
    method: 'post',
    path: '/v1/webhooks/{endpoint_id}/rotate',
    summary: 'Replace the secret of a webhook endpoint',
    about: 'For 24 hours each request has two signatures: one with the old secret, one with the new.',
    answers: ok({
      about: 'The endpoint with its new secret.',
      schema: WebhookSecret,
      examples: {
        rotated: { endpoint: { ...ENDPOINT, old_secret_until: '2026-11-26T09:24:11.000Z' }, secret: SECRET },
      },
    }),
    errors: ['webhook_not_found', 'foreign_origin'],
    async handle({ webhooks }, { caller, param }) {
      return { status: 200, value: await webhooks.rotate(caller.wallet, param('endpoint_id')) };
    },
  }),

  testWebhook: route({
    ...ONE,
    method: 'post',
    path: '/v1/webhooks/{endpoint_id}/test',
    summary: 'Send a test to a webhook endpoint',
    about:
      'Sends `webhook.test` within a second, also while the endpoint is disabled. The outcome is in its deliveries. Tests and repeats of a wallet are limited to 30 in ten minutes.',
    answers: ok({ about: 'It will be sent.', schema: WebhookId, examples: { accepted: { endpoint_id: ENDPOINT_ID } } }),
    errors: ['webhook_not_found', 'foreign_origin'],
    async handle({ webhooks }, { caller, param }) {
      return { status: 200, value: await webhooks.test(caller.wallet, param('endpoint_id')) };
    },
  }),

  listWebhookDeliveries: route({
    ...ONE,
    method: 'get',
    path: '/v1/webhooks/{endpoint_id}/deliveries',
    summary: 'List the deliveries to a webhook endpoint',
    about:
      'A page of the deliveries, newest first, each with the answer to the last attempt. They are kept for 30 days.',
    query: DeliveriesQuery,
    queryExample: { limit: 10 },
    answers: ok({
      about: 'The page.',
      schema: WebhookDeliveries,
      examples: { page: { deliveries: [DELIVERY], total: 1, limit: 10, offset: 0 } },
    }),
    errors: ['webhook_not_found'],
    async handle({ webhooks }, { caller, request, param }) {
      const page = parse(DeliveriesQuery, readQuery(request.url), 'query');
      return { status: 200, value: await webhooks.deliveries(caller.wallet, param('endpoint_id'), page) };
    },
  }),

  redeliverWebhook: route({
    ...SHARED,
    method: 'post',
    path: '/v1/webhooks/deliveries/{delivery_id}/redeliver',
    summary: 'Send the event of a delivery once more',
    about: 'The same event with the same `webhook-id`, as a new delivery, also while the endpoint is disabled.',
    params: { delivery_id: { about: 'The delivery.', example: DELIVERY_ID } },
    answers: ok({
      about: 'The new delivery.',
      schema: WebhookDelivery,
      examples: {
        waiting: {
          ...DELIVERY,
          delivery_id: 'dlv_43',
          status: 'pending',
          attempts: 0,
          next_attempt_at: '2026-11-25T09:30:00.000Z',
          attempted_at: null,
          duration_ms: null,
          http_status: null,
          created_at: '2026-11-25T09:30:00.000Z',
        },
      },
    }),
    errors: ['webhook_not_found', 'foreign_origin'],
    async handle({ webhooks }, { caller, param }) {
      return { status: 200, value: await webhooks.redeliver(caller.wallet, param('delivery_id')) };
    },
  }),
};
