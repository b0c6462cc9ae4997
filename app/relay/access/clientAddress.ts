/** The address of a client, and its check against the allowed addresses of a key. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The client's IP address. Without a proxy in front (`hops` 0) it is the socket's. Each of our `hops` proxies appends
 * the address that it saw to X-Forwarded-For, or else to Forwarded. The valid entry is therefore the `hops`-th from its
 * end; earlier entries are the client's own claim. A shorter header did not pass all proxies, so the socket's address
 * counts.
 */
export function clientAddress(request: IncomingMessage, hops: number): string {
  const socket = toIp(request.socket.remoteAddress ?? '') ?? '';
  if (hops === 0) return socket;
  const { 'x-forwarded-for': list, forwarded = '' } = request.headers;
  const entries = list === undefined ? forwarded.split(',').map(forOf) : String(list).split(',');
  const given = entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
  return toIp(bareAddress(given.at(-hops) ?? '')) ?? socket;
}

/** The address in an element of Forwarded (RFC 7239), such as `for="[2001:db8::1]:443";proto=https`. */
function forOf(element: string): string {
  const [, address] = /(?:^|;)\s*for\s*=\s*("[^"]*"|[^;\s]*)/i.exec(element) ?? [];
  // An element without an address is still one of a proxy.
  return address ?? (element.trim() && 'unknown');
}

/** An entry without quotes, brackets and port. Azure, IIS and RFC 7239 write `203.0.113.7:51234`, `"[2001:db8::1]:443"`. */
function bareAddress(entry: string): string {
  const plain = entry.replace(/^"(.*)"$/, '$1');
  const [, bracketed, dotted] = /^\[([^\]]*)\](?::\d*)?$|^(?:::ffff:)?(\d+(?:\.\d+){3}):\d*$/i.exec(plain) ?? [];
  return bracketed ?? dotted ?? plain;
}

const LOOPBACK = ['127.0.0.0/8', '::1'];
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip'];

/** True if the request comes from this computer, and not through a proxy on it. */
export function isThisComputer(request: IncomingMessage): boolean {
  const isForwarded = FORWARDED.some((name) => request.headers[name] !== undefined);
  return !isForwarded && isWithin(clientAddress(request, 0), LOOPBACK);
}

/** The address in one form: IPv4 unwrapped from the IPv6 of a dual-stack socket, no zone. Null if it is no address. */
function toIp(address: string): string | null {
  const [global = ''] = address.split('%');
  return isIP(global) === 0 ? null : ipaddr.process(global).toString();
}

/** The unit that counts as one client: an IPv4 address, or an IPv6 /64, because a client owns its whole /64. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join(':');
}

/** The network of a request's client, behind `hops` proxies of ours. */
export const clientNetwork = (request: IncomingMessage, hops: number): string =>
  networkOf(clientAddress(request, hops));

/** True if one of the blocks, such as `203.0.113.0/24` or a single address, contains the address. */
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
