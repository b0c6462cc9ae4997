/** Routes of executions: paid calls, their records and results. */

import { z } from 'zod';
import { hashResult } from '../../../sdk/receipt/receipt.ts';
import { IDEMPOTENCY_KEY } from '../../../sdk/wire/choices.ts';
import { Receipt } from '../../../sdk/wire/receipt.ts';
import {
  ARCHIVE_PAGE,
  ContentDeleted,
  ExecuteAccepted,
  ExecuteBody,
  ExecuteCompleted,
  ExecutionArchive,
  ExecutionFull,
  ExecutionPage,
  ExecutionsQuery,
  LeavesQuery,
  MAX_BODY_BYTES,
  StartBody,
  UnclaimedProofs,
} from '../../../sdk/wire/wire.ts';
import { askerOf, askerOfKey } from '../../access/asker.ts';
import { clientNetwork } from '../../access/clientAddress.ts';
import { archiveOf, leavesOf, requireLeaves } from '../../calls/archived.ts';
import { deleteExecutionContent } from '../../calls/deletion.ts';
import { executeAgent, startExecution } from '../../calls/execute.ts';
import { getReceipt } from '../../calls/receipts.ts';
import { getExecution, listExecutions } from '../../calls/records.ts';
import { findResult } from '../../calls/results.ts';
import { unclaimedOf } from '../../calls/unclaimed.ts';
import { BUY_PATH } from '../../calls/x402/directory.ts';
import { DoorQuery, enterDoor } from '../../calls/x402/door.ts';
import { ApiError } from '../../errors.ts';
import { parse, readQuery, requireNoQuery } from '../../parse.ts';
import { createOutput } from '../outputStream.ts';
import {
  ARCHIVE,
  COMPLETED,
  FAILED,
  LINE,
  RECEIPT,
  RESULT,
  RESULT_URL,
  SUMMARY,
  TASK,
  TRANSACTION_URL,
  UNCLAIMED,
} from './executionSamples.ts';
import { CACHING, route } from './route.ts';
import { AGENT_PARAM, EXECUTION_ID, EXECUTION_PARAM, TOKEN, WALLET } from './samples.ts';

/** The answer to a settled call. */
const SETTLED = {
  execution_id: EXECUTION_ID,
  status: 'completed' as const,
  result: RESULT,
  result_hash: hashResult(RESULT),
  cost_usdc: 0.25,
  tokens_used: null,
  execution_time_ms: 134,
  on_chain_record: TRANSACTION_URL,
  ipfs_url: RESULT_URL,
};

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

