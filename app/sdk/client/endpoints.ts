/** `client.webhooks`: manages a wallet's webhook endpoints. Needs an API key with the scope `webhooks`. */

import type { Client, RequestOptions } from './client.ts';
import { Listing } from './listing.ts';
import type { EventType, WebhookDelivery, WebhookEndpoint, WebhookSecret } from './types.ts';

export interface NewWebhook {
  url: string;
  /** Empty for all types. */
  event_types?: readonly EventType[] | undefined;
}

export interface WebhookChanges extends Partial<NewWebhook> {
  /** False to stop sending events to the endpoint. */
  enabled?: boolean | undefined;
}

const LARGEST_PAGE = 100;

/** Changes are not retried, because a retry could add an endpoint or send a message twice. */
export class Webhooks {
  readonly #client: Client;
  constructor(client: Client) {
    this.#client = client;
  }

  async list({ signal }: RequestOptions = {}): Promise<WebhookEndpoint[]> {
    return (await this.#client.request('listWebhooks', {}, { signal })).endpoints;
  }

  /** Adds an endpoint. Only this answer contains its secret, which `verifyWebhook` needs. */
  create(body: NewWebhook, { signal }: RequestOptions = {}): Promise<WebhookSecret> {
    return this.#client.request('createWebhook', { body }, { signal });
  }

  retrieve(endpointId: string, { signal }: RequestOptions = {}): Promise<WebhookEndpoint> {
    return this.#client.request('getWebhook', { endpoint_id: endpointId }, { signal });
  }

  /** Changes only the given fields. */
  update(endpointId: string, body: WebhookChanges, { signal }: RequestOptions = {}): Promise<WebhookEndpoint> {
    return this.#client.request('updateWebhook', { endpoint_id: endpointId, body }, { signal });
  }

  /** Deletes an endpoint and its delivery log. */
  async delete(endpointId: string, { signal }: RequestOptions = {}): Promise<void> {
    await this.#client.request('deleteWebhook', { endpoint_id: endpointId }, { signal });
  }

  /** Replaces the secret. For 24 hours, messages are also signed with the old one. */
  rotateSecret(endpointId: string, { signal }: RequestOptions = {}): Promise<WebhookSecret> {
    return this.#client.request('rotateWebhookSecret', { endpoint_id: endpointId }, { signal });
  }

  /** Sends `webhook.test`. Read the outcome from the deliveries. */
  async test(endpointId: string, { signal }: RequestOptions = {}): Promise<void> {
    await this.#client.request('testWebhook', { endpoint_id: endpointId }, { signal });
  }

  /** The messages sent to an endpoint and their answers, newest first, in pages of `limit`. */
  deliveries(
    endpointId: string,
    { limit = LARGEST_PAGE, offset = 0 }: { limit?: number; offset?: number } = {},
    { signal }: RequestOptions = {},
  ): Listing<WebhookDelivery> {
    return new Listing(async (from) => {
      const query = { endpoint_id: endpointId, limit, offset: from };
      const { deliveries, ...page } = await this.#client.request('listWebhookDeliveries', query, { signal });
      return { items: deliveries, ...page };
    }, offset);
  }

  /** Sends the event of a delivery once more, as a new delivery. */
  redeliver(deliveryId: string, { signal }: RequestOptions = {}): Promise<WebhookDelivery> {
    return this.#client.request('redeliverWebhook', { delivery_id: deliveryId }, { signal });
  }
}
