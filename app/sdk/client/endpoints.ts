/** `client.webhooks`: manages a wallet's webhook endpoints. Needs an API key with the scope `webhooks`. */
import { toQuery } from './http.ts';
import { Listing } from './listing.ts';
import type { ApiRequest, RequestOptions, Service } from './service.ts';
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
const ROOT = '/v1/webhooks';

/** Changes are not retried, because a retry could add an endpoint or send a message twice. */
export class Webhooks {
  readonly #service: Service;
  constructor(service: Service) {
    this.#service = service;
  }

  async list({ signal }: RequestOptions = {}): Promise<WebhookEndpoint[]> {
    type Answer = { endpoints: WebhookEndpoint[] };
    return (await this.#service.read<Answer>('WebhookEndpoints', { method: 'GET', path: ROOT, signal })).endpoints;
  }

  /** Adds an endpoint. Only this answer contains its secret, which `verifyWebhook` needs. */
  create(body: NewWebhook, { signal }: RequestOptions = {}): Promise<WebhookSecret> {
    return this.#service.read('WebhookSecret', { method: 'POST', path: ROOT, body, signal });
  }

  retrieve(endpointId: string, { signal }: RequestOptions = {}): Promise<WebhookEndpoint> {
    return this.#of('WebhookEndpoint', endpointId, { method: 'GET', path: '', signal });
  }

  /** Changes only the given fields. */
  update(endpointId: string, body: WebhookChanges, { signal }: RequestOptions = {}): Promise<WebhookEndpoint> {
    return this.#of('WebhookEndpoint', endpointId, { method: 'PATCH', path: '', body, signal });
  }

  /** Deletes an endpoint and its delivery log. */
  async delete(endpointId: string, { signal }: RequestOptions = {}): Promise<void> {
    await this.#of('WebhookId', endpointId, { method: 'DELETE', path: '', signal });
  }

  /** Replaces the secret. For 24 hours, messages are also signed with the old one. */
  rotateSecret(endpointId: string, { signal }: RequestOptions = {}): Promise<WebhookSecret> {
    return this.#of('WebhookSecret', endpointId, { method: 'POST', path: '/rotate', signal });
  }

  /** Sends `webhook.test`. Read the outcome from the deliveries. */
  async test(endpointId: string, { signal }: RequestOptions = {}): Promise<void> {
    await this.#of('WebhookId', endpointId, { method: 'POST', path: '/test', signal });
  }

  /** The messages sent to an endpoint and their answers, newest first, in pages of `limit`. */
  deliveries(
    endpointId: string,
    { limit = LARGEST_PAGE, offset = 0 }: { limit?: number; offset?: number } = {},
    { signal }: RequestOptions = {},
  ): Listing<WebhookDelivery> {
    return new Listing(async (from) => {
      const path = `/deliveries${toQuery({ limit, offset: from })}`;
      type Answer = { deliveries: WebhookDelivery[]; total: number; limit: number; offset: number };
      const { deliveries, ...page } = await this.#of<Answer>('WebhookDeliveries', endpointId, {
        method: 'GET',
        path,
        signal,
      });
      return { items: deliveries, ...page };
    }, offset);
  }

  /** Sends the event of a delivery once more, as a new delivery. */
  redeliver(deliveryId: string, { signal }: RequestOptions = {}): Promise<WebhookDelivery> {
    const path = `${ROOT}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`;
    return this.#service.read('WebhookDelivery', { method: 'POST', path, signal });
  }

  #of<T>(name: Parameters<Service['read']>[0], endpointId: string, { path, ...request }: ApiRequest): Promise<T> {
    return this.#service.read(name, { ...request, path: `${ROOT}/${encodeURIComponent(endpointId)}${path}` });
  }
}
