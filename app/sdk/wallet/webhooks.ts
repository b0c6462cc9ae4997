/** A wallet's webhooks at the marketplace, by a session of the wallet. */
import type { MarketplaceClient } from '../client/client.ts';
import { ask, askOnce, openRestClient, type Service } from './service.ts';
import type { Signer } from './signer.ts';

/** Reads with a method of the client, such as `listWebhooks`. */
export async function readWebhooks<T>(
  service: Service,
  wallet: Signer,
  read: (client: MarketplaceClient) => Promise<T>,
): Promise<T> {
  const client = await openRestClient(service, wallet);
  return ask(service, () => read(client));
}

/** Changes with a method of the client, such as `createWebhook`. It is not retried if its answer is lost. */
export async function changeWebhooks<T>(
  service: Service,
  wallet: Signer,
  change: (client: MarketplaceClient) => Promise<T>,
): Promise<T> {
  const client = await openRestClient(service, wallet);
  return askOnce(service, () => change(client));
}
