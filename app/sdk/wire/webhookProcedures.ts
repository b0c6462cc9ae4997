/** Procedures of a wallet's webhooks: endpoints, their secrets, and what was sent to them. */
import * as z from 'zod';
import { EVENT_TYPES, EventId } from './events.ts';
import { Count, ExecutionId, type ProcedureEntry, page, Time } from './fields.ts';

const EndpointId = z
  .string()
  .regex(/^we_[0-9a-f]{24}$/, 'must be the id of an endpoint, such as we_ and 24 hex digits');
const DeliveryId = z.string().regex(/^dlv_[1-9][0-9]{0,15}$/, 'must be the id of a delivery, such as dlv_42');
const URL_RULE = 'must be an http or https URL of at most 2048 characters, without user and password';
const EndpointUrl = z
  .string()
  .max(2_048, URL_RULE)
  .refine((text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, username, password } = new URL(text);
    return /^https?:$/.test(protocol) && username === '' && password === '';
  }, URL_RULE);
const EventTypes = z
  .array(z.enum(EVENT_TYPES, { error: `must be one of ${EVENT_TYPES.join(', ')}` }))
  .max(EVENT_TYPES.length)
  .transform((types) => EVENT_TYPES.filter((type) => types.includes(type)));

export const WebhookEndpoint = z.strictObject({
  endpoint_id: z.string(),
  url: z.string(),
  /** Empty: all types. */
  event_types: z.array(z.enum(EVENT_TYPES)),
  /** `failing`: the last attempt failed. `disabled`: nothing is sent. */
  status: z.enum(['active', 'failing', 'disabled']),
  /** Of the first failed attempt since the last success. */
  failing_since: Time.nullable(),
  disabled_at: Time.nullable(),
  /** The wallet itself, or the service after days of failures. */
  disabled_by: z.enum(['wallet', 'failures']).nullable(),
  /** Until then deliveries are signed with the secret before the last rotation too. */
  old_secret_until: Time.nullable(),
  created_at: Time,
});
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>;

export const WebhookDelivery = z.strictObject({
  delivery_id: z.string(),
  endpoint_id: z.string(),
  event_id: EventId,
  event_type: z.enum(EVENT_TYPES),
  execution_id: ExecutionId.nullable(),
  status: z.enum(['pending', 'delivered', 'failed']),
  attempts: Count,
  /** Null once it is delivered or has failed. */
  next_attempt_at: Time.nullable(),
  /** Of the last attempt; also the fields below. */
  attempted_at: Time.nullable(),
  duration_ms: Count.nullable(),
  http_status: z.int().nullable(),
  /** The first KiB of the answer, as text. */
  body: z.string().nullable(),
  /** Why no answer came, or why the answer does not count. */
  error: z.string().nullable(),
  created_at: Time,
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

/** Shown once: the service only uses it to sign. */
const Secret = z.string().regex(/^whsec_[A-Za-z0-9+/]+=*$/);
const one = z.strictObject({ endpoint_id: EndpointId });

export const webhookProcedures = {
  'webhooks.list': {
    kind: 'query',
    access: 'session',
    input: z.void(),
    output: z.strictObject({ endpoints: z.array(WebhookEndpoint) }),
  },
  'webhooks.create': {
    kind: 'mutation',
    access: 'session',
    input: z.strictObject({ url: EndpointUrl, event_types: EventTypes.default([]) }),
    output: z.strictObject({ endpoint: WebhookEndpoint, secret: Secret }),
  },
  /** Changes what is given. `enabled: true` switches an endpoint on again. */
  'webhooks.update': {
    kind: 'mutation',
    access: 'session',
    input: z.strictObject({
      endpoint_id: EndpointId,
      url: EndpointUrl.optional(),
      event_types: EventTypes.optional(),
      enabled: z.boolean().optional(),
    }),
    output: WebhookEndpoint,
  },
  /** Deletes the endpoint with its log of deliveries. */
  'webhooks.delete': { kind: 'mutation', access: 'session', input: one, output: one },
  /** The old secret signs too for 24 hours. */
  'webhooks.rotate': {
    kind: 'mutation',
    access: 'session',
    input: one,
    output: z.strictObject({ endpoint: WebhookEndpoint, secret: Secret }),
  },
  /** Sends `webhook.test` to this endpoint, also while it is disabled. */
  'webhooks.test': { kind: 'mutation', access: 'session', input: one, output: one },
  /** Newest first. */
  'webhooks.deliveries': {
    kind: 'query',
    access: 'session',
    input: z.strictObject({ endpoint_id: EndpointId, ...page }),
    output: z.strictObject({ deliveries: z.array(WebhookDelivery), total: Count, limit: Count, offset: Count }),
  },
  /** Sends the same event once more, as a new delivery. */
  'webhooks.redeliver': {
    kind: 'mutation',
    access: 'session',
    input: z.strictObject({ delivery_id: DeliveryId }),
    output: WebhookDelivery,
  },
} as const satisfies Record<string, ProcedureEntry>;
