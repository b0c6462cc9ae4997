/** The session's limits on a call: a person's approval above a price, and the budget. */
import type { ServerContext } from '@modelcontextprotocol/server';
import { plain } from '../../sdk/wire/creatorsWords.ts';
import { formatUsdc } from '../../sdk/wire/usdc.ts';
import { failure, type ToolAnswer } from '../answers.ts';
import { approvalOf } from '../approval.ts';
import type { Tools } from './tool.ts';

/** Null if the call may continue. Nobody is asked to approve a call that the budget cannot pay. */
export function requireApproval(
  tools: Tools,
  agent: { agentId: string; name: string },
  price: bigint,
  ctx: ServerContext,
) {
  const { server, session, raiseApproval } = tools;
  if (price <= session.approveAbove) return null;
  const left = session.remaining();
  if (left !== null && price > left) return overBudget(tools, price);
  const costs = `${formatUsdc(price)} USDC`;
  const approval = approvalOf(
    server,
    ctx,
    `pay_${price}`,
    `Pay ${costs} to the agent that its creator calls ${JSON.stringify(plain(agent.name))} (${agent.agentId})?`,
  );
  if (approval.kind === 'ask') return approval.question;
  if (approval.kind === 'approved') return null;
  if (approval.kind === 'declined')
    return failure(
      `The user declined to pay ${costs}. Nothing was charged.`,
      'Do not repeat it. Ask the user what to do.',
    );
  const limit = formatUsdc(session.approveAbove);
  return failure(
    `The agent costs ${costs}. Calls above ${limit} USDC need the user's approval, which this connection cannot ask for. Nothing was charged.`,
    `Ask the user to ${raiseApproval}, or choose a cheaper agent.`,
  );
}

export function overBudget({ session }: Tools, price: bigint): ToolAnswer {
  const left = session.remaining() ?? 0n;
  return failure(
    `The agent costs ${formatUsdc(price)} USDC, and the budget of this session has ${formatUsdc(left > 0n ? left : 0n)} of ${formatUsdc(session.budget ?? 0n)} USDC left. Nothing was charged.`,
    'Wait for calls in progress, which reserve their maximum cost. Else choose a cheaper agent, or ask the user to start the server with a higher --budget.',
  );
}
