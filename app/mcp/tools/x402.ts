/**
 * `run_agent` without an API key: the call is paid by x402, by the host or by the wallet of this server. The same payment
 * never pays twice, and gets the same answer.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import type { Payment } from '../../sdk/client/client.ts';
import { parseUsdc, toUsdc } from '../../sdk/wire/usdc.ts';
import {
  explain,
  failure,
  isEnd,
  isNeverCharged,
  reasonOf,
  type ToolAnswer,
  unknownOutcome,
  value,
  withKey,
} from '../answers.ts';
import { type Bought, decodeHeader, encodeHeader, MarketplaceError, type X402Answer } from '../market.ts';
import type { SignedPayment } from '../session.ts';
import { cutResult, OUTCOME_WORDS, type Outcome } from '../shapes.ts';
import { tooDear } from './agents.ts';
import { overBudget, requireApproval } from './spending.ts';
import { MOST_WAIT_SECONDS, RUN, type Tools } from './tool.ts';
import { within } from './wait.ts';

/** Fields of x402's transport for MCP: the payment, and its outcome. */
const PAYMENT = 'x402/payment';
const RECEIPT = 'x402/payment-response';
const PAUSE_MS = 1_000;
/** How a host retries a call that it has paid. */
const SAME_PAYMENT = 'the same arguments and the same payment';

export interface Input {
  task: string;
  parameters?: Record<string, unknown> | undefined;
  max_cost_usdc: number;
  timeout_seconds?: number | undefined;
  idempotency_key?: string | undefined;
}

/** True if a host pays with this JSON-RPC message: it calls `run_agent`, or a tool of one agent, with a payment. */
export function carriesPayment(message: unknown): boolean {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: Record<string, unknown> | null };
  const { name, _meta } = (params ?? {}) as { name?: unknown; _meta?: Record<string, unknown> | null };
  return method === 'tools/call' && String(name).startsWith(RUN) && _meta?.[PAYMENT] !== undefined;
}

/** The first answer has the quote. The host then sends the call again with the payment in `_meta`. */
export async function runForPayingHost(
  { market, payer }: Tools,
  agentId: string,
  { idempotency_key: idempotencyKey, ...body }: Input,
  { mcpReq: { _meta, signal } }: ServerContext,
): Promise<ToolAnswer> {
  const sent = _meta?.[PAYMENT];
  const payment = sent === undefined ? null : encodeHeader(sent);
  let answer: X402Answer;
  try {
    answer = await market.callX402Route({ agentId, body, idempotencyKey, payer, payment, signal });
  } catch (error) {
    return payment === null ? unpaid(error) : unknownOutcome(error, SAME_PAYMENT);
  }
  const { receipt } = answer;
  const required = decodeHeader(answer.required);
  if (required) {
    return { isError: true, structuredContent: required, content: [{ type: 'text', text: JSON.stringify(required) }] };
  }
  const shown = show(agentId, answer, { isPaid: payment !== null, again: SAME_PAYMENT });
  return receipt === null ? shown : { ...shown, _meta: { [RECEIPT]: receipt } };
}

/** Pays with the wallet of this server, within the session's budget and approval. */
export async function runWithWallet(
  tools: Tools,
  wallet: Payment,
  { agentId, name }: { agentId: string; name: string },
  { idempotency_key: key = randomUUID(), ...input }: Input,
  ctx: ServerContext,
): Promise<ToolAnswer | InputRequiredResult> {
  const { market, session } = tools;
  const again = withKey(key);
  const body = { ...input, async: true };
  return within(ctx.mcpReq.signal, MOST_WAIT_SECONDS * 1_000, async (signal) => {
    const enter = (payment: string | null) =>
      market.callX402Route({ agentId, body, idempotencyKey: key, payer: wallet.payer, payment, signal });
    let signed: SignedPayment | null = null;
    try {
      signed = await session.paymentOf(key);
      if (signed === null) {
        const answer = await enter(null);
        const { required } = answer;
        if (required === null) return show(agentId, answer, { isPaid: false, again });
        const { amount, serviceFee } = amountsOf(required);
        if (amount > parseUsdc(input.max_cost_usdc)) return tooDear(toUsdc(amount), input.max_cost_usdc);
        const refusal = requireApproval(tools, { agentId, name }, amount, ctx);
        if (refusal) return refusal;
        if (session.take(key, amount, amount) === null) return overBudget(tools, amount);
        const { task, parameters, max_cost_usdc: maxCostUsdc, timeout_seconds: timeoutSeconds } = input;
        const call = { agentId, task, parameters, maxCostUsdc, timeoutSeconds };
        const pay = async () => ({ payment: await wallet.pay(required, call), serviceFee });
        signed = await session.sign(key, pay).catch((error) => {
          session.giveBack(key);
          throw error;
        });
      }
      for (;;) {
        const answer = await enter(signed.payment);
        // The price was refunded, but not the service fee. A refused payment stays in the budget: it could still be sent.
        if (answer.receipt?.success === false) session.cost(key, signed.serviceFee);
        if (!answer.isRunning || signal.aborted) return show(agentId, answer, { isPaid: true, again });
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    } catch (error) {
      return signed === null ? unpaid(error) : unknownOutcome(error, again);
    }
  });
}

/** Amounts of a quote, base units. `pay` checks them, and refuses a quote that costs more. */
function amountsOf(required: string): { amount: bigint; serviceFee: bigint } {
  const { accepts } = decodeHeader(required) as { accepts: { amount: string; extra: { service_fee: string } }[] };
  const { amount, extra } = accepts[0]!;
  return { amount: BigInt(amount), serviceFee: BigInt(extra.service_fee) };
}

function unpaid(error: unknown): ToolAnswer {
  return failure(`${reasonOf(error)}. Nothing was charged.`, 'Repeat the call, or choose another agent.');
}

/** `isPaid`: a payment was sent with the request. `again` says how to repeat it. */
function show(
  agentId: string,
  { body, required, receipt }: X402Answer,
  { isPaid, again }: { isPaid: boolean; again: string },
): ToolAnswer {
  if (required !== null)
    return failure(
      'The payment was not accepted, and nothing was charged so far. Its amount stays in the budget of this session, because the signed payment could still be sent.',
      'Call again with a new key.',
    );
  if (!(body instanceof MarketplaceError)) return value(outcomeOf(agentId, body, again));
  const isKnown = isNeverCharged(body) || (body.executionId !== null && (receipt !== null || isEnd(body)));
  return isPaid && !isKnown ? unknownOutcome(body, again) : explain(body);
}

function outcomeOf(agentId: string, answer: Bought, again: string): Outcome {
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
    next: ended ? null : `Repeat the call with ${again}.`,
    ...OUTCOME_WORDS,
  };
}
