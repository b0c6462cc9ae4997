/** Waits until the API shows what was set up, as its callers will see it. */
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../sdk/client/client.ts';
import { APIConnectionError, MarketplaceError } from '../sdk/client/error.ts';

/** Long, because a busy computer is no error. It only ends a wait that would never succeed. */
const PATIENCE_MS = 120_000;
const POLL_MS = 50;

/**
 * Resolves when every agent has the right status and every API key works. Throws at the timeout, naming what is
 * missing.
 */
export async function waitUntilReady(
  baseUrl: string,
  agents: { name: string; agentId: string; isPaused: boolean }[],
  apiKeys: string[],
): Promise<void> {
  const api = createClient({ baseUrl, maxRetries: 0 });
  const patientUntil = Date.now() + PATIENCE_MS;
  const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
    while (!(await isSo().catch(isNotYet))) {
      if (Date.now() > patientUntil) throw new Error(`the API does not show ${what}; see marketplace.log`);
      await delay(POLL_MS);
    }
  };
  await Promise.all([
    ...agents.map(({ name, agentId, isPaused }) =>
      until(
        name,
        async () => (await api.request('getAgent', { agent_id: agentId })).status === (isPaused ? 'paused' : 'active'),
      ),
    ),
    ...apiKeys.map((apiKey) =>
      until('the demo keys', async () => {
        await createClient({ baseUrl, apiKey, maxRetries: 0 }).request('listExecutions', { limit: 1 });
        return true;
      }),
    ),
  ]);
}

/** An error answer means: not ready yet. No answer at all is an error. */
function isNotYet(error: unknown): false {
  if (error instanceof MarketplaceError && !(error instanceof APIConnectionError)) return false;
  throw error;
}
