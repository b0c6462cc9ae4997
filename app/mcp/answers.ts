/** Results of tools: values with their schema, and errors that tell a model what happened and what to do next. */

import { APIConnectionError } from '../sdk/client/error.ts';
import { plain, plainly, quote } from '../sdk/wire/creatorsWords.ts';
import { ERRORS, type ErrorCode, type ErrorEntry } from '../sdk/wire/errorCodes.ts';
import type { RequestIssue } from '../sdk/wire/errorDetails.ts';
import { own } from '../sdk/wire/own.ts';
import { withoutSecrets } from '../sdk/wire/secrets.ts';
import { MarketplaceError } from './market.ts';

export interface ToolAnswer {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  [other: string]: unknown;
}

/** The text is the same value, for hosts that do not read structured output. */
export function value(content: Record<string, unknown>): ToolAnswer {
  const structuredContent = plainly(content);
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

/** `next` tells the model how to continue. */
export function failure(happened: string, next: string): ToolAnswer {
  return { content: [{ type: 'text', text: withoutSecrets(plain(`${happened}\nNext: ${next}`)) }], isError: true };
}

/** Replaces REST API remedies that a model cannot follow. */
const NEXT: Partial<Record<ErrorCode, string>> = {
  unauthorized:
    'Stop, and ask the user to configure a valid API key: MARKETPLACE_API_KEY, or the Bearer token of /mcp.',
  insufficient_scope: 'Stop, and ask the user for an API key with the missing scope.',
  agent_not_allowed: 'Use an agent of allowed_agents, which get_budget shows, or ask the user to allow this one.',
  agent_not_found: 'Call search_agents and use an agent_id that it returns.',
  execution_not_found: 'Call list_executions and use an execution_id that it returns.',
  price_changed:
    'Call describe_agent for the present price. Repeat with a higher max_cost_usdc only if it is worth that.',
  not_settled:
    'Call get_execution. If it is pending or running, call wait_for_execution. If it failed, it was refunded and has no receipt.',
  agent_paused: 'Call search_agents for another agent.',
  idempotency_key_reused:
    'Use a new idempotency_key for a new call. To repeat a call, send exactly the same arguments.',
};

const LIMITS: Record<string, string> = {
  balance: 'Ask the user to send USDC to the wallet.',
  allowance:
    "Ask the user to renew the allowance of the wallet's keys, on the page API keys or with `keys allowance`. Refunded calls use it up too.",
  per_execution: "Choose a cheaper agent, or ask the user to raise the key's limit per execution.",
  period: "Wait until details.renews_at, choose a cheaper agent, or ask the user to raise the key's limit per period.",
  total: "Ask the user to raise the key's total limit.",
  gas: 'Ask the user to send SOL to details.gas_balance_address.',
};

/** The answer for an error of the marketplace, or for a failed connection to it. */
export function explain(error: unknown): ToolAnswer {
  if (!(error instanceof MarketplaceError) || error instanceof APIConnectionError) {
    return failure(`The marketplace did not answer: ${reasonOf(error)}.`, 'Repeat this call. It changes nothing.');
  }
  return failure(messageOf(error), nextOf(error));
}

function messageOf(error: MarketplaceError): string {
  const { code, message, details } = error;
  if (isEnd(error)) return `The call has ended: ${quote(message)} (${code})`;
  const faults = faultsBySchema(error);
  if (faults.length > 0) return `The parameters do not fit the agent's input schema (${code}): ${quote(faults)}`;
  return `${message} (${code})${details === null ? '' : ` ${JSON.stringify(details)}`}`;
}

/** Faults of parameters, which repeat names and values of the creator's schema. */
function faultsBySchema({ code, details }: MarketplaceError): RequestIssue[] {
  if (code !== 'invalid_request') return [];
  return ((details?.issues ?? []) as RequestIssue[]).filter(({ path }) => /^parameters\b/.test(path));
}

function nextOf(error: MarketplaceError): string {
  const { code, details, retryAfterSeconds } = error;
  if (code === 'insufficient_balance') return own(LIMITS, String(details?.limit)) ?? 'Call get_budget.';
  if (faultsBySchema(error).length > 0) return 'Correct these parameters, then call again.';
  if (code === 'invalid_request') {
    const issues = (details?.issues ?? []) as RequestIssue[];
    return `Correct ${issues.map(({ path, expected }) => `${path || 'the request'}: ${expected}`).join('; ')}. Then call again.`;
  }
  const known = own(NEXT, code) ?? own<ErrorEntry>(ERRORS, code)?.remedy.replaceAll('`', '');
  const wait = retryAfterSeconds === null ? '' : ` Wait ${retryAfterSeconds} s first.`;
  return `${known ?? 'Repeat this call later.'}${wait}`;
}

/** For a call that may have been paid. `again` says how to repeat it without paying twice. */
export function unknownOutcome(error: unknown, again: string): ToolAnswer {
  return failure(
    `The outcome is unknown: ${reasonOf(error)}. The call may have been paid.`,
    `Repeat it with ${again}. That never pays twice.`,
  );
}

/** How a call is repeated by its idempotency key, for `unknownOutcome`. */
export const withKey = (key: string): string => `the same arguments and idempotency_key "${key}"`;

/** The error's text, without a final full stop. */
export function reasonOf(error: unknown): string {
  if (error instanceof MarketplaceError && !(error instanceof APIConnectionError)) return messageOf(error);
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}

/**
 * Refusals that a paid call can get before the marketplace looks up earlier requests with the same key or payment. They
 * say nothing about those.
 */
const EARLY = [
  'unauthorized',
  'wrong_environment',
  'insufficient_scope',
  'address_not_allowed',
  'agent_not_allowed',
  'foreign_origin',
  'not_found',
  'method_not_allowed',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
] as const satisfies ErrorCode[];

/** Refusals that follow this look-up: no earlier request of the same call was paid. */
const LATE = [
  'invalid_request',
  'insufficient_balance',
  'agent_not_found',
  'metadata_missing',
  'price_changed',
  'agent_paused',
  'idempotency_key_reused',
  'payment_id_reused',
] as const satisfies ErrorCode[];

const isOf = (error: unknown, codes: readonly string[]): error is MarketplaceError =>
  error instanceof MarketplaceError && codes.includes(error.code);

/** True if the error guarantees that this request cost nothing. An earlier one of the same call may have. */
export const isUncharged = (error: unknown): boolean => isOf(error, [...EARLY, ...LATE]);

/** True if the error guarantees that no request of this call cost anything. */
export const isNeverCharged = (error: unknown): boolean => isOf(error, LATE);

/** True if the error is the end of an execution. */
export const isEnd = (error: unknown): boolean =>
  isOf(error, ['execution_failed', 'execution_timeout', 'result_unavailable']);
