/** Fields of agents, their listings, figures and statements. */
import { describeSchemaRules } from '../../../../sdk/wire/schemaKeywords.ts';

export const AGENTS_FIELDS: Record<string, string> = {
  agents: 'At most `limit` agents.',
  avg_execution_time_ms: 'Rounded mean time of the settled executions, milliseconds; 0 if there are none.',
  created_at: 'When the agent was listed.',
  custom_tags: 'Up to 5 tags in addition to the standard tags, which the listing has on-chain.',
  display_name:
    "The creator's display name. Its creator chooses it, and nobody checks it, also if `verified` is true, which is about the wallet: show it with `pubkey`.",
  dispute_count: 'Number of disputes opened so far.',
  open_disputes: 'How many disputes are not decided yet.',
  upheld_disputes: 'How many disputes were decided for the caller.',
  rejected_disputes:
    'How many disputes were decided for the creator. Those that are not open, upheld or rejected ended without a decision.',
  max_result_bytes:
    'Largest result at this price, bytes of UTF-8. An execution with a larger result fails and is refunded.',
  endpoint: 'The full https URL that executions are sent to, ending in `/execute`. Never part of a public answer.',
  health: 'Success and latency of its last 50 finished executions.',
  input_schema: 'JSON Schema of `parameters`.',
  'AgentMetadata.input_schema': `JSON Schema of \`parameters\`. ${describeSchemaRules().join('\n')}`,
  metadata_hash: 'SHA-256 of the bytes, 64 hex digits, for `list_agent` or `update_listing`.',
  on_chain_listing: 'The listing account in a block explorer.',
  output_schema: 'JSON Schema of the result. Not enforced: a result is text.',
  p50_ms: 'Median time of the successful executions, milliseconds; null if there are none.',
  p95_ms: '95th percentile of the time of the successful executions, milliseconds; null if there are none.',
  price_per_call_usdc: 'The price of one execution, USDC.',
  picture:
    'A small picture: a PNG, JPEG or WebP of at most 24,576 bytes and 512 x 512 pixels, as a `data:` URL in base64. Agents without one have a pattern made from their address.',
  picture_path:
    'Path of the picture that the creator has set, on this server; null if there is none. It changes with the description.',
  pubkey: "The creator's wallet address.",
  'AgentFull.status':
    '`paused` agents cannot be executed. Their creator has paused them, or an upheld dispute has left `collateral_usdc` below the deposit that the price requires.',
  'AgentSummary.status': 'Lists contain only active agents.',
  'AgentHealth.status':
    '`degraded`: there are at least 5 executions, `success_rate_recent` is below 0.8, and at least 3 wallets had failures.',
  success_rate_recent:
    'The share of successful executions, 0 to 1, with equal weight for each wallet; null if there are none.',
  success_rate: '`successful_executions` / `total_executions`, 0 to 1; 0 if there are none.',
  successful_executions: 'Completed executions without an upheld dispute.',
  'AgentFull.timeout_seconds': 'The longest timeout of an execution, and the default.',
  min_timeout_seconds: 'The shortest timeout of an execution.',
  total_executions:
    'Finished executions: settled ones, and those that failed through the creator’s fault. A timeout is its fault only if the caller gave the listing’s full time.',
  verified: 'True if the marketplace has checked the creator’s identity.',
  'AgentFull.collateral_usdc':
    'What is left of the collateral that the creator deposited for this agent, USDC. Callers whose dispute is upheld are paid from it.',
  'AgentFull.slashed_usdc': 'What upheld disputes have taken from this collateral, USDC.',
  completed: 'Executions that settled on that day, also if they were disputed later.',
  refunded: 'Executions that were refunded on that day.',
  day: 'The day in UTC.',
  days: 'Every day of the range, oldest first.',
  earned_usdc: 'The creators’ share of `paid_usdc`.',
  fee_usdc: 'The marketplace’s share of `paid_usdc`.',
  paid_usdc: 'The prices of the executions that settled, USDC.',
  refunded_usdc: 'The prices that were refunded, USDC.',
  returned_usdc: 'Paid to callers for disputes that were upheld on that day, USDC.',
  slashed_usdc: 'Taken from the creators’ collateral for these disputes, USDC.',
  service_fee_usdc:
    'The service fees of the executions that callers paid by x402, also of refunded ones. Not part of `paid_usdc`. USDC.',
  'StatementDay.executions': 'Executions that ended on that day.',
  'StatementTotal.executions': 'Executions that ended on these days.',
  'DailyStatement|SpendStatement|AgentStatistics.from': 'The first day.',
  'DailyStatement|SpendStatement.to': 'The last day.',
  'DailyStatement|SpendStatement.wallet': 'The wallet of the key or session.',
  'DailyStatement.total': 'The sums of all days.',
  'SpendRow.executions': 'Executions of this key with this agent that ended on that day.',
  key_id: 'The API key on the chain; null if the wallet opened the executions itself.',
  key_name: 'Its name; null if this service did not make it.',
  rows: 'By day, key and agent.',
  'AgentDay|AgentFigures.completed': 'Executions that settled, also if they are disputed.',
  'AgentDay|AgentFigures.failed':
    'Executions that were refunded through the creator’s fault, or whose dispute was upheld.',
  'AgentDay|AgentFigures.refunded': 'Executions that were refunded through no fault of the creator.',
  'AgentDay|AgentFigures.success_rate': '`completed` / (`completed` + `failed`), 0 to 1; null if both are 0.',
  'AgentStatistics.to': 'The last day, today.',
  'AgentStatistics.total': 'The figures for all of these days together.',
  'AgentStatistics.reason': 'Why they were refunded, by the program.',
  'AgentStatistics.executions': 'Executions with this reason.',
  duration_ms: 'How long the last attempt took, milliseconds.',
  http_status: 'The status of the answer to the last attempt; null if none came.',
};
