/** All exports of `@agent-marketplace/client`, for programs that call agents. It needs no other package. */

export type { Check, CheckName, Comparison } from '../receipt/checks.ts';
export { hashResult, verifyResultSignature } from '../receipt/receipt.ts';
export type { AgentFilter, Agents } from './agents.ts';
export { type Logger, type Options, type PaidCall, type Payment, type RequestOptions, VERSION } from './client.ts';
export type { NewWebhook, WebhookChanges } from './endpoints.ts';
export * from './error.ts';
export type { StreamOptions } from './events.ts';
export type * from './executions.ts';
export type { Listing, Page } from './listing.ts';
export { AgentMarketplace } from './marketplace.ts';
export type { CallOptions, RunInput, RunOptions, WaitOptions } from './paid.ts';
export { isProven, type VerifyOptions, verifyExecution, verifyReceipt } from './receipts.ts';
export type { OnDelta } from './streamed.ts';
export type * from './types.ts';
export {
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhook.ts';
