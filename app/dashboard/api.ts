/**
 * The clients of the marketplace's service, and with them every schema that its answers are read by. Heavy to begin with,
 * so that service.ts loads it beside the first view and not before it.
 */
import { createClient } from '../sdk/client/client.ts';
import { createManagementClient } from '../sdk/client/management.ts';

export function createApi(baseUrl: string) {
  return { rest: createClient({ baseUrl }), call: createManagementClient({ baseUrl }).call };
}
