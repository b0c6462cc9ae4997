/**
 * The schemas of the REST API's queries: text in, typed values out. Every parameter is optional and none is clamped.
 * `.meta()` describes them for the published document, where a number is a number.
 */
import * as z from 'zod';
import { AGENT_SORTS, EXECUTION_STATUSES, type ExecutionStatus, IDEMPOTENCY_KEY, STATEMENT_ROLES } from './choices.ts';
import { ADDRESS } from './fields.ts';

export { EXECUTION_STATUSES, type ExecutionStatus };

/** The message contains the range, because its reader sees nothing else. */
function integerText(minimum: number, maximum: number) {
  const rule = `must be an integer from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^(0|[1-9][0-9]{0,15})$/, rule)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, rule)
    .meta({ type: 'integer', minimum, maximum });
}

const Page = {
  limit: integerText(1, 100).default(20),
  offset: integerText(0, Number.MAX_SAFE_INTEGER).default(0),
};

const RATE_RULE = 'must be a number from 0 to 1, such as 0.95';
const TAGS_RULE = 'must be tags separated by commas, such as data,sql';
const Q_RULE = 'must be 1 to 100 characters, none of them control characters';
const TIME_RULE =
  'must be an ISO 8601 time with its zone, such as 2026-01-31T12:00:00Z (in a URL the + of an offset is written %2B)';

/** A time to compare with unix seconds: the whole second before it and the one after it. */
export interface Instant {
  floorSeconds: number;
  ceilSeconds: number;
}

const InstantText = z
  .string()
  // ISO 8601 allows a time without seconds.
  .transform((text) => text.replace(/^([0-9-]{10}T[0-9]{2}:[0-9]{2})(?=[Z+-])/, '$1:00'))
  .pipe(z.iso.datetime({ offset: true, error: TIME_RULE }))
  .transform((text): Instant => {
    const fraction = /\.[0-9]+/.exec(text)?.[0] ?? '';
    const floorSeconds = Date.parse(text.replace(fraction, '')) / 1000;
    return { floorSeconds, ceilSeconds: /[1-9]/.test(fraction) ? floorSeconds + 1 : floorSeconds };
  })
  .meta({ format: 'date-time' });

/** GET /v1/agents */
export const AgentsQuery = z.strictObject({
  ...Page,
  tags: z
    .string()
    .transform((text) => text.split(',').map((tag) => tag.trim()))
    .refine((tags) => tags.every((tag) => tag !== ''), TAGS_RULE)
    .transform((tags) => [...new Set(tags)])
    .meta({ pattern: '^[^,\\s][^,]*(,[^,\\s][^,]*)*$' })
    .optional(),
  min_success_rate: z
    .string()
    .regex(/^-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$/, RATE_RULE)
    .transform(Number)
    .refine((value) => value >= 0 && value <= 1, RATE_RULE)
    .meta({ type: 'number', minimum: 0, maximum: 1 })
    .optional(),
  min_executions: integerText(0, Number.MAX_SAFE_INTEGER).optional(),
  verified_only: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true')
    .meta({ type: 'boolean', enum: [true, false] })
    .default(false),
  /** Words that must all occur in name, tagline, tags or creator's name, in any case; or an agent_id or a wallet. */
  q: z
    .string()
    .min(1, Q_RULE)
    .max(100, Q_RULE)
    .regex(/^[^\p{Cc}]*$/u, Q_RULE)
    .optional(),
  creator: z.string().regex(ADDRESS, "must be a creator's wallet, a base58 address of 32 to 44 characters").optional(),
  sort: z.enum(AGENT_SORTS, { error: `must be one of ${AGENT_SORTS.join(', ')}` }).default('total_executions'),
});
export type AgentsQuery = z.output<typeof AgentsQuery>;

/** GET /v1/archives/{archive_index}/leaves */
export const LeavesQuery = z.strictObject({ first: integerText(0, 2 ** 20).default(0) });
export type LeavesQuery = z.output<typeof LeavesQuery>;

/** GET /v1/executions */
export const ExecutionsQuery = z.strictObject({
  ...Page,
  status: z.enum(EXECUTION_STATUSES, { error: `must be one of ${EXECUTION_STATUSES.join(', ')}` }).optional(),
  agent_id: z.string().regex(ADDRESS, "must be an agent's id, a base58 address of 32 to 44 characters").optional(),
  key_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/, "must be a key's id, 32 hex digits")
    .optional(),
  idempotency_key: z
    .string()
    .regex(IDEMPOTENCY_KEY, 'must be 1 to 255 visible ASCII characters (in a URL + is written %2B)')
    .optional(),
  from: InstantText.optional(),
  to: InstantText.optional(),
});
export type ExecutionsQuery = z.output<typeof ExecutionsQuery>;

/** GET /v1/webhooks/{endpoint_id}/deliveries */
export const DeliveriesQuery = z.strictObject(Page);

const DAY_RULE = 'must be a day in UTC, such as 2026-01-31';

/** GET /v1/statements/spend */
export const SpendQuery = z.strictObject({
  from: z.iso.date(DAY_RULE).optional(),
  to: z.iso.date(DAY_RULE).optional(),
  format: z.enum(['json', 'csv'], { error: 'must be json or csv' }).default('json'),
});

/** GET /v1/statements/daily */
export const StatementQuery = z.strictObject({
  role: z.enum(STATEMENT_ROLES, { error: `must be one of ${STATEMENT_ROLES.join(', ')}` }).default('caller'),
  ...SpendQuery.shape,
});
export type StatementQuery = z.output<typeof StatementQuery>;
