/** Routes of agents: descriptions and prices. */
import { AgentFull, AgentPage, AgentStatistics, AgentsQuery } from '../../../sdk/wire/wire.ts';
import { getAgent, listAgents, requireAgent } from '../../agents/catalog.ts';
import { readPicture } from '../../agents/pictures.ts';
import { readAgentStatistics } from '../../agents/statistics.ts';
import { parse, readQuery } from '../../parse.ts';
import { createAgentCard } from '../agentCard.ts';
import { CACHING, ok, route } from './route.ts';
import { AGENT_ID, AGENT_PARAM, CREATOR, INPUT_SCHEMA, OUTPUT_SCHEMA } from './samples.ts';

const METADATA_HASH = '3a9ac66a66f2a1a0bb3a8e9ac6c04bdfaa4ab4b54d6ff5fd38e15cd05a92e4fc';

const SUMMARY = {
  agent_id: AGENT_ID,
  name: 'csv-analyst',
  tagline: 'Answers one SQL question about a CSV file.',
  tags: ['data', 'sql', 'spreadsheets'],
  price_per_call_usdc: 0.25,
  total_executions: 1204,
  success_rate: 0.9925,
  avg_execution_time_ms: 134,
  open_disputes: 0,
  creator: { pubkey: CREATOR, verified: true, display_name: 'Ada Analytics' },
  picture_path: `/v1/agents/${AGENT_ID}/pictures/${METADATA_HASH}`,
  status: 'active',
  health: { status: 'ok', success_rate_recent: 0.98, p50_ms: 131, p95_ms: 240 },
};

const FIGURES = { completed: 49, failed: 1, refunded: 0, success_rate: 0.98, p50_ms: 130, p95_ms: 240 };

/** The common fields of these routes. */
const SHARED = { method: 'get', tag: 'Agents', access: 'public', cache: CACHING.listing } as const;
const ONE = { ...SHARED, params: { agent_id: AGENT_PARAM } };

export const agentRoutes = {
  listAgents: route({
    ...SHARED,
    path: '/v1/agents',
    summary: 'List active agents',
    about:
      "A page of the active agents, in descending order (`price_asc`: ascending), ties by agent_id. `q` searches name, tagline, tags and creator's name: each word of `q` must begin a word there, case-insensitive. `q` also matches a whole agent_id or creator's wallet. `creator` selects the agents of one wallet.",
    query: AgentsQuery,
    queryExample: { q: 'csv', sort: 'best', limit: 10 },
    answers: ok({
      about: 'The page.',
      schema: AgentPage,
      examples: { page: { agents: [SUMMARY], total: 1, limit: 20, offset: 0 } },
    }),
    errors: [],
    async handle({ deps }, { request }) {
      const query = parse(AgentsQuery, readQuery(request.url), 'query');
      return { status: 200, body: [await listAgents(deps, query)] };
    },
  }),

  getAgent: route({
    ...ONE,
    path: '/v1/agents/{agent_id}',
    summary: 'Read one agent',
    about: 'The full listing of an active or paused agent, with the JSON Schema of its `parameters`.',
    answers: ok({
      about: 'The listing.',
      schema: AgentFull,
      examples: {
        agent: {
          ...SUMMARY,
          description: 'Reads a CSV file and answers one SQL query over it.',
          input_schema: INPUT_SCHEMA,
          output_schema: OUTPUT_SCHEMA,
          timeout_seconds: 60,
          min_timeout_seconds: 1,
          successful_executions: 1195,
          dispute_count: 2,
          upheld_disputes: 1,
          rejected_disputes: 1,
          collateral_usdc: 10,
          slashed_usdc: 0,
          max_result_bytes: 1_638_400,
          on_chain_listing: `https://explorer.solana.com/address/${AGENT_ID}?cluster=devnet`,
          created_at: '2026-10-02T08:00:00.000Z',
        },
      },
    }),
    errors: ['agent_not_found', 'metadata_missing'],
    async handle({ deps }, { param }) {
      return { status: 200, value: await getAgent(deps, param('agent_id')) };
    },
  }),

  getAgentPicture: route({
    ...SHARED,
    path: '/v1/agents/{agent_id}/pictures/{metadata_hash}',
    summary: "Fetch an agent's picture",
    about:
      'The picture that the creator has set, at the `picture_path` of the agent: a PNG, JPEG or WebP. It never changes: a new picture gets a new path. 404 after a change of the description, and for an agent without a picture.',
    params: { agent_id: AGENT_PARAM, metadata_hash: { about: 'Hash of the description.', example: METADATA_HASH } },
    answers: ok({ about: 'The bytes of the picture, as `image/png`, `image/jpeg` or `image/webp`.', bytes: 'image/*' }),
    errors: ['agent_not_found', 'not_found'],
    cache: CACHING.leaves,
    async handle({ deps }, { param }) {
      const { type, bytes } = await readPicture(deps, param('agent_id'), param('metadata_hash'));
      const headers = { 'Content-Type': type, 'Content-Security-Policy': "default-src 'none'; sandbox" };
      return { status: 200, value: Buffer.from(bytes), headers };
    },
  }),

  getAgentCard: route({
    ...ONE,
    path: '/v1/agents/{agent_id}/agent-card.json',
    summary: "Fetch an agent's A2A card",
    about:
      "The listing as an agent card of A2A 1.0: name, skills, price and schemas. The marketplace does not serve A2A's own methods; the card names the REST API and MCP as interfaces.",
    answers: ok({ about: 'The card.', bytes: 'application/json' }),
    errors: ['agent_not_found', 'metadata_missing'],
    async handle({ deps }, { param }) {
      const [agent, { listingVersion }] = await Promise.all([
        getAgent(deps, param('agent_id')),
        requireAgent(deps, param('agent_id')),
      ]);
      const card = createAgentCard(
        { baseUrl: deps.baseUrl(), environment: deps.config.environment },
        agent,
        listingVersion,
      );
      return { status: 200, value: Buffer.from(JSON.stringify(card)) };
    },
  }),

  getAgentStatistics: route({
    ...ONE,
    path: '/v1/agents/{agent_id}/statistics',
    summary: "Read an agent's last 30 days",
    about:
      'Success and latency of an agent for each of the last 30 UTC days, and for all of them together. An execution counts for the day on which it ended. Latencies have two significant digits.',
    answers: ok({
      about: 'The days, oldest first.',
      schema: AgentStatistics,
      examples: {
        month: {
          agent_id: AGENT_ID,
          from: '2026-11-21',
          to: '2026-11-21',
          days: [{ day: '2026-11-21', ...FIGURES }],
          total: FIGURES,
          refunds: [{ reason: 'creator_timeout', executions: 1 }],
        },
      },
    }),
    errors: ['agent_not_found'],
    async handle({ deps }, { param }) {
      return { status: 200, value: await readAgentStatistics(deps, param('agent_id')) };
    },
  }),
};
