/** Where a request comes from, and whether that is one of the addresses that a key may be used from. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The client's IP address. Without a proxy in front (`hops` 0) only the socket tells it. Behind `hops` proxies of ours
 * each has appended to X-Forwarded-For the address that it saw, so the one that counts stands that far from its end; what
 * stands before it is the client's own claim. A shorter header did not come through all of them: then it is the socket.
 */
export function clientAddress(request: IncomingMessage, hops: number): string {
  const socket = toIp(request.socket.remoteAddress ?? '');
  if (hops === 0) return socket;
  const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
  const claimed = toIp((forwarded.at(-hops) ?? '').trim());
  return isIP(claimed) === 0 ? socket : claimed;
}

const LOOPBACK = ['127.0.0.0/8', '::1'];
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip'];

/** Whether this computer asks, and nobody whom a proxy on it speaks for. */
export function isThisComputer(request: IncomingMessage): boolean {
  const isForwarded = FORWARDED.some((name) => request.headers[name] !== undefined);
  return !isForwarded && isWithin(clientAddress(request, 0), LOOPBACK);
}

/** IPv4 as IPv4, also where a socket of both families wraps it. */
function toIp(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** What counts as one client: an IPv4 address, and of IPv6 the /64, within which anybody has as many as they like. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join(':');
}

/** Whether one of the blocks, such as `203.0.113.0/24` or a single address, holds the address. */
export function isWithin(address: string, blocks: string[]): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  const list = new BlockList();
  for (const block of blocks) {
    const [network = '', bits] = block.split('/');
    const type = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(network, type);
    else list.addSubnet(network, Number(bits), type);
  }
  return list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
