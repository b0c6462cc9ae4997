import { Receipt } from '../../../sdk/wire/receipt.ts';
import { ContentDeleted, ExecutionFull, ExecutionPage, ExecutionsQuery } from '../../../sdk/wire/wire.ts';
import { deleteExecutionContent } from '../../calls/deletion.ts';
import { getReceipt } from '../../calls/receipts.ts';
import { getExecution, listExecutions } from '../../calls/records.ts';
import { findResult } from '../../calls/results.ts';
import { ApiError } from '../../errors.ts';
import { parse, readQuery } from '../../parse.ts';
import { ARCHIVE, COMPLETED, FAILED, RECEIPT, RESULT, SUMMARY, TRANSACTION_URL } from './executionSamples.ts';
import { CACHING, ok, route } from './route.ts';
import { EXECUTION_ID, EXECUTION_PARAM, TOKEN } from './samples.ts';

/** The common fields of the routes for a wallet. */
const SHARED = { method: 'get', tag: 'Executions', access: 'read', cache: CACHING.never } as const;
const ONE = { ...SHARED, params: { execution_id: EXECUTION_PARAM } };

export const executionRoutes = {
  listExecutions: route({
    ...SHARED,
    path: '/v1/executions',
    summary: "List the wallet's executions",
    about:
      "A page of the executions of the key's wallet, newest first by their position on the chain. With `idempotency_key` you find a call whose answer you have lost; calls paid by x402 are not found this way. Instead of a key you can send the token of a wallet's session (`auth.verify` of /trpc).",
    query: ExecutionsQuery,
    queryExample: { status: 'completed', limit: 10 },
    answers: ok({
      about: 'The page.',
      schema: ExecutionPage,
      examples: { page: { executions: [SUMMARY], total: 1, limit: 20, offset: 0 } },
    }),
    errors: [],
    async handle({ deps }, { caller, request }) {
      const query = parse(ExecutionsQuery, readQuery(request.url), 'query');
      return { status: 200, value: await listExecutions(deps, caller.wallet, query) };
    },
  }),

  getExecution: route({
    ...ONE,
    path: '/v1/executions/{execution_id}',
    summary: 'Read one execution',
    about:
      "The full record with the result; poll it until the execution has ended. Instead of a key you can send the token of a wallet's session (`auth.verify` of /trpc).",
    answers: ok({
      about: 'The record.',
      schema: ExecutionFull,
      examples: {
        completed: COMPLETED,
        failed: FAILED,
        archived: { ...COMPLETED, on_chain_record: TRANSACTION_URL, archive: ARCHIVE },
      },
    }),
    errors: ['execution_not_found'],
    async handle({ deps }, { caller, param }) {
      return { status: 200, ...(await getExecution(deps, caller.wallet, param('execution_id'))) };
    },
  }),

  getExecutionReceipt: route({
    ...ONE,
    path: '/v1/executions/{execution_id}/receipt',
    summary: 'Get the receipt of an execution',
    about:
      'Proves to anyone that a settled execution was requested, answered and paid. Keep it. Check it against any Solana node with `execution verify`, or `verifyReceipt` of the SDK; this service is not needed. You may remove `task` and `parameters` before you show it to others. A later dispute does not change it.',
    answers: ok({
      about: 'The receipt.',
      schema: Receipt,
      examples: { settled: RECEIPT, archived: { ...RECEIPT, archive: ARCHIVE } },
    }),
    errors: ['execution_not_found', 'not_settled', 'result_unavailable'],
    async handle({ deps }, { caller, param }) {
      return { status: 200, ...(await getReceipt(deps, caller.wallet, param('execution_id'))) };
    },
  }),

  deleteExecutionContent: route({
    ...ONE,
    method: 'delete',
    path: '/v1/executions/{execution_id}/content',
    summary: 'Delete the content of an execution',
    about:
      "Permanently deletes task, parameters, result and steps of an ended execution from this service. The record, its hashes, amounts and signatures stay, and so does all data on-chain. A settled execution's content is kept while it can be disputed (3 days) and while it is disputed. Needs a key with the scope `execute`, or a session of the wallet. Repeating the request gives the same answer.",
    access: 'owner',
    answers: ok({
      about: 'The content is deleted.',
      schema: ContentDeleted,
      examples: { deleted: { execution_id: EXECUTION_ID, content_deleted_at: '2026-11-25T09:24:11.000Z' } },
    }),
    errors: ['execution_not_found', 'content_needed', 'foreign_origin'],
    async handle({ deps }, { caller, param }) {
      return { status: 200, value: await deleteExecutionContent(deps, caller.wallet, param('execution_id')) };
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
    anyQuery: true,
    answers: ok({ about: 'The result.', bytes: 'text/plain', examples: { result: RESULT } }),
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
