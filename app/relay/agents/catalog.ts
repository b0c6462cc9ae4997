/**
 * Agents: listings of the chain joined with their metadata documents. Lists omit a listing without its document. A
 * delisted one counts as missing.
 */
import { ADDRESS } from '../../sdk/wire/fields.ts';
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
import type { Databases } from '../ledger/tables.ts';
import { maxResultBytes } from '../outbound/resultSize.ts';
import type { Ask } from '../workers.ts';
import type { AgentHealthReader } from './agentHealth.ts';
import type { Documents } from './documents.ts';
import type { ParameterFault } from './parameters.ts';
import { countDisputes, findAgents } from './search.ts';
import type { Undocumented } from './undocumented.ts';
import type { Description } from './words.ts';

/** The data to execute an agent. Prices in base units, times in seconds. */
export interface Agent {
  /** Base58 address of the listing: the agent_id. */
  listing: string;
  price: bigint;
  timeoutSeconds: number;
  minTimeoutSeconds: number;
  listingVersion: number;
  status: 'active' | 'paused';
  metadataHash: string;
  metadata: AgentMetadata;
}

/** The sources to find an agent for an execution. */
export interface AgentDeps extends Pick<Databases, 'views'> {
  documents: Documents;
}

interface CatalogDeps extends AgentDeps {
  /** `''` or `?cluster=...`, appended to a path of Solana Explorer. */
  explorerQuery: string;
  agentHealth: Pick<AgentHealthReader, 'healthOf'>;
}

export interface ListDeps extends CatalogDeps {
  undocumented: Undocumented;
}

/** The agent, even if paused. Throws ApiError: 404 if there is none, 503 if its metadata has not been posted. */
export async function requireAgent(deps: AgentDeps, agentId: string): Promise<Agent> {
  const row = await requireListing(deps, agentId);
  return toAgent(row, (await requireDocument(deps, row)).metadata);
}

/** The faults of parameters for this agent; empty if they fit. */
export async function findParameterFaults(
  deps: AgentDeps,
  agent: Agent,
  parameters: string,
  ask: Ask,
): Promise<ParameterFault[]> {
  const document = await deps.documents.get(agent.metadataHash);
  if (!document) throw metadataMissing();
  return document.checkParameters(async () => {
    const asker = await ask();
    // The agent that has used the least time comes first: slow checks delay only their own agent.
    return asker.lane === 'paid' ? { ...asker, name: agent.listing } : asker;
  }, parameters);
}

/** GET /v1/agents/{agent_id}. Throws like requireAgent. */
export async function getAgent(deps: CatalogDeps, agentId: string): Promise<AgentFull> {
  const row = requireFound(await readWithFigures(deps, agentId));
  const { metadata } = await requireDocument(deps, row);
  const description = { ...metadata, has_picture: metadata.picture !== undefined };
  const summary = toSummary({ ...row, description }, await deps.agentHealth.healthOf(row.listing));
  return {
    ...summary,
    description: metadata.description,
    input_schema: metadata.input_schema,
    output_schema: metadata.output_schema,
    timeout_seconds: Number(row.timeout_seconds),
    min_timeout_seconds: Number(row.min_timeout_seconds),
    max_result_bytes: maxResultBytes(row.price),
    successful_executions: Number(row.successful_executions ?? 0n),
    dispute_count: Number(row.dispute_count ?? 0n),
    upheld_disputes: Number(row.upheld_disputes),
    rejected_disputes: Number(row.rejected_disputes),
    collateral_usdc: toUsdc(row.deposited - row.slashed),
    slashed_usdc: toUsdc(row.slashed),
    on_chain_listing: addressUrl(deps, row.listing),
    created_at: toTime(row.listed_at),
  };
}

/** The JSON of a page for GET /v1/agents: active agents only, ties by agent_id. */
export async function listAgents(deps: ListDeps, query: AgentsQuery): Promise<Buffer> {
  const found = await findAgents(deps, query);
  const agents = await Promise.all(
    found.agents.map(async (agent) => toSummary(agent, await deps.agentHealth.healthOf(agent.listing))),
  );
  const { limit, offset } = query;
  return renderJson(AgentPage, { agents, total: found.total, limit, offset });
}

