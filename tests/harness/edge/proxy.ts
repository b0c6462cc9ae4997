/** A TCP proxy on this computer. A test can break its connections, either cleanly or without either side noticing. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  /** The given URL with the proxy's address. */
  url: string;
  /** Number of refused connections. */
  refused(): number;
  /** Closes all connections and refuses new ones. */
  cut(): void;
  /** Keeps connections open and accepts new ones, but forwards nothing. */
  stall(): void;
  /** New connections work again. Cut or stalled connections stay as they are. */
  restore(): void;
  close(): Promise<void>;
}

export async function startProxy(targetUrl: string): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const open = new Set<Socket>();
  let mode: 'through' | 'cut' | 'stalled' = 'through';
  let refused = 0;
  const server = createServer((client) => {
    open.add(client);
    client.on('error', () => client.destroy()).on('close', () => open.delete(client));
    if (mode === 'cut') {
      refused += 1;
      return void client.destroy();
    }
    if (mode === 'stalled') return;
    const upstream = connect(Number(target.port), target.hostname);
    open.add(upstream);
    upstream.on('error', () => client.destroy()).on('close', () => open.delete(upstream));
    client.pipe(upstream);
    upstream.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${target.protocol}//127.0.0.1:${port}`,
    refused: () => refused,
    cut() {
      mode = 'cut';
      for (const socket of open) socket.destroy();
    },
    stall() {
      mode = 'stalled';
      for (const socket of open) {
        socket.unpipe();
        socket.pause();
      }
    },
    restore() {
      mode = 'through';
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
