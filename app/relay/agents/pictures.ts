/** Pictures that creators give their agents, read from the metadata documents. */
import { decodePicture } from '../../sdk/wire/picture.ts';
import { ApiError } from '../errors.ts';
import { type AgentDeps, requireListing } from './catalog.ts';

/**
 * GET /v1/agents/{agent_id}/pictures/{metadata_hash}. Only the picture of the listing's present document, so that nobody
 * can store pictures here without a listing. Throws ApiError 404.
 */
export async function readPicture(deps: AgentDeps, agentId: string, metadataHash: string) {
  const listing = await requireListing(deps, agentId);
  const document = listing.metadata_hash === metadataHash ? await deps.documents.get(metadataHash) : null;
  const url = document?.metadata.picture;
  if (url === undefined) throw new ApiError('not_found', 'This agent has no picture at this URL');
  return decodePicture(url);
}