const LISTING_COLUMNS = [
  'listings.listing',
  'listings.creator',
  'listings.price',
  'listings.timeout_seconds',
  'listings.min_timeout_seconds',
  'listings.listing_version',
  'listings.status',
  'listings.tag_mask',
  'listings.metadata_hash',
  'listings.listed_at',
  'listings.deposited',
  'listings.slashed',
  'creators.verified',
] as const;

type Views = AgentDeps['views'];
type ListingRow = NonNullable<Awaited<ReturnType<typeof readListing>>>;

function shownListing(views: Views, agentId: string) {
  return views
    .selectFrom('chain.listings as listings')
    .leftJoin('chain.creators as creators', 'creators.wallet', 'listings.creator')
    .select(LISTING_COLUMNS)
    .where('listings.listing', '=', idOf(agentId))
    .where('listings.status', '!=', 'delisted');
}

/** Replaces an invalid address, which may be long, by one that matches nothing. */
const idOf = (agentId: string): string => (ADDRESS.test(agentId) ? agentId : '');

function readListing({ views }: AgentDeps, agentId: string) {
  return shownListing(views, agentId).executeTakeFirst();
}

/** The listing with its execution statistics; they are null if it was never called. */
function readWithFigures({ views }: AgentDeps, agentId: string) {
  return shownListing(views, agentId)
    .leftJoin('chain.agent_statistics as statistics', 'statistics.listing', 'listings.listing')
    .select([
      'statistics.total_executions',
      'statistics.successful_executions',
      'statistics.dispute_count',
      'statistics.success_rate',
      'statistics.avg_execution_time_ms',
      countDisputes('listings.listing', 'open').as('open_disputes'),
      countDisputes('listings.listing', 'upheld').as('upheld_disputes'),
      countDisputes('listings.listing', 'rejected').as('rejected_disputes'),
    ])
    .executeTakeFirst();
}

/** The listing's row. Throws ApiError 404 if there is no visible one. */
export async function requireListing(deps: AgentDeps, agentId: string): Promise<ListingRow> {
  return requireFound(await readListing(deps, agentId));
}

function requireFound<Row>(row: Row | undefined): Row {
  if (!row) throw new ApiError('agent_not_found', 'No agent has this agent_id');
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
    "This service does not have the agent's description. Anyone who has the document can send it to POST /v1/metadata.",
    { retryAfterSeconds: 30 },
  );
}

function toAgent(row: ListingRow, metadata: AgentMetadata): Agent {
  return {
    listing: row.listing,
    price: row.price,
    timeoutSeconds: Number(row.timeout_seconds),
    minTimeoutSeconds: Number(row.min_timeout_seconds),
    listingVersion: Number(row.listing_version),
    status: row.status === 'paused' ? 'paused' : 'active',
    metadataHash: row.metadata_hash,
    metadata,
  };
}

/** Data of a listing; nulls if nothing is known yet. */
interface Summarized {
  listing: string;
  creator: string;
  verified: bigint | null;
  /** Absent in rows of lists, which are all active. */
  status?: 'active' | 'paused' | 'delisted';
  price: bigint;
  tag_mask: bigint;
  metadata_hash: string;
  total_executions: bigint | null;
  success_rate: number | null;
  avg_execution_time_ms: bigint | null;
  open_disputes: bigint;
  description: Description;
}

function toSummary({ description, ...agent }: Summarized, health: AgentHealth): AgentSummary {
  return {
    agent_id: agent.listing,
    name: description.name,
    tagline: description.tagline,
    tags: [...tagsOfMask(Number(agent.tag_mask)), ...description.custom_tags],
    price_per_call_usdc: toUsdc(agent.price),
    total_executions: Number(agent.total_executions ?? 0n),
    success_rate: agent.success_rate ?? 0,
    avg_execution_time_ms: Number(agent.avg_execution_time_ms ?? 0n),
    open_disputes: Number(agent.open_disputes),
    creator: { pubkey: agent.creator, verified: agent.verified === 1n, display_name: description.display_name },
    picture_path: description.has_picture ? `/v1/agents/${agent.listing}/pictures/${agent.metadata_hash}` : null,
    status: agent.status === 'paused' ? 'paused' : 'active',
    health,
  };
}
