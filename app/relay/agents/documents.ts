/**
 * Metadata documents of listings: parsed once, and cached together with their check of parameters. Stored documents
 * passed every rule, so reading does not check again.
 */
import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { AgentMetadata } from '../../sdk/wire/metadata.ts';
import { readDocument } from '../ledger/metadata.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { type CheckParameters, createParameterCheck } from './parameters.ts';

/** At most about 64 MiB, usually 1 MiB. */
const MAX_KEPT = 1_000;

interface Document {
  metadata: AgentMetadata;
  /** Checks parameters in JSON. */
  checkParameters: CheckParameters;
}

export type Documents = ReturnType<typeof createDocuments>;

export function createDocuments(views: Kysely<LedgerDatabase>) {
  const kept = new LRUCache<string, Document>({ max: MAX_KEPT });

  return {
    /** The document of this metadata_hash; null while its bytes have not been posted. */
    async get(metadataHash: string): Promise<Document | null> {
      const known = kept.get(metadataHash);
      if (known) return known;
      const text = await readDocument(views, metadataHash);
      if (text === undefined) return null;
      const document = parseDocument(text);
      kept.set(metadataHash, document);
      return document;
    },
  };
}

function parseDocument(text: string): Document {
  const metadata = JSON.parse(text) as AgentMetadata;
  return { metadata, checkParameters: createParameterCheck(metadata.input_schema) };
}
