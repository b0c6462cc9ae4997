/** The REST client's methods for /v1/webhooks. They need a session token or a key with the scope `webhooks`. */
import type * as z from 'zod';
import {
  type CreateWebhookInput,
  type UpdateWebhookInput,
  WebhookDeliveries,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpoints,
  WebhookId,
  WebhookSecret,
} from '../wire/wire.ts';
import type { Reading } from './answer.ts';
import { type ReadOptions, toQuery } from './http.ts';

/** The client's requests. A change is not retried, because it could be made twice. */
interface Asking extends Reading {
  change<T>(schema: z.ZodType<T>, method: string, path: string, body?: object): Promise<T>;
}

const pathOf = (endpointId: string): string => `/v1/webhooks/${encodeURIComponent(endpointId)}`;

export function createWebhookMethods({ get, change }: Asking) {
  return {
    listWebhooks: (options?: ReadOptions) => get(WebhookEndpoints, '/v1/webhooks', options),
    /** Only this answer contains the secret. */
    createWebhook: (body: CreateWebhookInput) => change(WebhookSecret, 'POST', '/v1/webhooks', body),
    getWebhook: (endpointId: string, options?: ReadOptions) => get(WebhookEndpoint, pathOf(endpointId), options),
    /** Changes only the given fields. */
    updateWebhook: (endpointId: string, body: UpdateWebhookInput) =>
      change(WebhookEndpoint, 'PATCH', pathOf(endpointId), body),
    /** Also deletes its delivery log. */
    deleteWebhook: (endpointId: string) => change(WebhookId, 'DELETE', pathOf(endpointId)),
    /** For 24 hours, messages are also signed with the old secret. */
    rotateWebhookSecret: (endpointId: string) => change(WebhookSecret, 'POST', `${pathOf(endpointId)}/rotate`),
    /** Sends `webhook.test`, also while the endpoint is disabled. */
    testWebhook: (endpointId: string) => change(WebhookId, 'POST', `${pathOf(endpointId)}/test`),
    /** The sent messages with their answers, newest first. */
    listWebhookDeliveries: (
      endpointId: string,
      page: { limit?: number; offset?: number } = {},
      options?: ReadOptions,
    ) => get(WebhookDeliveries, `${pathOf(endpointId)}/deliveries${toQuery(page)}`, options),
    /** Sends the same event once more, as a new delivery. */
    redeliverWebhook: (deliveryId: string) =>
      change(WebhookDelivery, 'POST', `/v1/webhooks/deliveries/${encodeURIComponent(deliveryId)}/redeliver`),
  };
}
