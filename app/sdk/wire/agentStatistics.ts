/** Statistics of an agent by the UTC day on which its executions ended. */
import * as z from 'zod';
import { Count } from './fields.ts';

/** Ended executions of one or more days. */
const figures = {
  completed: Count,
  failed: Count,
  refunded: Count,
  success_rate: z.number().min(0).max(1).nullable(),
  p50_ms: Count.nullable(),
  p95_ms: Count.nullable(),
};
export const AgentFigures = z.strictObject(figures);
export type AgentFigures = z.infer<typeof AgentFigures>;

export const AgentDay = z.strictObject({ day: z.iso.date(), ...figures });
export type AgentDay = z.infer<typeof AgentDay>;

/** In the order of the program's RefundReason. */
export const REFUND_REASON_NAMES = [
  'creator_failed',
  'creator_timeout',
  'invalid_answer',
  'payout_unusable',
  'unserved',
  'expired',
] as const;

/** GET /v1/agents/{agent_id}/statistics */
export const AgentStatistics = z.strictObject({
  agent_id: z.string(),
  from: z.iso.date(),
  to: z.iso.date(),
  days: z.array(AgentDay),
  total: AgentFigures,
  refunds: z.array(z.strictObject({ reason: z.enum(REFUND_REASON_NAMES), executions: Count })),
});
export type AgentStatistics = z.infer<typeof AgentStatistics>;
