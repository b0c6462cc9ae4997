/**
 * POST /v1/metadata: takes a listing's document, byte for byte. Anyone may send one; it is shown only for listings that
 * carry its hash, so a stranger's document changes nothing. Those that no listing carries are kept for a day.
 */
import { sql } from 'kysely';
import { AgentMetadata, hashMetadata } from '../sdk/metadata.ts';
import type { RelayDeps } from './deps.ts';
import type { ApiError } from './errors.ts';
import { findEndpointFault } from './execution/egress.ts';
import { compileParameterCheck } from './parameters.ts';
import { invalid, parse, readObject, show } from './parse.ts';
import { describeFaults, findInputSchemaFaults, findSchemaFaults, type SchemaFault } from './schemaFaults.ts';

type MetadataDeps = Pick<RelayDeps, 'config' | 'ledger' | 'views' | 'now' | 'log'>;

/** How long a document waits for its listing. */
const PENDING_MS = 24 * 60 * 60 * 1000;
/** How many wait; the oldest make room. At 64 KiB each, 32 MiB. */
const MAX_PENDING = 500;

/** Stores the document and returns its hash. Throws ApiError 400 saying what is wrong. */
export async function acceptMetadata(deps: MetadataDeps, bytes: Buffer): Promise<{ metadata_hash: string }> {
  checkMetadata(bytes, deps.config.allowPrivateEndpoints);
  const metadataHash = hashMetadata(bytes);
  const receivedMs = BigInt(deps.now());
  await deps.ledger
    .insertInto('metadata')
    .values({ metadata_hash: metadataHash, document: bytes.toString('utf8'), received_ms: receivedMs })
    .onConflict((conflict) => conflict.column('metadata_hash').doUpdateSet({ received_ms: receivedMs }))
    .execute();
  await forgetPending(deps);
  return { metadata_hash: metadataHash };
}

function checkMetadata(bytes: Buffer, allowPrivateEndpoints: boolean): void {
  const value = readObject(bytes);
  const metadata = parse(AgentMetadata, value, 'body');
  const endpointFault = allowPrivateEndpoints ? null : findEndpointFault(metadata.endpoint);
  if (endpointFault) {
    const issue = { in: 'body', path: 'endpoint', expected: endpointFault, got: 'another URL' } as const;
    throw invalid(`The field "endpoint" ${endpointFault}`, issue);
  }
  const faults = [
    ...findInputSchemaFaults(metadata.input_schema, 'input_schema'),
    ...findSchemaFaults(metadata.output_schema, 'output_schema'),
  ];
  if (faults.length > 0) throw schemaFault(faults);
  try {
    compileParameterCheck(metadata.input_schema);
  } catch (error) {
    const expected = `cannot be used: ${(error as Error).message}`;
    throw schemaFault([{ path: 'input_schema', expected, got: metadata.input_schema }]);
  }
}

function schemaFault(faults: SchemaFault[]): ApiError {
  const issues = faults.map(({ path, expected, got }) => {
    return { in: 'body' as const, path: path.slice(0, 200), expected, got: show(got) };
  });
  return invalid(`The schema cannot be listed: ${describeFaults(faults)}`, ...issues);
}

/** Drops documents that no listing carries and no unfinished execution needs: the expired, and the oldest of too many. */
async function forgetPending(deps: MetadataDeps): Promise<void> {
  const pending = await deps.views
    .selectFrom('metadata')
    .select(['metadata_hash', 'received_ms'])
    .where(sql<boolean>`NOT EXISTS (
      SELECT 1 FROM chain.listings AS l WHERE l.metadata_hash = metadata.metadata_hash)`)
    .where(sql<boolean>`NOT EXISTS (
      SELECT 1 FROM executions AS e
      WHERE e.metadata_hash = metadata.metadata_hash AND e.state NOT IN ('settled', 'refunded', 'void'))`)
    .orderBy('received_ms', 'desc')
    .execute();
  const oldest = BigInt(deps.now() - PENDING_MS);
  const dropped = pending
    .filter((row, index) => index >= MAX_PENDING || row.received_ms < oldest)
    .map((row) => row.metadata_hash);
  if (dropped.length === 0) return;
  await deps.ledger.deleteFrom('metadata').where('metadata_hash', 'in', dropped).execute();
  deps.log.info({ dropped: dropped.length }, 'metadata that no listing carries was dropped');
}
