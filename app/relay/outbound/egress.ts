/**
 * Decides where the relay may connect when it calls a creator: public addresses only, over TLS. A name is resolved
 * once, all its addresses are checked, and the connection uses one of them. A second DNS answer therefore changes
 * nothing.
 */
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

const CONNECT_TIMEOUT_MS = 10_000;
const RESOLVE_TIMEOUT_MS = 3_000;
const RESOLVE_TRIES = 2;
/**
 * Global unicast, the only part of IPv6 that the internet routes; it excludes every range that ipaddr.js does not know.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** In a public range, but the control plane of the host: Azure's WireServer. */
const CONTROL_PLANES = new Set(['168.63.129.16']);
const HTTPS_PORT = 443;
/** Lower ports belong to other protocols of the host. */
const FIRST_USER_PORT = 1024;

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** The endpoint leads, or may lead, to an address that the relay must not connect to. Nothing was sent. */
export class ForbiddenEndpoint extends Error {
  override name = 'ForbiddenEndpoint';
}

/** True if an address is on the public internet. IPv6 addresses with an IPv4 address inside are not. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes('%') || CONTROL_PLANES.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST);
}

/** The fault of a public endpoint's URL; null if only its addresses remain to be checked. */
export function findEndpointFault(endpoint: string): string | null {
  const { protocol, port } = new URL(endpoint);
  const hostname = hostOf(endpoint);
  if (protocol !== 'https:') return 'must be an https URL';
  if (port !== '' && Number(port) !== HTTPS_PORT && Number(port) < FIRST_USER_PORT) {
    return `must have port ${HTTPS_PORT} or one from ${FIRST_USER_PORT}`;
  }
  if (isIP(hostname)) return isPublicAddress(hostname) ? null : 'must have a public address';
  if (hostname.endsWith('.')) return 'must have a host name that does not end with a dot';
  return hostname.includes('.') ? null : 'must have a full host name, such as agent.example.com';
}

/** A URL's host without the brackets of IPv6. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Asks name servers (the system's by default) without the system's thread pool, which a slow server would fill. */
export function createResolve(servers?: string[]): Resolve {
  return async (hostname) => {
    const resolver = new Resolver({ timeout: RESOLVE_TIMEOUT_MS, tries: RESOLVE_TRIES });
    if (servers) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [first] = answers;
    if (addresses.length === 0 && first.status === 'rejected') throw first.reason;
    return addresses;
  };
}

/** Node's lookup over `resolve`. It refuses a name with any address that is not public. */
function checkedLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        if (addresses.length === 0 || !addresses.every(isPublicAddress)) {
          return callback(new ForbiddenEndpoint('its host name resolves to an address that is not public'), '');
        }
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (options.all) callback(null, found);
        else callback(null, found[0]!.address, found[0]!.family);
      },
      (error) => callback(error, ''),
    );
  };
}

/**
 * Opens connections to creators. `allowPrivate`, for a local network, allows every address, also without TLS. Otherwise
 * `findEndpointFault` and every address must allow it.
 */
export function createConnector(options: { allowPrivate: boolean; resolve?: Resolve }): buildConnector.connector {
  if (options.allowPrivate) return buildConnector({ timeout: CONNECT_TIMEOUT_MS });
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    lookup: checkedLookup(options.resolve ?? createResolve()),
    // Several checked addresses are tried one after another, as browsers do.
    autoSelectFamily: true,
  } as buildConnector.BuildOptions);
  return (target, callback) => {
    const host = target.hostname.includes(':') ? `[${target.hostname.replace(/^\[|\]$/g, '')}]` : target.hostname;
    const fault = findEndpointFault(`${target.protocol}//${host}:${target.port || HTTPS_PORT}/`);
    if (fault) return callback(new ForbiddenEndpoint(`its endpoint ${fault}`), null);
    connect(target, callback);
  };
}
