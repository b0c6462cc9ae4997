/** Settings of the API: where it listens, who may ask how often, how it stops, and its calls to creators. */
import { isIP } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import type { PublicRate } from '../access/publicLimit.ts';
import { whole } from './numbers.ts';

/** Other URLs cannot be shown to callers, or be the base of links. */
function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

/** The page links it: a script there would run as the page. */
function isContact(text: string): boolean {
  if (text.startsWith('mailto:')) return z.email().safeParse(text.slice('mailto:'.length)).success;
  return isPublicUrl(text) && new URL(text).protocol === 'https:';
}

const addressesOf = (text: string): string[] => (text === '' ? [] : text.split(',').map((one) => one.trim()));

/** Creators copy it into the rules of their firewalls. */
function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

export const serverSettings = {
  HOST: z.string().default('127.0.0.1').describe('IP address to listen on'),
  PORT: whole(0, 65535).default(8787).describe('port to listen on; 0 picks a free one'),
  BASE_URL: z
    .string()
    .refine(isPublicUrl, {
      error: 'must be https://HOST or http://HOST:PORT, without user, password, query and fragment',
    })
    // Links append their paths, which begin with a slash.
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('public URL in result links (default: http://HOST:PORT)'),
  OPERATOR_CONTACT: z
    .string()
    .refine(isContact, { error: 'must be https://HOST/PATH or mailto:NAME@HOST, without query and fragment' })
    .optional()
    .describe('where users can contact you, shown on the page and in /openapi.json: https://... or mailto:...'),
  TRUST_PROXY: whole(0, 10)
    .default(0)
    .describe('number of your proxies in front of the relay; 0: the address of a client is that of its connection'),
  PUBLIC_RATE_PER_SECOND: whole(0)
    .default(50)
    .describe(
      'requests per second from one IP address (see TRUST_PROXY) without an API key or a session of a wallet that has paid or has a listing; 0: no limit',
    ),
  PUBLIC_RATE_BURST: whole(0)
    .default(200)
    .describe('additional such requests that one IP address may send in a burst, every ten seconds'),
  SHUTDOWN_SECONDS: z.coerce
    .number()
    .min(1)
    .max(600)
    .default(10)
    .describe('maximum time to stop: executions that are nearly done end, the others continue after the next start'),
  LEAVE_SECONDS: z.coerce
    .number()
    .min(0)
    .max(60)
    .default(0)
    .describe(
      'part of SHUTDOWN_SECONDS in which a stopping relay still accepts executions, while /ready is 503 and proxies switch to another relay',
    ),
  METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe('bearer token for /metrics; without it only this computer may read /metrics'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info').describe('lowest level of log lines'),
  CALL_KEYS: z
    .string()
    .min(1)
    .optional()
    .describe(
      'file of the keys that sign calls to creators; created if it does not exist (default: DATA_DIR/call-keys.json)',
    ),
  ALLOW_PRIVATE_ENDPOINTS: z
    .enum(['true', 'false'])
    .default('false')
    .describe('true: creators may be called over http and at private addresses; only for a local network'),
  EGRESS_IPS: z
    .string()
    .refine((text) => addressesOf(text).every(isAddressOrRange), {
      error: 'must be IP addresses, or ranges such as 203.0.113.0/24, separated by commas',
    })
    .default('')
    .describe('IP addresses or ranges that calls to creators come from, separated by commas'),
};

/** Throws if the time to leave does not fit into the time to stop. */
export function readServer(env: z.output<z.ZodObject<typeof serverSettings>>, dataDir: string) {
  if (env.LEAVE_SECONDS >= env.SHUTDOWN_SECONDS) throw new Error('LEAVE_SECONDS must be less than SHUTDOWN_SECONDS');
  return {
    host: env.HOST,
    port: env.PORT,
    /** Null: derived from the listening address. */
    baseUrl: env.BASE_URL ?? null,
    operatorContact: env.OPERATOR_CONTACT ?? null,
    trustProxy: env.TRUST_PROXY,
    publicRate: { perSecond: env.PUBLIC_RATE_PER_SECOND, burst: env.PUBLIC_RATE_BURST } satisfies PublicRate,
    shutdownSeconds: env.SHUTDOWN_SECONDS,
    leaveSeconds: env.LEAVE_SECONDS,
    metricsToken: env.METRICS_TOKEN ?? null,
    logLevel: env.LOG_LEVEL,
    callKeysPath: env.CALL_KEYS ?? join(dataDir, 'call-keys.json'),
    allowPrivateEndpoints: env.ALLOW_PRIVATE_ENDPOINTS === 'true',
    egressIps: addressesOf(env.EGRESS_IPS),
  };
}
