/** Routes of paid calls. */
import { z } from 'zod';
import { IDEMPOTENCY_KEY } from '../../../sdk/wire/choices.ts';
import { ExecuteAccepted, ExecuteBody, ExecuteCompleted, MAX_BODY_BYTES, StartBody } from '../../../sdk/wire/wire.ts';
import { askerOf, askerOfKey } from '../../access/asker.ts';
import { clientNetwork } from '../../access/clientAddress.ts';
import { executeAgent, startExecution } from '../../calls/execute.ts';
import { BUY_PATH } from '../../calls/x402/directory.ts';
import { callByX402, X402Query } from '../../calls/x402/sell.ts';
import { createOutput } from '../outputStream.ts';
import { SETTLED, TASK } from './executionSamples.ts';
import { CACHING, route } from './route.ts';
import { AGENT_PARAM, EXECUTION_ID, EXECUTION_PARAM, WALLET } from './samples.ts';

/** The errors of every call, and those of a call that is paid for here. */
const CALL_ERRORS = [
  'agent_not_found',
  'execution_timeout',
  'request_in_progress',
  'result_unavailable',
  'execution_failed',
  'metadata_missing',
] as const;
const NEW_CALL_ERRORS = ['price_changed', 'agent_paused', 'idempotency_key_reused'] as const;

/** The answers of executeAgent and startExecution. */
const outcomesOf = (asynchronous: string) => ({
  200: {
    about: `The settled result; with \`async\`, the ${asynchronous} execution. With \`stream\`, Server-Sent Events: \`execution\` with its id, \`delta\` with \`text\` as the agent writes it (not verified, and not the result), then \`result\` with this answer or \`error\` with the error. If a stream ends without either, the outcome is unknown: read the execution.`,
    // The media type of the stream is omitted: with it, generated clients would type every answer as JSON or text.
    schema: z.union([ExecuteCompleted, ExecuteAccepted]),
    headers: ['Idempotent-Replayed' as const],
    examples: {
      completed: SETTLED,
      asynchronous: { execution_id: EXECUTION_ID, status: 'pending' },
    },
  },
  202: {
    about: 'The outcome is not known yet. The execution continues: read it until it has ended.',
    schema: ExecuteAccepted,
    headers: ['Retry-After' as const],
    examples: { unknown: { execution_id: EXECUTION_ID, status: 'running' } },
  },
});

/** The common fields of these routes. */
const SHARED = { method: 'post', tag: 'Executions', cache: CACHING.never } as const;

