/** Finds ports for processes that must know their port before they start. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Linux takes ports from 32768 for connections, and for servers that listen on port 0. So no other process gets a port
 * of this range by chance.
 */
const [FIRST, END] = [20_000, 32_000];

/** A port of this computer that is not in use. */
export function freePort(): Promise<number> {
  return freePorts(1);
}

/** The first of `count` consecutive ports that are not in use. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const base = FIRST + Math.floor(Math.random() * (END - FIRST - count));
    const free = await Promise.all(Array.from({ length: count }, (_, at) => isFree(base + at)));
    if (free.every(Boolean)) return base;
  }
}

/** True if nobody listens on it, for TCP and UDP. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const socket = createSocket('udp4').bind(port, '127.0.0.1');
  const opened = await Promise.allSettled([once(server, 'listening'), once(socket, 'listening')]);
  await Promise.all([server, socket].map((one) => new Promise<unknown>((closed) => one.close(closed))));
  return opened.every(({ status }) => status === 'fulfilled');
}
