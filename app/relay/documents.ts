/**
 * Listings' metadata documents as the relay uses them: parsed once, with the check of parameters compiled, kept while
 * they are in use. What was stored had passed every rule, so reading does not check again.
 */
import type { Kysely } from 'kysely';
import type { AgentMetadata } from '../sdk/metadata.ts';
import { compileParameterCheck, type ParameterCheck } from './parameters.ts';
import type { LedgerDatabase } from './tables.ts';

/** About 64 MiB at the very worst, usually one. */
const MAX_KEPT = 1_000;

interface Document {
  metadata: AgentMetadata;
  checkParameters: ParameterCheck;
}

export interface Documents {
  /** The document of this metadata_hash; null while its bytes have not been posted. */
  get(metadataHash: string): Promise<Document | null>;
}

export function createDocuments(views: Kysely<LedgerDatabase>): Documents {
  // A Map iterates in the order of insertion, so its first entry is the least recently used.
  const kept = new Map<string, Document>();

  function keep(metadataHash: string, document: Document): Document {
    kept.delete(metadataHash);
    kept.set(metadataHash, document);
    const oldest = kept.keys().next().value;
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return document;
  }

  return {
    async get(metadataHash) {
      const known = kept.get(metadataHash);
      if (known) return keep(metadataHash, known);
      const row = await views
        .selectFrom('metadata')
        .select('document')
        .where('metadata_hash', '=', metadataHash)
        .executeTakeFirst();
      return row ? keep(metadataHash, readDocument(row.document)) : null;
    },
  };
}

function readDocument(text: string): Document {
  const metadata = JSON.parse(text) as AgentMetadata;
  let compiled: ParameterCheck | undefined;
  return {
    metadata,
    checkParameters(parameters) {
      // Lists read many documents and execute few agents.
      compiled ??= compileParameterCheck(metadata.input_schema);
      return compiled(parameters);
    },
  };
}
