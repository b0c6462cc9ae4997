/**
 * The schemas of every query, body and answer of the REST API, by subject. The relay parses requests and answers with
 * these schemas and clients read answers with them, so neither can drift. Amounts are decimal USDC with at most 6
 * places, times ISO 8601 in UTC, durations whole numbers with their unit.
 */
import * as z from 'zod';

export * from './agentStatistics.ts';
export * from './agents.ts';
export * from './archives.ts';
export { ErrorBody, errorBodyOf } from './errorBody.ts';
export { ERRORS, type ErrorCode, type ErrorDetails } from './errorCodes.ts';
export * from './executions.ts';
export { AgentMetadata } from './metadata.ts';
export * from './ownKey.ts';
export * from './queries.ts';
export * from './service.ts';
export * from './statement.ts';
export * from './webhooks.ts';

/** Largest request body, bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** POST /v1/metadata takes `AgentMetadata` as JSON and returns the hash of exactly these bytes. */
export const MetadataAccepted = z.strictObject({ metadata_hash: z.string() });
export type MetadataAccepted = z.infer<typeof MetadataAccepted>;
