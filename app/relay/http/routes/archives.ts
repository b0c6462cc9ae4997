import { ARCHIVE_PAGE, ExecutionArchive, LeavesQuery, UnclaimedProofs } from '../../../sdk/wire/wire.ts';
import { archiveOf, leavesOf, requireLeaves } from '../../calls/archived.ts';
import { unclaimedOf } from '../../calls/unclaimed.ts';
import { ApiError } from '../../errors.ts';
import { parse, readQuery } from '../../parse.ts';
import { ARCHIVE, LINE, UNCLAIMED } from './executionSamples.ts';
import { CACHING, ok, route } from './route.ts';
import { EXECUTION_PARAM } from './samples.ts';

/** The common fields of these routes. */
const SHARED = { method: 'get', tag: 'Executions', access: 'public', cache: CACHING.listing } as const;

export const archiveRoutes = {
  getExecutionArchive: route({
    ...SHARED,
    path: '/v1/executions/{execution_id}/archive',
    summary: 'Prove an archived execution',
    about:
      "An hour after its end (`record_seconds`) the record of a settled execution becomes a leaf of a Merkle tree, and its refundable deposit is returned. This proof shows that the leaf is in the tree; check it against the tree's account on any Solana node. It contains only public on-chain data.",
    params: { execution_id: EXECUTION_PARAM },
    answers: ok({ about: 'The proof.', schema: ExecutionArchive, examples: { archived: ARCHIVE } }),
    errors: ['not_found'],
    async handle({ deps }, { param }) {
      const archive = await archiveOf(deps, param('execution_id'));
      if (!archive) await requireLeaves(deps);
      if (!archive) throw new ApiError('not_found', 'No archived call has this execution_id');
      return { status: 200, value: archive };
    },
  }),

  getUnclaimed: route({
    ...SHARED,
    path: '/v1/unclaimed/{source}',
    summary: 'Prove unclaimed refunds',
    about:
      "A refund that its caller's USDC account cannot receive moves to one account of the program an hour after anyone could make it, and becomes a leaf of a Merkle tree. With this proof its caller claims it to any own USDC account (`npm run cli -- refund claim`). It contains only public on-chain data.",
    params: {
      source: { about: "The address of the execution's record, or of the deposit.", example: UNCLAIMED.source },
    },
    answers: ok({ about: 'The proofs.', schema: UnclaimedProofs, examples: { one: { refunds: [UNCLAIMED] } } }),
    errors: ['not_found'],
    async handle({ deps }, { param }) {
      const refunds = await unclaimedOf(deps.views, param('source'));
      if (refunds.length === 0) await requireLeaves(deps);
      if (refunds.length === 0) throw new ApiError('not_found', 'No unclaimed refund has this source');
      return { status: 200, value: { refunds } };
    },
  }),

  listLeaves: route({
    ...SHARED,
    path: '/v1/archives/{archive_index}/leaves',
    summary: 'Fetch the leaves of an archive',
    about: `The leaves of an archive in order, ${ARCHIVE_PAGE} per page, one line of JSON each: \`leaf_index\`, and \`record\` and \`fields\` of an execution or \`unclaimed\`, the fields of an unclaimed refund. All pages together are the archive's file. Hashing the leaves gives the root in the tree's account (\`npm run cli -- archive rebuild\`). After the last leaf the answer is empty.`,
    params: { archive_index: { about: 'The index of the archive, from 0.', example: '0' } },
    query: LeavesQuery,
    queryExample: { first: 0 },
    answers: ok({ about: 'The page.', bytes: 'text/plain', examples: { page: `${JSON.stringify(LINE)}\n` } }),
    errors: ['not_found'],
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
};
