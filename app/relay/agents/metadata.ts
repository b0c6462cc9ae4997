/**
 * POST /v1/metadata: stores a listing's document, byte for byte. Anyone may send one. It is shown only for listings
 * that carry its hash, so a stranger's document changes nothing. A document without a listing is kept for a day.
 */
import { hashMetadata } from '../../sdk/receipt/metadataHash.ts';
import { AgentMetadata } from '../../sdk/wire/metadata.ts';
import {
  describeFaults,
  findInputSchemaFaults,
  findSchemaFaults,
  type SchemaFault,
} from '../../sdk/wire/schemas/faults.ts';
import type { ApiError } from '../errors.ts';
import type { Poster } from '../ledger/metadata.ts';
import { findEndpointFault } from '../outbound/egress.ts';
import { invalid, parse, type Reading, readObject, requireValue, show, tryReading } from '../parse.ts';
import { type Ask, inThread } from '../workers.ts';
import { compileParameterCheck, isSmallSchema } from './parameters.ts';
import { keepMetadata, type PendingDeps } from './pendingMetadata.ts';
import { OutOfTime, SMALL_LIMIT_MS, WORK_LIMIT_MS, withinWork } from './schemas/timeLimit.ts';

export interface MetadataDeps extends PendingDeps {
  config: {
    /** True if endpoints may be plain http and private addresses: for local networks. */
    allowPrivateEndpoints: boolean;
  };
}

const checkInThread = inThread(import.meta.url, checkMetadataNow);

/**
 * Stores the document and returns its hash. If a wallet's session sent it, that wallet may test its endpoint. Other
 * posters cannot evict the documents of a known wallet. Throws ApiError 400 with the fault.
 */
export async function acceptMetadata(
  deps: MetadataDeps,
  bytes: Buffer,
  poster: Poster,
  ask: Ask,
): Promise<{ metadata_hash: string }> {
  const document = { bytes, allowPrivateEndpoints: deps.config.allowPrivateEndpoints };
  const small = isSmallSchema(bytes.toString('latin1')) ? checkWithin(SMALL_LIMIT_MS, document) : null;
  requireValue(small ?? (await checkInThread(ask, document)));
  const metadataHash = hashMetadata(bytes);
  await keepMetadata(deps, { metadataHash, document: bytes.toString('utf8'), ...poster });
  return { metadata_hash: metadataHash };
}

interface Posted {
  bytes: Uint8Array;
  allowPrivateEndpoints: boolean;
}

/** Checks if the document may be listed. The value is null. */
export function checkMetadataNow(posted: Posted): Reading<null> {
  const tooComplex = () => {
    throw invalid('The schemas are too complex: checking them takes too long');
  };
  return checkWithin(WORK_LIMIT_MS, posted) ?? tryReading(tooComplex);
}

/** Like `checkMetadataNow`; null if it takes longer than this. */
function checkWithin(milliseconds: number, posted: Posted): Reading<null> | null {
  try {
    return withinWork(milliseconds, () =>
      tryReading(() => {
        checkMetadata(posted);
        return null;
      }),
    );
  } catch (error) {
    if (error instanceof OutOfTime) return null;
    throw error;
  }
}

function checkMetadata({ bytes, allowPrivateEndpoints }: Posted): void {
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
  return invalid(`The schema is not allowed: ${describeFaults(faults)}`, ...issues);
}
