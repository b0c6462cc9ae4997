/** A wallet's webhooks at the marketplace, by a session of the wallet. */
import { ask, askOnce, openSession, type Service, type Session } from './service.ts';
import type { Signer } from './signer.ts';

/** Reads with a route such as `listWebhooks`. */
export async function readWebhooks<T>(
  service: Service,
  wallet: Signer,
  read: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await openSession(service, wallet);
  return ask(service, () => read(session));
}

/** Changes with a route such as `createWebhook`. It is not retried if its answer is lost. */
export async function changeWebhooks<T>(
  service: Service,
  wallet: Signer,
  change: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await openSession(service, wallet);
  return askOnce(service, () => change(session));
}
