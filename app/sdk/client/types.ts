/** The API's requests and answers as plain types, without a package. generated.ts is made from the OpenAPI document. */
import type { components } from './generated.ts';

type Schemas = components['schemas'];

export type AgentSummary = Schemas['AgentSummary'];
/** An agent in full. */
export type Agent = Schemas['AgentFull'];
export type AgentHealth = Schemas['AgentHealth'];
export type AgentStatistics = Schemas['AgentStatistics'];
export type ExecutionSummary = Schemas['ExecutionSummary'];
/** The record of an execution in full. */
export type Execution = Schemas['ExecutionFull'];
/** The return value of `run`: a result that was paid for. */
export type CompletedExecution = Omit<Schemas['ExecuteCompleted'], 'execution_time_ms' | 'ipfs_url'> & {
  /** Null if the execution is known only from the chain. */
  execution_time_ms: number | null;
  /** Null if the service no longer serves it. */
  ipfs_url: string | null;
};
/** An execution in progress. */
export type StartedExecution = Schemas['ExecuteAccepted'];
/** An event of an execution. */
export type ExecutionEvent = Omit<Schemas['MarketplaceEvent'], 'data'> & {
  data: Extract<Schemas['MarketplaceEvent']['data'], { error_code: unknown }>;
};
/** Any event of a wallet. */
export type MarketplaceEvent = Schemas['MarketplaceEvent'];
export type EventType = Schemas['MarketplaceEvent']['type'];
export type WebhookEndpoint = Schemas['WebhookEndpoint'];
/** A new endpoint or a new secret. */
export type WebhookSecret = Schemas['WebhookSecret'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type Receipt = Schemas['Receipt'];
export type ExecutionArchive = Schemas['ExecutionArchive'];
export type DeletedContent = Schemas['ContentDeleted'];
export type DailyStatement = Schemas['DailyStatement'];
export type SpendStatement = Schemas['SpendStatement'];
/** One fault of a request. */
export type RequestIssue = Schemas['RequestIssue'];

/** The document's errors by code. */
type Errors = { [Name in keyof Schemas as Name extends `error_${infer Code}` ? Code : never]: Schemas[Name] };
/** Every code of an error answer. */
export type ErrorCode = keyof Errors | 'not_admin';
/** The `details` of an error with this code. */
export type ErrorDetails<Code extends ErrorCode> = Code extends keyof Errors
  ? Errors[Code] extends { error: { details: infer Details } }
    ? Details
    : null
  : null;
