/** The answers about agents. */
import * as z from 'zod';
import { Count, Time, Usdc } from './fields.ts';

/**
 * Health from an agent's last 50 executions that were paid or failed by the creator's fault. `degraded`: below 80 %
 * success as the mean over wallets, or refused. Rate and times are null if there are none.
 */
export const AgentHealth = z.strictObject({
  status: z.enum(['ok', 'degraded']),
  success_rate_recent: z.number().min(0).max(1).nullable(),
  p50_ms: Count.nullable(),
  p95_ms: Count.nullable(),
});
export type AgentHealth = z.infer<typeof AgentHealth>;

const agentSummary = {
  agent_id: z.string(),
  name: z.string(),
  tagline: z.string(),
  tags: z.array(z.string()),
  price_per_call_usdc: Usdc,
  total_executions: Count,
  success_rate: z.number().min(0).max(1),
  avg_execution_time_ms: Count,
  /** Disputes that are not decided yet. */
  open_disputes: Count,
  creator: z.strictObject({ pubkey: z.string(), verified: z.boolean(), display_name: z.string() }),
  /** Path of the picture that the creator has set. */
  picture_path: z.string().nullable(),
  status: z.enum(['active', 'paused']),
  health: AgentHealth,
};

export const AgentSummary = z.strictObject(agentSummary);
export type AgentSummary = z.infer<typeof AgentSummary>;

export const AgentPage = z.strictObject({ agents: z.array(AgentSummary), total: Count, limit: Count, offset: Count });
export type AgentPage = z.infer<typeof AgentPage>;

/** GET /v1/agents/{agent_id} */
export const AgentFull = z.strictObject({
  ...agentSummary,
  description: z.string(),
  input_schema: z.record(z.string(), z.unknown()),
  output_schema: z.record(z.string(), z.unknown()),
  timeout_seconds: Count,
  min_timeout_seconds: Count,
  max_result_bytes: Count,
  successful_executions: Count,
  dispute_count: Count,
  /** Of `dispute_count`, as is `open_disputes`. The others lapsed. */
  upheld_disputes: Count,
  rejected_disputes: Count,
  /** What is left of the listing's collateral, and what upheld disputes took from it. */
  collateral_usdc: Usdc,
  slashed_usdc: Usdc,
  on_chain_listing: z.url(),
  created_at: Time,
});
export type AgentFull = z.infer<typeof AgentFull>;
