/** The bodies and answers of /v1/webhooks: endpoints, their secrets, and what was sent to them. */
import * as z from 'zod';
import { EVENT_TYPES, EventId } from './events.ts';
import { Count, ExecutionId, Time } from './fields.ts';

const URL_RULE = 'must be an http or https URL of at most 2048 characters, without user and password';
const EndpointUrl = z
  .string()
  .max(2_048, URL_RULE)
  .refine((text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, username, password } = new URL(text);
    return /^https?:$/.test(protocol) && username === '' && password === '';
  }, URL_RULE)
  .meta({ format: 'uri' });
const EventTypes = z
  .array(z.enum(EVENT_TYPES, { error: `must be one of ${EVENT_TYPES.join(', ')}` }))
  .max(EVENT_TYPES.length)
  .transform((types) => EVENT_TYPES.filter((type) => types.includes(type)));

/** POST /v1/webhooks */
export const CreateWebhookBody = z.strictObject({
  url: EndpointUrl,
  /** Empty for all types. */
  event_types: EventTypes.default([]),
});
export type CreateWebhookBody = z.output<typeof CreateWebhookBody>;

/** PATCH /v1/webhooks/{endpoint_id}. Changes only the given fields. */
export const UpdateWebhookBody = z.strictObject({
  url: EndpointUrl.optional(),
  event_types: EventTypes.optional(),
  /** True enables a disabled endpoint again. */
  enabled: z.boolean().optional(),
});
export type UpdateWebhookBody = z.output<typeof UpdateWebhookBody>;

export const WebhookEndpoint = z.strictObject({
  endpoint_id: z.string(),
  url: z.string(),
  /** Empty for all types. */
  event_types: z.array(z.enum(EVENT_TYPES)),
  /** `failing`: the last attempt failed. `disabled`: nothing is sent. */
  status: z.enum(['active', 'failing', 'disabled']),
  /** Time of the first failed attempt since the last success. */
  failing_since: Time.nullable(),
  disabled_at: Time.nullable(),
  /** The wallet itself, or the service after days of failures. */
  disabled_by: z.enum(['wallet', 'failures']).nullable(),
  /** Until then deliveries are also signed with the secret before the last rotation. */
  old_secret_until: Time.nullable(),
  created_at: Time,
});
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>;

/** GET /v1/webhooks */
export const WebhookEndpoints = z.strictObject({ endpoints: z.array(WebhookEndpoint) });
export type WebhookEndpoints = z.infer<typeof WebhookEndpoints>;

/** A new endpoint or a new secret. The secret is shown once: the service only uses it to sign. */
export const WebhookSecret = z.strictObject({
  endpoint: WebhookEndpoint,
  secret: z.string().regex(/^whsec_[A-Za-z0-9+/]+=*$/),
});
export type WebhookSecret = z.infer<typeof WebhookSecret>;

/** The endpoint that was deleted, or that receives a test. */
export const WebhookId = z.strictObject({ endpoint_id: z.string() });
export type WebhookId = z.infer<typeof WebhookId>;

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
  /** Time of the last attempt. The fields below are about the same attempt. */
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

/** GET /v1/webhooks/{endpoint_id}/deliveries; newest first. */
export const WebhookDeliveries = z.strictObject({
  deliveries: z.array(WebhookDelivery),
  total: Count,
  limit: Count,
  offset: Count,
});
export type WebhookDeliveries = z.infer<typeof WebhookDeliveries>;
