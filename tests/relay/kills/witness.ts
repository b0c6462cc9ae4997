/** A receiver of webhooks that outlives the relays which send them: what it heard of each execution, in which order. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { changeWebhooks } from '../../../app/sdk/wallet/webhooks.ts';
import type { MarketplaceEvent } from '../../../app/sdk/wire/events.ts';
import type { TestMarketplace } from '../../harness/node/marketplace.ts';

export type Witness = Awaited<ReturnType<typeof startWitness>>;

/** Receives the executions of the marketplace's first caller from now on. `baseUrl`: of a relay that runs. */
export async function startWitness(market: TestMarketplace, baseUrl = market.relay.url) {
  /** Types by execution, in the order of their first arrival. */
  const heard = new Map<string, string[]>();
  const ids = new Set<string>();
  const faults: string[] = [];
  let secret = '';
  const server = createServer(async (request, response) => {
    const body = await text(request);
    try {
      new Webhook(secret).verify(body, request.headers as Record<string, string>);
    } catch (error) {
      faults.push(`${error}`);
    }
    const { id, type, data } = JSON.parse(body) as MarketplaceEvent;
    // At least once: an event whose sender was killed comes again.
    if (!ids.has(id) && 'execution_id' in data) {
      ids.add(id);
      heard.set(data.execution_id, [...(heard.get(data.execution_id) ?? []), type.slice('execution.'.length)]);
    }
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const wallet = keypairSigner(market.callers[0]!.wallet);
  const made = await changeWebhooks({ baseUrl }, wallet, (client) => client.createWebhook({ url }));
  secret = made.secret;
  return {
    faults,
    heardOf: (executionId: string) => heard.get(executionId) ?? [],
    stop(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
