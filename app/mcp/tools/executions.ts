/** `get_execution`, `wait_for_execution`, `list_executions` and `verify_execution`. */
import * as z from 'zod';
import type { Check } from '../../sdk/receipt/checks.ts';
import { EXECUTION_STATUSES } from '../../sdk/wire/choices.ts';
import { value } from '../answers.ts';
import { AgentId, ExecutionId, listed, Outcome, outcomeOf } from '../shapes.ts';
import { creatorsWords, wordsIn } from '../words.ts';
import { answerOf } from './run.ts';
import { MOST_WAIT_SECONDS, READS, safely, type Tools } from './tool.ts';
import { within } from './wait.ts';

const OneExecution = listed(z.strictObject({ execution_id: ExecutionId }));
const Wait = listed(
  z.strictObject({
    execution_id: ExecutionId,
    seconds: z.number().min(0).max(MOST_WAIT_SECONDS).optional(),
  }),
);
const Filters = listed(
  z.strictObject({
    status: z.enum(EXECUTION_STATUSES).optional(),
    agent_id: AgentId.optional(),
    limit: z.int().min(1).max(50).optional(),
    offset: z.int().min(0).optional(),
  }),
);
const ExecutionList = listed(
  z.object({
    executions: z.array(
      z.object({
        execution_id: z.string(),
        agent_id: z.string(),
        agent_name: z.string().nullable(),
        status: z.string(),
        cost_usdc: z.number(),
        initiated_at: z.string(),
      }),
    ),
    total: z.number(),
    ...creatorsWords,
  }),
);
const Verified = listed(
  z.object({
    execution_id: z.string(),
    valid: z.boolean().describe('No check failed, and the chain shows the payment'),
    checks: z.array(z.object({ name: z.string(), state: z.string(), reason: z.string().nullable() })),
    node: z.string().nullable(),
  }),
);

export function addExecutionTools(tools: Tools): void {
  const { server, market, session } = tools;
  const { request } = market;
  server.registerTool(
    'get_execution',
    {
      title: 'Read an execution',
      description: 'One paid call of this wallet: status, result, cost, refund.',
      annotations: READS,
      inputSchema: OneExecution,
      outputSchema: Outcome,
    },
    safely(async ({ execution_id }) => {
      const execution = await request('getExecution', { execution_id });
      session.saw(execution);
      return value(outcomeOf(execution));
    }),
  );

  server.registerTool(
    'wait_for_execution',
    {
      title: 'Wait for an execution',
      description: `Wait until a call has ended, at most ${MOST_WAIT_SECONDS} s. Call again while status is running. Charges nothing.`,
      annotations: READS,
      inputSchema: Wait,
      outputSchema: Outcome,
    },
    safely(({ execution_id, seconds = MOST_WAIT_SECONDS }, ctx) =>
      within(ctx.mcpReq.signal, MOST_WAIT_SECONDS * 1_000, async (most) => {
        // Fails for a mistyped id, or an execution of another wallet.
        const known = await request('getExecution', { execution_id }, { signal: most });
        return within(most, seconds * 1_000, (signal) => answerOf(tools, execution_id, signal, { known }));
      }),
    ),
  );

  server.registerTool(
    'list_executions',
    {
      title: 'List executions',
      description: "This wallet's paid calls, newest first.",
      annotations: READS,
      inputSchema: Filters,
      outputSchema: ExecutionList,
    },
    safely(async ({ limit = 10, ...filters }) => {
      const given = Object.fromEntries(Object.entries(filters).filter(([, one]) => one !== undefined));
      const { executions, total } = await request('listExecutions', { limit, ...given });
      const shown = executions.map(({ execution_id, agent_id, agent_name, status, cost_usdc, initiated_at }) => ({
        ...{ execution_id, agent_id, agent_name, status, cost_usdc, initiated_at },
      }));
      return value({ executions: shown, total, ...wordsIn('agent_name') });
    }),
  );

  server.registerTool(
    'verify_execution',
    {
      title: 'Verify an execution',
      description:
        "Check a settled call's receipt against a Solana node: hashes, the creator's signature, the record and the payment.",
      annotations: READS,
      inputSchema: OneExecution,
      outputSchema: Verified,
    },
    safely(async ({ execution_id }) => {
      const { node, isProven, checks } = await market.verify(execution_id);
      return value({
        execution_id,
        valid: isProven,
        checks: checks.map((check) => ({ name: check.name, state: check.state, reason: reasonFor(check) })),
        node,
      });
    }),
  );
}

/** Why a check failed or was not made, or what it does not prove. */
function reasonFor({ reason, compared }: Check): string | null {
  const wrong = compared.filter(({ got, expected }) => got !== expected);
  const differences = wrong.map(({ what, got, expected }) => `${what} is ${got}, expected ${expected}.`);
  return [...differences, ...(reason === null ? [] : [reason])].join(' ') || null;
}
