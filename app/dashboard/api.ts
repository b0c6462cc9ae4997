/**
 * The clients of the marketplace's service, with the schemas of its answers. Heavy, so service.ts loads it beside the
 * first view and not before it.
 */
import { createClient } from '../sdk/client/client.ts';
import { createManagementClient } from '../sdk/client/management.ts';

export function createApi(baseUrl: string) {
  // The page's cache repeats reads, and says so.
  return { rest: createClient({ baseUrl, repeatReads: false }), call: createManagementClient({ baseUrl }).call };
}
