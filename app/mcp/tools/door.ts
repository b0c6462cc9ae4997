/**
 * `run_agent` without an API key: the call is paid by x402. The first answer says what must be paid; the host sends the
 * call again with the payment in `_meta`. The same payment never pays twice, and gets the same answer.
 */
import type { ServerContext } from '@modelcontextprotocol/server';
import type * as z from 'zod';
import type { ExecuteAccepted, ExecuteCompleted } from '../../sdk/wire/wire.ts';
import { explain, failure, type ToolAnswer, value } from '../answers.ts';
import { type DoorAnswer, MarketplaceError } from '../market.ts';
import { cutResult, type Outcome } from '../shapes.ts';
import type { Tools } from './tool.ts';

/** Where x402's transport for MCP has the payment, and what became of it. */
const PAYMENT = 'x402/payment';
const RECEIPT = 'x402/payment-response';

export interface Input {
  task: string;
  parameters?: Record<string, unknown> | undefined;
  max_cost_usdc: number;
  timeout_seconds?: number | undefined;
  idempotency_key?: string | undefined;
}

/** Asks what must be paid, or pays with what the host has sent. */
export async function runAtDoor(
  { market }: Tools,
  agentId: string,
  { idempotency_key: idempotencyKey, ...body }: Input,
  { mcpReq: { _meta, signal } }: ServerContext,
): Promise<ToolAnswer> {
  const payment = _meta?.[PAYMENT];
  let answer: DoorAnswer;
  try {
    answer = await market.enterDoor({ agentId, body, idempotencyKey, payment, signal });
  } catch (error) {
    const paid = payment === undefined ? 'Nothing was charged.' : 'The call may have been paid.';
    return failure(
      `The marketplace did not answer: ${(error as Error).message}. ${paid}`,
      'Repeat the call with the same arguments and the same payment. That never pays twice.',
    );
  }
  const { required, receipt } = answer;
  if (required) {
    return { isError: true, structuredContent: required, content: [{ type: 'text', text: JSON.stringify(required) }] };
  }
  const shown = answer.body instanceof MarketplaceError ? explain(answer.body) : value(outcomeOf(agentId, answer.body));
  return receipt === null ? shown : { ...shown, _meta: { [RECEIPT]: receipt } };
}

function outcomeOf(agentId: string, body: Record<string, unknown>): z.infer<typeof Outcome> {
  const answer = body as ExecuteAccepted | ExecuteCompleted;
  const { execution_id, status } = answer;
  const ended = answer.status === 'completed' ? answer : null;
  return {
    execution_id,
    agent_id: agentId,
    status,
    ...cutResult(ended?.result ?? null),
    result_url: ended?.ipfs_url ?? null,
    cost_usdc: ended?.cost_usdc ?? 0,
    error: null,
    refund: null,
    next: ended ? null : 'Repeat the call with the same arguments and the same payment.',
  };
}
