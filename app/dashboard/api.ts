/** The client of the marketplace's service, with its procedures' schemas. Large, so service.ts loads it lazily. */
import { createClient } from '../sdk/client/client.ts';
import { createManagement } from '../sdk/client/management.ts';

export function createApi(baseUrl: string) {
  // The page's query cache retries reads and shows that it does.
  const client = createClient({ baseUrl, maxRetries: 0 });
  return { client, request: client.request, call: createManagement(client).call };
}
