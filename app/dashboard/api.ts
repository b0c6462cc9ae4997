/**
 * The clients of the marketplace's service, with the schemas of its answers. Large, so service.ts loads it lazily.
 */
import { createClient } from '../sdk/client/client.ts';
import { createManagementClient } from '../sdk/client/management.ts';

export function createApi(baseUrl: string) {
  // The page's query cache retries reads and shows that it does.
  return { rest: createClient({ baseUrl, repeatReads: false }), call: createManagementClient({ baseUrl }).call };
}
