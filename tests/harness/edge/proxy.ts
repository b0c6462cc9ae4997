/** A TCP proxy on this computer. A test can break its connections, either cleanly or without either side noticing. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

export type TcpProxy = Awaited<ReturnType<typeof startProxy>>;

export async function startProxy(targetUrl: string) {
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
  const url = (await listen(server)).replace('http:', target.protocol);
  return {
    /** The given URL with the proxy's address. */
    url,
    /** Number of refused connections. */
    refused: () => refused,
    /** Closes all connections and refuses new ones. */
    cut() {
      mode = 'cut';
      for (const socket of open) socket.destroy();
    },
    /** Keeps connections open and accepts new ones, but forwards nothing. */
    stall() {
      mode = 'stalled';
      for (const socket of open) {
        socket.unpipe();
        socket.pause();
      }
    },
    /** New connections work again. Cut or stalled connections stay as they are. */
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
