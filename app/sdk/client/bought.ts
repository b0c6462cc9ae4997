/** A call that a wallet pays by x402: gets a quote, pays it, and sends the payment again until the result is there. */

import { type ApiRequest, type Client, type Payment, readAs } from './client.ts';
import { jsonOf, retryAfterOf, toError } from './http.ts';
import { errorOfCall, type RunInput, type RunOptions, startDeadline, WAIT_MS } from './paid.ts';
import { sleep } from './repeat.ts';
import type { CompletedExecution } from './types.ts';

/** Seconds between two polls of a running call, if the marketplace asks for no pause. */
const PAUSE_SECONDS = 1;

/** Returns the result. Throws the error of a failed call, and the errors of `payment` about a quote. */
export async function buyCall(
  client: Client,
  { agentId, input, request }: { agentId: string; input: RunInput; request: ApiRequest },
  payment: Payment,
  { maxCostUsdc, timeoutSeconds, timeout = WAIT_MS, signal }: RunOptions,
): Promise<CompletedExecution> {
  if (maxCostUsdc === undefined)
    throw new TypeError('maxCostUsdc is required: without an API key, nothing else limits what the wallet pays.');
  const deadline = startDeadline(timeout, signal);
  let executionId: string | null = null;
  const onExecution = (id: string) => {
    executionId = id;
  };
  const asked = {
    ...request,
    route: 'buyExecution' as const,
    input: { ...request.input, payer: payment.payer },
    signal: deadline.signal,
    onExecution,
  };
  try {
    const quoted = await client.ask({ ...asked, accepts: [402] });
    const required = quoted.response.headers.get('payment-required');
    if (required === null) throw toError(quoted.response, jsonOf(quoted));
    const signature = await payment.pay(required, { agentId, ...input, maxCostUsdc, timeoutSeconds });
    for (;;) {
      // The same payment never pays twice, so sending it again polls for the result.
      const answer = await client.ask({ ...asked, headers: { 'payment-signature': signature } });
      if (answer.response.status !== 202) return readAs('buyExecution', answer);
      executionId = readAs('buyExecution', answer).execution_id;
      await sleep((retryAfterOf(answer.response) ?? PAUSE_SECONDS) * 1_000, deadline.signal);
    }
  } catch (error) {
    throw errorOfCall(error, executionId, deadline.isOver());
  } finally {
    deadline.clear();
  }
}