export const executionRoutes = {
  executeAgent: route({
    method: 'post',
    path: '/v1/agents/{agent_id}/execute',
    tag: 'Executions',
    summary: 'Execute an agent and pay for it',
    about:
      'Puts the price into an on-chain escrow, calls the agent, settles the escrow and answers with the signed result. With `async` it answers as soon as the escrow is funded.',
    access: 'execute',
    params: { agent_id: AGENT_PARAM },
    headers: {
      'Idempotency-Key': {
        about:
          'Makes it safe to repeat this request: requests of a wallet with the same key are one execution, charged once. For 24 hours the final answer is repeated byte for byte, with `Idempotent-Replayed: true`. Later the answer is rebuilt from the stored execution. If the escrow provably was not funded, the key can be used again.',
        schema: z.string().regex(IDEMPOTENCY_KEY),
      },
    },
    body: {
      schema: ExecuteBody,
      maxBytes: MAX_BODY_BYTES,
      example: { ...TASK, timeout_seconds: 30, max_cost_usdc: 0.25 },
    },
    answers: outcomesOf('funded'),
    errors: [
      'insufficient_balance',
      'agent_not_allowed',
      'agent_not_found',
      'execution_timeout',
      'price_changed',
      'request_in_progress',
      'result_unavailable',
      'agent_paused',
      'idempotency_key_reused',
      'execution_failed',
      'metadata_missing',
    ],
    cache: CACHING.never,
    async handle({ deps }, { caller, request, param, bytes, arrivedMs }) {
      const idempotencyKey = request.headers['idempotency-key'];
      const { url } = request;
      const ask = () => askerOfKey(deps, caller.wallet);
      const output = createOutput(request.res!);
      const call = { agentId: param('agent_id'), idempotencyKey, url, bytes, ask, arrivedMs, output };
      return executeAgent(deps, caller, call);
    },
  }),

  buyExecution: route({
    method: 'post',
    path: BUY_PATH,
    tag: 'Executions',
    summary: 'Execute an agent and pay by x402',
    about:
      'For x402 clients (version 2, `exact` on Solana), without an API key, an account or SOL. The first request is answered with 402 and a quote in `PAYMENT-REQUIRED`. The client signs a transfer of the quoted USDC and sends the request again with the payment in `PAYMENT-SIGNATURE`. The money goes to a deposit whose address commits to this request, and then into the escrow. It is paid to the creator only for the signed result; otherwise it returns to the payer. The same payment never pays twice: sending it again gives the same answer. With `payer` in the query, only that wallet can be the caller of the execution and get its refund. A request without a body gets a 402 too, whose quote shows the price and cannot be paid.',
    access: 'public',
    isUrgent: ({ headers }) => headers['payment-signature'] !== undefined,
    params: { agent_id: AGENT_PARAM },
    query: DoorQuery,
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
    errors: [
      'payment_required',
      'agent_not_found',
      'execution_timeout',
      'price_changed',
      'payment_id_reused',
      'request_in_progress',
      'result_unavailable',
      'agent_paused',
      'idempotency_key_reused',
      'execution_failed',
      'metadata_missing',
    ],
    cache: CACHING.never,
    async handle({ deps }, { request, param, bytes }) {
      const { 'idempotency-key': idempotencyKey, 'payment-signature': payment } = request.headers;
      const askFor = (wallet: string | null) => () => askerOf(deps, request, wallet);
      const network = clientNetwork(request, deps.config.trustProxy);
      const asked = { agentId: param('agent_id'), idempotencyKey, payment, url: request.url, bytes, askFor, network };
      return enterDoor(deps, asked);
    },
  }),

  startExecution: route({
    method: 'post',
    path: '/v1/executions/{execution_id}/start',
    tag: 'Executions',
    summary: 'Start an execution that a wallet opened itself',
    about:
      'Runs an execution whose escrow the wallet funded on-chain with `open_execution`, and answers like execute. It needs an API key of that wallet, or a `wallet_signature` in the body. Repeating the request never runs the execution twice. While it runs the answer is 409, or 200 `pending` with `async`; afterwards it is always the same outcome.',
    access: 'wallet',
    // The money is in escrow already.
    isUrgent: () => true,
    params: { execution_id: EXECUTION_PARAM },
    body: { schema: StartBody, maxBytes: MAX_BODY_BYTES, example: TASK },
    answers: outcomesOf('started'),
    errors: [
      'agent_not_allowed',
      'agent_not_found',
      'execution_not_found',
      'execution_timeout',
      'request_in_progress',
      'not_startable',
      'result_unavailable',
      'execution_failed',
      'metadata_missing',
    ],
    cache: CACHING.never,
    async handle({ deps }, { caller, request, param, bytes }) {
      const askFor = (wallet: string | null) => () =>
        caller ? askerOfKey(deps, caller.wallet) : askerOf(deps, request, wallet);
      const { url } = request;
      const output = createOutput(request.res!);
      return startExecution(deps, caller, { executionId: param('execution_id'), url, bytes, askFor, output });
    },
  }),

  listExecutions: route({
    method: 'get',
    path: '/v1/executions',
    tag: 'Executions',
    summary: "List the wallet's executions",
    about:
      "A page of the executions of the key's wallet, newest first by their position on the chain. With `idempotency_key` you find a call whose answer you have lost; calls paid by x402 are not found this way. Instead of a key you can send the token of a wallet's session (`auth.verify` of /trpc).",
    access: 'read',
    query: ExecutionsQuery,
    queryExample: { status: 'completed', limit: 10 },
    answers: {
      200: {
        about: 'The page.',
        schema: ExecutionPage,
        examples: { page: { executions: [SUMMARY], total: 1, limit: 20, offset: 0 } },
      },
    },
    errors: [],
    cache: CACHING.never,
    async handle({ deps }, { caller, request }) {
      const query = parse(ExecutionsQuery, readQuery(request.url), 'query');
      return { status: 200, value: await listExecutions(deps, caller.wallet, query) };
    },
  }),

  getExecution: route({
    method: 'get',
    path: '/v1/executions/{execution_id}',
    tag: 'Executions',
    summary: 'Read one execution',
    about:
      "The full record with the result; poll it until the execution has ended. Instead of a key you can send the token of a wallet's session (`auth.verify` of /trpc).",
    access: 'read',
    params: { execution_id: EXECUTION_PARAM },
    answers: {
      200: {
        about: 'The record.',
        schema: ExecutionFull,
        examples: {
          completed: COMPLETED,
          failed: FAILED,
          archived: { ...COMPLETED, on_chain_record: TRANSACTION_URL, archive: ARCHIVE },
        },
      },
    },
    errors: ['execution_not_found'],
    cache: CACHING.never,
    async handle({ deps }, { caller, request, param }) {
      const execution = await getExecution(deps, caller.wallet, param('execution_id'));
      requireNoQuery(request.url);
      return { status: 200, ...execution };
    },
  }),

  getExecutionReceipt: route({
    method: 'get',
    path: '/v1/executions/{execution_id}/receipt',
    tag: 'Executions',
    summary: 'Get the receipt of an execution',
    about:
      'Proves to anyone that a settled execution was requested, answered and paid. Keep it. Check it against any Solana node with `execution verify`, or `verifyReceipt` of the SDK; this service is not needed. You may remove `task` and `parameters` before you show it to others. A later dispute does not change it.',
    access: 'read',
    params: { execution_id: EXECUTION_PARAM },
    answers: {
      200: {
        about: 'The receipt.',
        schema: Receipt,
        examples: { settled: RECEIPT, archived: { ...RECEIPT, archive: ARCHIVE } },
      },
    },
    errors: ['execution_not_found', 'not_settled', 'result_unavailable'],
    cache: CACHING.never,
    async handle({ deps }, { caller, request, param }) {
      const receipt = await getReceipt(deps, caller.wallet, param('execution_id'));
      requireNoQuery(request.url);
      return { status: 200, ...receipt };
    },
  }),

  deleteExecutionContent: route({
    method: 'delete',
    path: '/v1/executions/{execution_id}/content',
    tag: 'Executions',
    summary: 'Delete the content of an execution',
    about:
      "Permanently deletes task, parameters, result and steps of an ended execution from this service. The record, its hashes, amounts and signatures stay, and so does all data on-chain. A settled execution's content is kept while it can be disputed (72 hours) and while it is disputed. Needs a key with the scope `execute`, or a session of the wallet. Repeating the request gives the same answer.",
    access: 'owner',
    params: { execution_id: EXECUTION_PARAM },
    answers: {
      200: {
        about: 'The content is deleted.',
        schema: ContentDeleted,
        examples: { deleted: { execution_id: EXECUTION_ID, content_deleted_at: '2026-11-25T09:24:11.000Z' } },
      },
    },
    errors: ['execution_not_found', 'content_needed', 'foreign_origin'],
    cache: CACHING.never,
    async handle({ deps }, { caller, request, param }) {
      const value = await deleteExecutionContent(deps, caller.wallet, param('execution_id'));
      requireNoQuery(request.url);
      return { status: 200, value };
    },
  }),

  getExecutionArchive: route({
    method: 'get',
    path: '/v1/executions/{execution_id}/archive',
    tag: 'Executions',
    summary: 'Prove an archived execution',
    about:
      "An hour after its end (`record_seconds`) the record of a settled execution becomes a leaf of a Merkle tree, and its refundable deposit is returned. This proof shows that the leaf is in the tree; check it against the tree's account on any Solana node. It contains only public on-chain data.",
    access: 'public',
    params: { execution_id: EXECUTION_PARAM },
    answers: { 200: { about: 'The proof.', schema: ExecutionArchive, examples: { archived: ARCHIVE } } },
    errors: ['not_found'],
    cache: CACHING.listing,
    async handle({ deps }, { request, param }) {
      requireNoQuery(request.url);
      const archive = await archiveOf(deps, param('execution_id'));
      if (!archive) await requireLeaves(deps);
      if (!archive) throw new ApiError('not_found', 'No archived execution has this execution_id');
      return { status: 200, value: archive };
    },
  }),

  getUnclaimed: route({
    method: 'get',
    path: '/v1/unclaimed/{source}',
    tag: 'Executions',
    summary: 'Prove unclaimed refunds',
    about:
      "A refund that its caller's USDC account cannot receive moves to one account of the program an hour after anyone could make it, and becomes a leaf of a Merkle tree. With this proof its caller claims it to any own USDC account (`npm run cli -- refund claim`). It contains only public on-chain data.",
    access: 'public',
    params: {
      source: { about: "The address of the execution's record, or of the deposit.", example: UNCLAIMED.source },
    },
    answers: { 200: { about: 'The proofs.', schema: UnclaimedProofs, examples: { one: { refunds: [UNCLAIMED] } } } },
    errors: ['not_found'],
    cache: CACHING.listing,
    async handle({ deps }, { request, param }) {
      requireNoQuery(request.url);
      const refunds = await unclaimedOf(deps.views, param('source'));
      if (refunds.length === 0) await requireLeaves(deps);
      if (refunds.length === 0) throw new ApiError('not_found', 'No unclaimed refund has this source');
      return { status: 200, value: { refunds } };
    },
  }),

  listLeaves: route({
    method: 'get',
    path: '/v1/archives/{archive_index}/leaves',
    tag: 'Executions',
    summary: 'Fetch the leaves of an archive',
    about: `The leaves of an archive in order, ${ARCHIVE_PAGE} per page, one line of JSON each: \`leaf_index\`, and \`record\` and \`fields\` of an execution or \`unclaimed\`, the fields of an unclaimed refund. All pages together are the archive's file. Hashing the leaves gives the root in the tree's account (\`npm run cli -- archive rebuild\`). After the last leaf the answer is empty.`,
    access: 'public',
    params: { archive_index: { about: 'The index of the archive, from 0.', example: '0' } },
    query: LeavesQuery,
    queryExample: { first: 0 },
    answers: {
      200: { about: 'The page.', bytes: 'text/plain', examples: { page: `${JSON.stringify(LINE)}\n` } },
    },
    errors: ['not_found'],
    cache: CACHING.listing,
    async handle({ deps }, { request, param }) {
      const { first } = parse(LeavesQuery, readQuery(request.url), 'query');
      const index = param('archive_index');
      const lines = await leavesOf(deps, index, first);
      if (!lines || lines.length < ARCHIVE_PAGE) await requireLeaves(deps, index);
      if (!lines) throw new ApiError('not_found', 'No archive has this index');
      const text = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      const headers: Record<string, string> = {};
      if (lines.length === ARCHIVE_PAGE) headers['Cache-Control'] = CACHING.leaves;
      return { status: 200, value: text, headers };
    },
  }),

  getResult: route({
    method: 'get',
    path: '/results/{execution_id}/{token}',
    tag: 'Executions',
    summary: 'Fetch the bytes of a result',
    about:
      'The `ipfs_url` of an execution: the exact bytes that were hashed and signed. Anyone who has the URL can read them. Results are kept for a limited time (default: 30 days); afterwards the answer is 410. The record keeps their hash.',
    access: 'public',
    params: {
      execution_id: EXECUTION_PARAM,
      token: { about: 'The unguessable part of the `ipfs_url`.', example: TOKEN },
    },
    answers: { 200: { about: 'The result.', bytes: 'text/plain', examples: { result: RESULT } } },
    errors: ['not_found', 'result_unavailable'],
    cache: CACHING.result,
    async handle({ deps }, { param }) {
      const found = await findResult(deps, param('execution_id'), param('token'));
      if (!found) throw new ApiError('not_found', 'No result has this URL');
      // No browser may render untrusted text as a page. The ETag is the known hash, so it is not computed again.
      const headers = { 'Content-Security-Policy': 'sandbox', ETag: `"${found.hash}"` };
      return { status: 200, value: found.text, headers };
    },
  }),
};
