/**
 * Agents as they are offered: listings of the chain joined with their metadata documents. A listing whose document is
 * not here is in no list; a delisted one does not exist.
 */
import type { Kysely } from 'kysely';
import { preparedOf } from '../../database/prepared.ts';
import { type AgentMetadata, tagsOfMask } from '../../sdk/wire/metadata.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import {
  type AgentFull,
  type AgentHealth,
  AgentPage,
  type AgentSummary,
  type AgentsQuery,
} from '../../sdk/wire/wire.ts';
import { ApiError } from '../errors.ts';
import { addressUrl } from '../explorer.ts';
import { renderJson } from '../json.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { maxResultBytes } from '../outbound/resultSize.ts';
import type { AgentHealthReader } from './agentHealth.ts';
import type { Documents } from './documents.ts';
import { type ListedAgents, toListed } from './listed/listedAgents.ts';
import type { ListedAgent } from './listed/model.ts';
import type { ParameterFault } from './parameters.ts';

/** What executing an agent needs to know. Prices in base units, times in seconds. */
export interface Agent {
  /** Base58 address of the listing: the agent_id. */
  listing: string;
  creator: string;
  creatorVerified: boolean;
  payout: string;
  signingKey: string;
  price: bigint;
  timeoutSeconds: number;
  minTimeoutSeconds: number;
  listingVersion: number;
  status: 'active' | 'paused';
  metadataHash: string;
  metadata: AgentMetadata;
  /** Unix seconds. */
  listedAt: number;
}

/** What it takes to find an agent that is to be executed. */
export interface AgentDeps {
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  documents: Documents;
}

export interface CatalogDeps extends AgentDeps {
  /** `''` or `?cluster=...`: what follows a path of Solana Explorer. */
  explorerQuery: string;
  agentHealth: Pick<AgentHealthReader, 'healthOf'>;
  config: {
    /** Bytes of a result for each cent of its price. */
    results: { bytesPerCent: number };
  };
}

export interface ListDeps extends CatalogDeps {
  listed: ListedAgents;
}

const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** The agent, also a paused one. Throws ApiError: 404 where there is none, 503 where its metadata has not been posted. */
export async function requireAgent(deps: AgentDeps, agentId: string): Promise<Agent> {
  const row = await requireListing(deps, agentId);
  return toAgent(row, (await requireDocument(deps, row)).metadata);
}

/** What is wrong with parameters for this agent; empty where they fit. */
export async function findParameterFaults(
  deps: AgentDeps,
  agent: Agent,
  parameters: string,
): Promise<ParameterFault[]> {
  const document = await deps.documents.get(agent.metadataHash);
  if (!document) throw metadataMissing();
  return document.checkParameters(parameters);
}

/** GET /v1/agents/{agent_id}. Throws as requireAgent does. */
export async function getAgent(deps: CatalogDeps, agentId: string): Promise<AgentFull> {
  const row = requireFound(await readWithFigures(deps, agentId));
  const { metadata } = await requireDocument(deps, row);
  const summary = toSummary(toListed(row, metadata), await deps.agentHealth.healthOf(row.listing));
  return {
    ...summary,
    creator: { ...summary.creator, display_name: metadata.display_name },
    description: metadata.description,
    input_schema: metadata.input_schema,
    output_schema: metadata.output_schema,
    timeout_seconds: Number(row.timeout_seconds),
    min_timeout_seconds: Number(row.min_timeout_seconds),
    max_result_bytes: maxResultBytes(row.price, deps.config.results.bytesPerCent),
    successful_executions: Number(row.successful_executions ?? 0n),
    dispute_count: Number(row.dispute_count ?? 0n),
    on_chain_listing: addressUrl(deps, row.listing),
    created_at: toTime(row.listed_at),
  };
}

/** The JSON of a page for GET /v1/agents: active agents only, ties by agent_id. */
export async function listAgents({ listed, agentHealth }: ListDeps, query: AgentsQuery): Promise<Buffer> {
  const model = await listed.current();
  const name = `${listed.version()} ${JSON.stringify(query)}`;
  const kept = listed.answers.get(name);
  if (kept) return kept;
  const { limit, offset } = query;
  const page = model.page(query);
  const agents: AgentSummary[] = [];
  for (const agent of page.agents) {
    const health = listed.healths.get(agent.listing) ?? (await agentHealth.healthOf(agent.listing));
    listed.healths.set(agent.listing, health);
    agents.push(toSummary(agent, health));
  }
  const body = renderJson(AgentPage, { agents, total: page.total, limit, offset });
  listed.answers.set(name, body);
  return body;
}

