/** `get_budget`: what the key and this session may still spend. */
import * as z from 'zod';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { value } from '../answers.ts';
import { READS, safely, type Tools } from './tool.ts';

export function addBudgetTool({ server, market, session }: Tools): void {
  server.registerTool(
    'get_budget',
    {
      title: 'Read the budget',
      description: 'What this API key and session may still spend, and the restrictions of the key.',
      annotations: READS,
      outputSchema: z.object({
        payable_usdc: z.number().describe('Highest price that one call may have now'),
        period_remaining_usdc: z.number(),
        renews_at: z.string(),
        total_remaining_usdc: z.number(),
        balance_usdc: z.number(),
        gas_pays_next_call: z.boolean(),
        scopes: z.array(z.string()),
        allowed_agents: z.array(z.string()).nullable(),
        expires_at: z.string().nullable(),
        session_remaining_usdc: z.number().nullable().describe('null: no budget was set'),
        session_spent_usdc: z.number(),
        approval_above_usdc: z.number(),
      }),
    },
    (ctx) =>
      safely(async () => {
        const key = await market.client.getKey();
        const left = session.remaining();
        const sessionLeft = left === null ? null : toUsdc(left > 0n ? left : 0n);
        return value({
          payable_usdc: sessionLeft === null ? key.payable_usdc : Math.min(key.payable_usdc, sessionLeft),
          period_remaining_usdc: key.period_remaining_usdc,
          renews_at: key.renews_at,
          total_remaining_usdc: key.total_remaining_usdc,
          balance_usdc: key.balance_usdc,
          gas_pays_next_call: key.gas.pays_next_call,
          scopes: key.scopes,
          allowed_agents: key.allowed_agents,
          expires_at: key.expires_at,
          session_remaining_usdc: sessionLeft,
          session_spent_usdc: toUsdc(session.spent()),
          approval_above_usdc: toUsdc(session.approveAbove),
        });
      })(undefined, ctx),
  );
}
