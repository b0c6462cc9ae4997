/** A receiver of webhooks that outlives the sending relays. It records the events of each execution in order. */
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { changeWebhooks } from '../../../app/sdk/wallet/webhooks.ts';
import type { MarketplaceEvent } from '../../../app/sdk/wire/events.ts';
import { serve } from '../../harness/edge/listen.ts';
import type { TestMarketplace } from '../../harness/node/marketplace.ts';

export type Witness = Awaited<ReturnType<typeof startWitness>>;

/** Receives events of the marketplace's first caller from now on. `baseUrl` is a running relay's. */
export async function startWitness(market: TestMarketplace, baseUrl = market.relay.url) {
  /** Event types by execution, in order of first arrival. */
  const heard = new Map<string, string[]>();
  const ids = new Set<string>();
  const faults: string[] = [];
  let secret = '';
  const { url, close: stop } = await serve(async (request, response) => {
    const body = await text(request);
    try {
      new Webhook(secret).verify(body, request.headers as Record<string, string>);
    } catch (error) {
      faults.push(`${error}`);
    }
    const { id, type, data } = JSON.parse(body) as MarketplaceEvent;
    // Delivery is at least once: an event is repeated if its sender was killed.
    if (!ids.has(id) && 'execution_id' in data) {
      ids.add(id);
      heard.set(data.execution_id, [...(heard.get(data.execution_id) ?? []), type.slice('execution.'.length)]);
    }
    response.writeHead(204).end();
  });
  const wallet = keypairSigner(market.callers[0]!.wallet);
  const made = await changeWebhooks({ baseUrl }, wallet, (client) =>
    client.request('createWebhook', { body: { url } }),
  );
  secret = made.secret;
  return {
    faults,
    heardOf: (executionId: string) => heard.get(executionId) ?? [],
    stop,
  };
}
