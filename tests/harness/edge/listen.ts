/** Servers of tests, on free ports of this computer. */
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Lets the server listen. Returns its address, as `http://127.0.0.1:1234`. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
