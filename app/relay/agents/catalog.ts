/**
 * Agents as they are offered: listings of the chain joined with their metadata documents. A listing whose document is
 * not here is in no list; a delisted one does not exist.
 */
import { type Kysely, sql } from 'kysely';
import { preparedOf } from '../../database/prepared.ts';
import { type AgentMetadata, isStandardTag, type StandardTag, tagMask, tagsOfMask } from '../../sdk/wire/metadata.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import type { AgentFull, AgentHealth, AgentPage, AgentSummary, AgentsQuery } from '../../sdk/wire/wire.ts';
import { ApiError } from '../errors.ts';
import { addressUrl } from '../explorer.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import type { AgentHealthReader } from './agentHealth.ts';
import type { Documents } from './documents.ts';
import type { ParameterFault } from './parameters.ts';
import { type PendingDeps, promotePending } from './pendingMetadata.ts';
import { matchesWords } from './search.ts';

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
}

export type ListDeps = CatalogDeps & PendingDeps;

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
  parameters: Record<string, unknown>,
): Promise<ParameterFault[]> {
  const document = await deps.documents.get(agent.metadataHash);
  if (!document) throw metadataMissing();
  return document.checkParameters(parameters);
}

/** GET /v1/agents/{agent_id}. Throws as requireAgent does. */
export async function getAgent(deps: CatalogDeps, agentId: string): Promise<AgentFull> {
  const row = await requireListing(deps, agentId);
  const { metadata } = await requireDocument(deps, row);
  // Asked by itself, so that only this listing's executions are read.
  const statistics = await deps.views
    .selectFrom('chain.agent_statistics')
    .selectAll()
    .where('listing', '=', row.listing)
    .executeTakeFirst();
  const health = await deps.agentHealth.healthOf(row.listing);
  const summary = toSummary({ ...row, ...(statistics ?? NO_STATISTICS) }, metadata, health);
  return {
    ...summary,
    creator: { ...summary.creator, display_name: metadata.display_name },
    description: metadata.description,
    input_schema: metadata.input_schema,
    output_schema: metadata.output_schema,
    timeout_seconds: Number(row.timeout_seconds),
    min_timeout_seconds: Number(row.min_timeout_seconds),
    successful_executions: Number(statistics?.successful_executions ?? 0n),
    dispute_count: Number(statistics?.dispute_count ?? 0n),
    on_chain_listing: addressUrl(deps, row.listing),
    created_at: toTime(row.listed_at),
  };
}

