/**
 * The clients of the marketplace's service, with the schemas of its answers. Heavy, so service.ts loads it beside the
 * first view and not before it.
 */
import { createClient } from '../sdk/client/client.ts';
import { createManagementClient } from '../sdk/client/management.ts';

export function createApi(baseUrl: string) {
  return { rest: createClient({ baseUrl }), call: createManagementClient({ baseUrl }).call };
}