export const callRoutes = {
  executeAgent: route({
    ...SHARED,
    path: '/v1/agents/{agent_id}/execute',
    summary: 'Execute an agent and pay for it',
    about:
      'Puts the price into an on-chain escrow, calls the agent, settles the escrow and answers with the signed result. With `async` it answers as soon as the escrow is funded.',
    access: 'execute',
    params: { agent_id: AGENT_PARAM },
    headers: {
      'Idempotency-Key': {
        about:
          'Makes it safe to repeat this request; without it, a repeat after a lost answer is a second paid call. Requests of a wallet with the same Idempotency-Key are one execution, charged once. The final answer is repeated, with `Idempotent-Replayed: true`. If the escrow provably was not funded, the key can be used again.',
        schema: z.string().regex(IDEMPOTENCY_KEY),
      },
    },
    body: {
      schema: ExecuteBody,
      maxBytes: MAX_BODY_BYTES,
      example: { ...TASK, timeout_seconds: 30, max_cost_usdc: 0.25 },
    },
    answers: outcomesOf('funded'),
    errors: ['insufficient_balance', 'agent_not_allowed', ...CALL_ERRORS, ...NEW_CALL_ERRORS],
    async handle({ deps }, { caller, request, param, bytes, arrivedMs }) {
      const idempotencyKey = request.headers['idempotency-key'];
      const ask = () => askerOfKey(deps, caller.wallet);
      const output = createOutput(request.res!);
      return executeAgent(deps, caller, { agentId: param('agent_id'), idempotencyKey, bytes, ask, arrivedMs, output });
    },
  }),

  buyExecution: route({
    ...SHARED,
    path: BUY_PATH,
    summary: 'Execute an agent and pay by x402',
    about:
      'For x402 clients (version 2, `exact` on Solana), without an API key, an account or SOL. The first request is answered with 402 and a quote in `PAYMENT-REQUIRED`. The client signs a transfer of the quoted USDC and sends the request again with the payment in `PAYMENT-SIGNATURE`. The money goes to a deposit whose address commits to this request, and then into the escrow. It is paid to the creator only for the signed result; otherwise it returns to the payer. The same payment never pays twice: sending it again gives the same answer. With `payer` in the query, only that wallet can be the caller of the execution and get its refund. A request without a body gets a 402 too, whose quote shows the price and cannot be paid.',
    access: 'public',
    isUrgent: ({ headers }) => headers['payment-signature'] !== undefined,
    params: { agent_id: AGENT_PARAM },
    query: X402Query,
    queryExample: { payer: WALLET },
    headers: {
      'PAYMENT-SIGNATURE': {
        about: 'The payment: PaymentPayload of x402 version 2, JSON in base64. It echoes the quote that it pays.',
        schema: z.string(),
      },
      'Idempotency-Key': {
        about:
          'Requests with the same key get the same quote. A client that lost the answer to its payment can repeat the request and gets that answer. Use a random key.',
        schema: z.string().regex(IDEMPOTENCY_KEY),
      },
    },
    body: {
      schema: ExecuteBody,
      maxBytes: MAX_BODY_BYTES,
      example: { ...TASK, timeout_seconds: 30 },
      mayBeEmpty: true,
    },
    answers: {
      200: {
        about: 'The settled result.',
        schema: ExecuteCompleted,
        headers: ['Idempotent-Replayed', 'PAYMENT-RESPONSE'],
        examples: { completed: SETTLED },
      },
      202: {
        about:
          'The execution continues: `async` was set, or the outcome is not known yet. To get the outcome, send the same request again, with the same payment or with the same `Idempotency-Key`. Without either, it buys another call.',
        schema: ExecuteAccepted,
        headers: ['Retry-After', 'Location', 'PAYMENT-RESPONSE'],
        examples: { unknown: { execution_id: EXECUTION_ID, status: 'running' } },
      },
    },
    errors: ['payment_required', 'payment_id_reused', ...CALL_ERRORS, ...NEW_CALL_ERRORS],
    async handle({ deps }, { request, param, bytes }) {
      const { 'idempotency-key': idempotencyKey, 'payment-signature': payment } = request.headers;
      const askFor = (wallet: string | null) => () => askerOf(deps, request, wallet);
      const network = clientNetwork(request, deps.config.trustProxy);
      const asked = { agentId: param('agent_id'), idempotencyKey, payment, url: request.url, bytes, askFor, network };
      return callByX402(deps, asked);
    },
  }),

  startExecution: route({
    ...SHARED,
    path: '/v1/executions/{execution_id}/start',
    summary: 'Start an execution that a wallet opened itself',
    about:
      'Runs an execution whose escrow the wallet funded on-chain with `open_execution`, and answers like execute. It needs an API key of that wallet, or a `wallet_signature` in the body. Repeating the request never runs the execution twice. While it runs the answer is 409, or 200 `pending` with `async`; afterwards it is always the same outcome.',
    access: 'wallet',
    // The money is in escrow already.
    isUrgent: () => true,
    params: { execution_id: EXECUTION_PARAM },
    body: { schema: StartBody, maxBytes: MAX_BODY_BYTES, example: TASK },
    answers: outcomesOf('started'),
    errors: ['agent_not_allowed', 'execution_not_found', 'not_startable', ...CALL_ERRORS],
    async handle({ deps }, { caller, request, param, bytes }) {
      const askFor = (wallet: string | null) => () =>
        caller ? askerOfKey(deps, caller.wallet) : askerOf(deps, request, wallet);
      const output = createOutput(request.res!);
      return startExecution(deps, caller, { executionId: param('execution_id'), bytes, askFor, output });
    },
  }),
};
