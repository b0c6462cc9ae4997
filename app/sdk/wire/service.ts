/** The answers about this service. */
import * as z from 'zod';
import { Count } from './fields.ts';

/** GET /.well-known/http-message-signatures-directory: the keys that sign calls to creators, as in RFC 8037. */
export const KeyDirectory = z.strictObject({
  keys: z.array(
    z.strictObject({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      x: z.string(),
      kid: z.string(),
      use: z.literal('sig'),
    }),
  ),
});
export type KeyDirectory = z.infer<typeof KeyDirectory>;

/** GET /: links of this deployment. */
export const Directory = z.strictObject({ docs: z.url(), openapi: z.url(), idl: z.url() });
export type Directory = z.infer<typeof Directory>;

/** Problems that keep the service from taking or showing executions. */
export const PROBLEMS = [
  'chain_unreachable',
  'clock_wrong',
  'chain_behind',
  'chain_restarted',
  'index_behind',
  'ledger_unreconciled',
  'authority_changed',
  'opens_paused',
  'fees_low',
  'storage_low',
  'stopping',
] as const;
export type Problem = (typeof PROBLEMS)[number];

/** GET /health: this process answers. /ready shows if it can serve. */
export const Health = z.strictObject({
  status: z.literal('ok'),
  environment: z.enum(['live', 'test']),
  release: z.string(),
  build: z.string().nullable(),
  uptime_seconds: Count,
  /** Why this process refuses new executions; empty while it accepts them. /ready also asks the chain and the index. */
  problems: z.array(z.enum(PROBLEMS)),
});
export type Health = z.infer<typeof Health>;

/** GET /ready: 200 when `ready`, else 503. Lag in milliseconds; null before the indexer's first read. */
export const Ready = z.strictObject({
  status: z.enum(['ready', 'not_ready']),
  /** Empty when ready. */
  problems: z.array(z.enum(PROBLEMS)),
  /** Actions for a person; empty if the problems end without one. */
  advice: z.array(z.string()),
  environment: z.enum(['live', 'test']),
  indexer: z.strictObject({ slot: Count.nullable(), lag_ms: Count.nullable() }),
  executions_in_flight: Count,
});
export type Ready = z.infer<typeof Ready>;