/** GET /v1/agents: active agents only, ties by agent_id. */
export async function listAgents(deps: ListDeps, query: AgentsQuery): Promise<AgentPage> {
  // Lists are made from the documents of listings alone, so one that was listed a moment ago is moved there first.
  await promotePending(deps);
  // One transaction, so that page and total are of the same moment.
  const { rows, total } = await deps.views.transaction().execute(async (views) => {
    const matching = matchingListings(views, query);
    const counted = await matching.select(sql<bigint>`count(*)`.as('total')).executeTakeFirstOrThrow();
    const page = matching.select(LISTING_COLUMNS).select(STATISTICS_COLUMNS);
    const rows = await ordered(page, query.sort).limit(query.limit).offset(query.offset).execute();
    return { rows, total: counted.total };
  });
  const agents = await Promise.all(
    rows.map(async (row) => {
      const { metadata } = await requireDocument(deps, row);
      return toSummary(row, metadata, await deps.agentHealth.healthOf(row.listing));
    }),
  );
  return { agents, total: Number(total), limit: query.limit, offset: query.offset };
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

const STATISTICS_COLUMNS = [
  'statistics.total_executions',
  'statistics.success_rate',
  'statistics.avg_execution_time_ms',
] as const;

interface Statistics {
  total_executions: bigint | null;
  success_rate: number | null;
  avg_execution_time_ms: bigint | null;
}

/** Of a listing that was never called. */
const NO_STATISTICS: Statistics = { total_executions: 0n, success_rate: 0, avg_execution_time_ms: 0n };

type Views = AgentDeps['views'];
type ListingRow = NonNullable<Awaited<ReturnType<typeof readListing>>>;

function listings(views: Views) {
  return views
    .selectFrom('chain.listings as listings')
    .leftJoin('chain.creators as creators', 'creators.wallet', 'listings.creator');
}

function matchingListings(views: Views, query: AgentsQuery) {
  let matching = listings(views)
    .leftJoin('chain.agent_statistics as statistics', 'statistics.listing', 'listings.listing')
    .innerJoin('metadata', 'metadata.metadata_hash', 'listings.metadata_hash')
    .where('listings.status', '=', 'active');
  if (query.verified_only) matching = matching.where('creators.verified', '=', 1n);
  if (query.min_executions !== undefined) {
    matching = matching.where(sql<boolean>`coalesce(statistics.total_executions, 0) >= ${query.min_executions}`);
  }
  if (query.min_success_rate !== undefined) {
    matching = matching.where(sql<boolean>`coalesce(statistics.success_rate, 0.0) >= ${query.min_success_rate}`);
  }
  if (query.creator !== undefined) matching = matching.where('listings.creator', '=', query.creator);
  if (query.q !== undefined) {
    const listing = { hash: sql`listings.metadata_hash`, mask: sql`listings.tag_mask` };
    matching = matching.where(
      sql<boolean>`(listings.listing = ${query.q} OR listings.creator = ${query.q} OR ${matchesWords(listing, query.q)})`,
    );
  }
  const standard = (query.tags ?? []).filter(isStandardTag) as StandardTag[];
  const mask = BigInt(tagMask(standard));
  if (mask !== 0n) matching = matching.where(sql<boolean>`(listings.tag_mask & ${mask}) = ${mask}`);
  for (const tag of query.tags ?? []) {
    if (isStandardTag(tag)) continue;
    matching = matching.where(
      sql<boolean>`EXISTS (SELECT 1 FROM json_each(metadata.document, '$.custom_tags') AS tag WHERE tag.value = ${tag})`,
    );
  }
  return matching;
}

const ORDER: Record<AgentsQuery['sort'], ReturnType<typeof sql>> = {
  total_executions: sql`coalesce(statistics.total_executions, 0) DESC`,
  success_rate: sql`coalesce(statistics.success_rate, 0.0) DESC`,
  price_asc: sql`listings.price ASC`,
  price_desc: sql`listings.price DESC`,
  created_at: sql`listings.listed_at DESC`,
};

function ordered<Query extends { orderBy(expression: ReturnType<typeof sql>): Query }>(
  query: Query,
  sort: AgentsQuery['sort'],
): Query {
  return query.orderBy(ORDER[sort]).orderBy(sql`listings.listing ASC`);
}

async function readListing({ views }: AgentDeps, agentId: string) {
  // Garbage is not worth a query, however long it is.
  const id = ADDRESS.test(agentId) ? agentId : '';
  const query = preparedOf(views).compile('listing', [id, 'delisted'], () =>
    listings(views)
      .select(LISTING_COLUMNS)
      .where('listings.listing', '=', id)
      .where('listings.status', '!=', 'delisted'),
  );
  return (await views.executeQuery(query)).rows[0];
}

/** The listing's row. Throws ApiError 404 where there is none that can be seen. */
export async function requireListing(deps: AgentDeps, agentId: string): Promise<ListingRow> {
  const row = await readListing(deps, agentId);
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

function toSummary(row: ListingRow & Statistics, metadata: AgentMetadata, health: AgentHealth): AgentSummary {
  return {
    agent_id: row.listing,
    name: metadata.name,
    tagline: metadata.tagline,
    tags: [...tagsOfMask(Number(row.tag_mask)), ...metadata.custom_tags],
    price_per_call_usdc: toUsdc(row.price),
    total_executions: Number(row.total_executions ?? 0n),
    success_rate: row.success_rate ?? 0,
    avg_execution_time_ms: Number(row.avg_execution_time_ms ?? 0n),
    creator: { pubkey: row.creator, verified: row.verified === 1n },
    status: row.status === 'paused' ? 'paused' : 'active',
    health,
  };
}
