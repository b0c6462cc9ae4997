/** Finds ports for processes that must know their port before they start. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port of this computer that is not in use. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
