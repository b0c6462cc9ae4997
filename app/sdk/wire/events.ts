/**
 * The events of webhooks and event streams, about a wallet's executions, disputes, listings, keys and gas balance. A
 * webhook's body and a stream's `data` are the same JSON.
 */
import * as z from 'zod';
import { DISPUTE_OUTCOMES, EVENT_TYPES, type EventType, EXECUTION_STATUSES, isEnd } from './choices.ts';
import { Address, Count, ExecutionId, Lamports, Time, Usdc } from './fields.ts';

export { EVENT_TYPES, type EventType, isEnd };

/** Every event has an id of this form. A later event has a larger number. */
export const EventId = z.string().regex(/^evt_[1-9][0-9]{0,15}$/, 'must be the id of an event, such as evt_42');

const ExecutionData = z.strictObject({
  execution_id: ExecutionId,
  agent_id: z.string(),
  status: z.enum(EXECUTION_STATUSES),
  /** The price; 0 if the execution failed. */
  cost_usdc: Usdc,
  /** Why it failed; null for other events, and if only the chain knows it. */
  error_code: z.string().nullable(),
});

const DisputeData = z.strictObject({
  execution_id: ExecutionId,
  agent_id: z.string(),
  /** `caller` if the wallet bought the execution, `creator` if it listed the agent. */
  role: z.enum(['caller', 'creator']),
  outcome: z.enum(DISPUTE_OUTCOMES),
  /** The amount that the caller gets back. */
  amount_to_caller_usdc: Usdc,
  /** What the creator lost of the agent's collateral, of which the caller gets at most the price. */
  amount_slashed_usdc: Usdc,
});

/** The `data` of each type of event. */
export const EVENT_DATA = {
  'execution.pending': ExecutionData,
  'execution.running': ExecutionData,
  'execution.completed': ExecutionData,
  'execution.failed': ExecutionData,
  'dispute.opened': DisputeData,
  'dispute.resolved': DisputeData,
  'agent.paused': z.strictObject({ agent_id: z.string() }),
  'agent.failing': z.strictObject({
    agent_id: z.string(),
    /** Of all of its calls. */
    success_rate: z.number().min(0).max(1),
    /** Of the last ones, as in the agent's health. */
    success_rate_recent: z.number().min(0).max(1).nullable(),
  }),
  'agent.signing_key_changed': z.strictObject({ agent_id: z.string(), signing_key: Address }),
  'agent.collateral_low': z.strictObject({
    agent_id: z.string(),
    /** The remaining collateral. */
    collateral_usdc: Usdc,
  }),
  'key.cap_near': z.strictObject({
    key_id: z.string(),
    limit: z.enum(['period', 'total']),
    spent_usdc: Usdc,
    max_usdc: Usdc,
  }),
  'gas.low': z.strictObject({ gas_lamports: Lamports, calls_left: Count }),
  'webhook.disabled': z.strictObject({ endpoint_id: z.string(), url: z.string() }),
  'webhook.test': z.strictObject({ endpoint_id: z.string() }),
} as const satisfies Record<EventType, z.ZodType>;

export type EventData<Type extends EventType> = z.infer<(typeof EVENT_DATA)[Type]>;

/** Describes when each type is sent, for people. */
export const EVENT_MEANINGS: Record<EventType, string> = {
  'execution.pending': 'The price is in the escrow, and the agent will be called.',
  'execution.running': 'The agent is called, or its answer is being settled or refunded.',
  'execution.completed': 'The answer was paid for. The message has no result: read the call.',
  'execution.failed':
    'Nothing was paid, or the price was refunded in full. A service fee that was paid by x402 is not refunded.',
  'dispute.opened':
    'A call that this wallet made, or a call of an agent that it lists, is disputed. The outcome is “open” and both amounts are 0 until it ends.',
  'dispute.resolved':
    'The dispute has ended. The message has the outcome, the amount that the caller gets, and the amount that the creator lost of its collateral.',
  'agent.paused':
    'An agent of this wallet was paused: by this wallet, or because an upheld dispute left too little collateral.',
  'agent.failing':
    'Too many calls of an agent of this wallet fail: callers now see the mark “Failing” or “Degraded”. Sent again only if the mark has gone meanwhile.',
  'agent.signing_key_changed': 'An agent of this wallet has a new key for signing results.',
  'agent.collateral_low':
    'An upheld dispute left less than 125 % of the collateral that the agent’s price requires; below 100 % the agent is paused at the same time. Top up.',
  'key.cap_near': 'An API key has spent 80 % of what it may spend in its period or in total.',
  'gas.low': 'The gas balance, if the wallet has one, pays for fewer than 10 more calls.',
  'webhook.disabled': 'Every delivery to another endpoint failed for 3 days, and it was switched off.',
  'webhook.test': 'You requested a test event.',
};

/** One event: the body of a webhook, and the `data` of a stream. */
export const MarketplaceEvent = z.strictObject({
  id: EventId,
  type: z.enum(EVENT_TYPES),
  /** Time of the event. */
  timestamp: Time,
  data: z.union([
    ExecutionData,
    DisputeData,
    EVENT_DATA['agent.failing'],
    EVENT_DATA['agent.signing_key_changed'],
    EVENT_DATA['agent.collateral_low'],
    EVENT_DATA['key.cap_near'],
    EVENT_DATA['gas.low'],
    EVENT_DATA['webhook.disabled'],
    EVENT_DATA['webhook.test'],
    EVENT_DATA['agent.paused'],
  ]),
});
/** An event with the `data` of its type. */
export type MarketplaceEvent = {
  [Type in EventType]: { id: string; type: Type; timestamp: string; data: EventData<Type> };
}[EventType];
