/** The request that this service sends to endpoints, for the OpenAPI document. */
import { COMPLETED_EVENT } from '../routes/events.ts';
import type { Json } from './schemas.ts';

const WEBHOOK_HEADERS = {
  'webhook-id': 'The `id` of the event. An event may be sent twice.',
  'webhook-timestamp': 'When this attempt was made, unix seconds.',
  'webhook-signature':
    'The signature by the Standard Webhooks specification; two signatures while the secret before a rotation is still valid.',
};
export const WEBHOOK: Json = {
  operationId: 'receiveEvent',
  // The signature in the headers identifies the sender.
  security: [],
  tags: ['Events'],
  summary: 'Receive an event',
  description:
    'Sent to each of your endpoints that has this type in its `event_types`. Any 2xx status within 10 seconds confirms it; otherwise it is sent again, for 24 hours.',
  parameters: Object.entries(WEBHOOK_HEADERS).map(([name, description]) => {
    return { name, in: 'header', required: true, description, schema: { type: 'string' } };
  }),
  requestBody: {
    required: true,
    description: 'The event.',
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/MarketplaceEvent' },
        examples: { completed: { value: COMPLETED_EVENT } },
      },
    },
  },
  responses: { 204: { description: 'Received.' } },
};