const LISTING_COLUMNS = [
  'listings.listing',
  'listings.creator',
  'listings.payout',
  'listings.signing_key',
  'listings.price',
  'listings.timeout_seconds',
  'listings.min_timeout_seconds',
  'listings.listing_version',
  'listings.status',
  'listings.tag_mask',
  'listings.metadata_hash',
  'listings.listed_at',
  'creators.verified',
] as const;

type Views = AgentDeps['views'];
type ListingRow = NonNullable<Awaited<ReturnType<typeof readListing>>>;

function shownListing(views: Views, id: string) {
  return views
    .selectFrom('chain.listings as listings')
    .leftJoin('chain.creators as creators', 'creators.wallet', 'listings.creator')
    .select(LISTING_COLUMNS)
    .where('listings.listing', '=', id)
    .where('listings.status', '!=', 'delisted');
}

/** Garbage is not worth a query, however long it is. */
const idOf = (agentId: string): string => (ADDRESS.test(agentId) ? agentId : '');

async function readListing({ views }: AgentDeps, agentId: string) {
  const id = idOf(agentId);
  const query = preparedOf(views).compile('listing', [id, 'delisted'], () => shownListing(views, id));
  return (await views.executeQuery(query)).rows[0];
}

/** The listing with what its executions add up to: nulls of one that was never called. */
async function readWithFigures({ views }: AgentDeps, agentId: string) {
  const id = idOf(agentId);
  const query = preparedOf(views).compile('listing with figures', [id, 'delisted'], () =>
    shownListing(views, id)
      .leftJoin('chain.agent_statistics as statistics', 'statistics.listing', 'listings.listing')
      .select([
        'statistics.total_executions',
        'statistics.successful_executions',
        'statistics.dispute_count',
        'statistics.success_rate',
        'statistics.avg_execution_time_ms',
      ]),
  );
  return (await views.executeQuery(query)).rows[0];
}

/** The listing's row. Throws ApiError 404 where there is none that can be seen. */
export async function requireListing(deps: AgentDeps, agentId: string): Promise<ListingRow> {
  return requireFound(await readListing(deps, agentId));
}

function requireFound<Row>(row: Row | undefined): Row {
  if (!row) throw new ApiError('agent_not_found', 'There is no agent with this agent_id');
  return row;
}

async function requireDocument(deps: AgentDeps, row: { metadata_hash: string }) {
  const document = await deps.documents.get(row.metadata_hash);
  if (!document) throw metadataMissing();
  return document;
}

function metadataMissing(): ApiError {
  return new ApiError(
    'metadata_missing',
    "The agent's description has not reached this service: anyone who has its bytes can send them to POST /v1/metadata",
    { retryAfterSeconds: 30 },
  );
}

function toAgent(row: ListingRow, metadata: AgentMetadata): Agent {
  return {
    listing: row.listing,
    creator: row.creator,
    creatorVerified: row.verified === 1n,
    payout: row.payout,
    signingKey: row.signing_key,
    price: row.price,
    timeoutSeconds: Number(row.timeout_seconds),
    minTimeoutSeconds: Number(row.min_timeout_seconds),
    listingVersion: Number(row.listing_version),
    status: row.status === 'paused' ? 'paused' : 'active',
    metadataHash: row.metadata_hash,
    metadata,
    listedAt: Number(row.listed_at),
  };
}

function toSummary(agent: ListedAgent, health: AgentHealth): AgentSummary {
  const { description } = agent;
  if (!description) throw new Error(`${agent.listing} is shown without its document`);
  return {
    agent_id: agent.listing,
    name: description.name,
    tagline: description.tagline,
    tags: [...tagsOfMask(agent.tagMask), ...description.custom_tags],
    price_per_call_usdc: toUsdc(agent.price),
    total_executions: agent.totalExecutions,
    success_rate: agent.successRate,
    avg_execution_time_ms: agent.averageMs,
    creator: { pubkey: agent.creator, verified: agent.verified },
    status: agent.status === 'paused' ? 'paused' : 'active',
    health,
  };
}
