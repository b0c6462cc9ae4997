/**
 * Stores large results in an S3-compatible storage instead of the ledger. The key of an object is its execution's id,
 * and only its hash is trusted. The storage's operator can therefore lose a result but never change one.
 */
import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import type { Logger } from 'pino';
import { request } from 'undici';
import { type ApiError, retryLater } from '../errors.ts';

/** Timeout for one object of at most 5 MiB, from the request to the last byte. */
const PATIENCE_MS = 10_000;
const MAX_OBJECT_BYTES = 5 * 1024 * 1024;
/** Retry delay after a failed read. */
const RETRY_SECONDS = 5;

/** Access to the storage. */
export interface ObjectSettings {
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** A result as a row of the ledger describes it. */
interface StoredResult {
  execution_id: string;
  result: Buffer | null;
  object_stored: bigint;
  /** `sha256:` and hex. */
  result_hash: string;
}

type Located = Pick<StoredResult, 'execution_id' | 'result_hash'>;

export type ResultObjects = ReturnType<typeof createResultObjects>;

/** Each function rejects if the storage does not answer as expected. */
export function createResultObjects(settings: ObjectSettings, patienceMs = PATIENCE_MS) {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = settings;

  async function ask(method: 'GET' | 'PUT' | 'DELETE', executionId: string, body?: Buffer) {
    const url = `${endpoint.replace(/\/$/, '')}/${bucket}/results/${executionId}`;
    const hash = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const headers = { 'x-amz-content-sha256': hash };
    const keys = { accessKeyId, secretAccessKey, region, service: 's3' };
    const signed = await new AwsV4Signer({ method, url, headers, ...keys }).sign();
    const answer = await request(signed.url, {
      method,
      headers: { ...Object.fromEntries(signed.headers), ...(body && { 'content-type': 'text/plain; charset=utf-8' }) },
      body: body ?? null,
      signal: AbortSignal.timeout(patienceMs),
    });
    const isThere = answer.statusCode >= 200 && answer.statusCode < 300;
    if (isThere || answer.statusCode === 404) return { isThere, body: answer.body };
    await answer.body.dump();
    throw new Error(`the object storage answered ${method} with status ${answer.statusCode}`);
  }

  /** Null if the object is lost, or has another hash. */
  async function get(row: Located): Promise<Buffer | null> {
    const { isThere, body } = await ask('GET', row.execution_id);
    if (!isThere) {
      await body.dump();
      return null;
    }
    const bytes = await readUpTo(body, MAX_OBJECT_BYTES);
    return bytes && `sha256:${createHash('sha256').update(bytes).digest('hex')}` === row.result_hash ? bytes : null;
  }

  return {
    get,
    /** Resolves when the storage has returned the same bytes. */
    async put(row: Located, bytes: Buffer): Promise<void> {
      const { isThere, body } = await ask('PUT', row.execution_id, bytes);
      await body.dump();
      if (!isThere) throw new Error(`the object storage has no bucket ${bucket}`);
      if (!(await get(row))) throw new Error('the object storage did not return the test object that was written');
    },
    /** Also succeeds if there is none. */
    async drop(executionId: string): Promise<void> {
      await (await ask('DELETE', executionId)).body.dump();
    },
  };
}

/** Reads the whole body; null if it is longer than `maxBytes`. */
async function readUpTo(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The bytes of a result, wherever they are stored; null if they are no longer kept, or lost. Throws ApiError 503. */
export type ReadText = (row: StoredResult) => Promise<Buffer | null>;

export function createReadText(objects: ResultObjects | null, log: Logger): ReadText {
  return async (row) => {
    const { execution_id } = row;
    if (row.result || row.object_stored === 0n) return row.result;
    const bytes = await objects?.get(row).catch((error) => {
      log.error({ execution_id, error }, 'cannot read a result from the object storage');
      throw unreadable(execution_id);
    });
    // The result is in an object storage whose settings were removed.
    if (bytes === undefined) throw unreadable(execution_id);
    if (!bytes) log.error({ execution_id }, 'the object storage has no such result, or a different one');
    return bytes;
  };
}

const unreadable = (executionId: string): ApiError =>
  retryLater('The storage of results does not answer.', RETRY_SECONDS, executionId);
