/** `get_budget`: the amounts that this session, and the key or wallet that pays, may still spend. */
import * as z from 'zod';
import type { OwnKey } from '../../sdk/wire/ownKey.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { value } from '../answers.ts';
import type { Session } from '../session.ts';
import { listed } from '../shapes.ts';
import { READS, safely, type Tools, type Wallet } from './tool.ts';

const sessionFields = {
  session_budget_usdc: z.number().nullable().describe('null: no budget was set'),
  session_remaining_usdc: z.number().nullable(),
  session_spent_usdc: z.number(),
  approval_above_usdc: z.number(),
};

const KeyBudget = listed(
  z.object({
    payable_usdc: z.number().describe('Maximum price of one call now'),
    period_remaining_usdc: z.number(),
    renews_at: z.string(),
    total_remaining_usdc: z.number(),
    balance_usdc: z.number(),
    allowance_usdc: z
      .number()
      .describe("Left for all of the wallet's keys. Calls take their price, refunds do not return it"),
    allowance_covers_total: z.boolean().describe('false: ask the user to renew the allowance'),
    gas_of_next_call: z
      .enum(['paid_by_gas_balance', 'paid_by_marketplace', 'too_low', 'above_key_limit'])
      .describe(
        'too_low: the next call is refused until the user sends SOL to gas_balance_address; above_key_limit: until the user raises the gas limit of the key, or network fees fall',
      ),
    gas_balance_address: z.string(),
    scopes: z.array(z.string()),
    allowed_agents: z.array(z.string()).nullable(),
    expires_at: z.string().nullable(),
    ...sessionFields,
  }),
);
const WalletBudget = listed(
  z.object({
    payable_usdc: z.number().nullable().describe('Maximum cost of one call now, including the service fee'),
    wallet: z.string(),
    balance_usdc: z.number().nullable().describe('null: unknown, the Solana node did not answer'),
    ...sessionFields,
  }),
);

export function addBudgetTool(tools: Tools): void {
  const { payment } = tools;
  if (payment === 'key') addKeyBudget(tools);
  else if (payment !== 'host') addWalletBudget(tools, payment);
}

function addKeyBudget({ server, market, session }: Tools): void {
  server.registerTool(
    'get_budget',
    {
      title: 'Read the budget',
      description: 'What this API key and session may still spend, and the restrictions of the key.',
      annotations: READS,
      outputSchema: KeyBudget,
    },
    (ctx) =>
      safely(async () => {
        const key = await market.request('getKey');
        const own = budgetOf(session);
        return value({
          payable_usdc: Math.min(key.payable_usdc, own.session_remaining_usdc ?? key.payable_usdc),
          period_remaining_usdc: key.period_remaining_usdc,
          renews_at: key.renews_at,
          total_remaining_usdc: key.total_remaining_usdc,
          balance_usdc: key.balance_usdc,
          allowance_usdc: key.allowance_usdc,
          allowance_covers_total: key.allowance_covers_total,
          gas_of_next_call: gasOf(key),
          gas_balance_address: key.gas.gas_balance_address,
          scopes: key.scopes,
          allowed_agents: key.allowed_agents,
          expires_at: key.expires_at,
          ...own,
        });
      })(undefined, ctx),
  );
}

function addWalletBudget({ server, session }: Tools, wallet: Wallet): void {
  server.registerTool(
    'get_budget',
    {
      title: 'Read the budget',
      description: 'What this session may still spend, and the wallet that pays.',
      annotations: READS,
      outputSchema: WalletBudget,
    },
    (ctx) =>
      safely(async () => {
        const units = await wallet.readBalance().catch(() => null);
        const balance = units === null ? null : toUsdc(units);
        const own = budgetOf(session);
        const limits = [balance, own.session_remaining_usdc].filter((limit) => limit !== null);
        return value({
          payable_usdc: limits.length === 0 ? null : Math.min(...limits),
          wallet: wallet.payer,
          balance_usdc: balance,
          ...own,
        });
      })(undefined, ctx),
  );
}

/** Who pays the network fees of the key's next call. */
export function gasOf({ gas }: { gas: OwnKey['gas'] }) {
  if (gas.pays_next_call) return 'paid_by_gas_balance';
  if (gas.is_sponsored) return 'paid_by_marketplace';
  return gas.next_call_lamports > gas.max_gas_lamports ? 'above_key_limit' : 'too_low';
}

function budgetOf(session: Session) {
  const left = session.remaining();
  return {
    session_budget_usdc: session.budget === null ? null : toUsdc(session.budget),
    session_remaining_usdc: left === null ? null : toUsdc(left > 0n ? left : 0n),
    session_spent_usdc: toUsdc(session.spent()),
    approval_above_usdc: toUsdc(session.approveAbove),
  };
}
