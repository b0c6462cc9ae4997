/**
 * The values of enumerated fields and filters, and the forms of an address and an execution id. Separate from the
 * schemas, so that the web page can parse its URL before it loads them.
 */

/** The text form of an address. A text of this form may still encode more or fewer than 32 bytes. */
export const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** The text form of an execution id. */
export const EXECUTION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An Idempotency-Key: 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** The standard taxonomy, in the order of the bits of a listing's tag_mask. */
export const STANDARD_TAGS = [
  'research',
  'code',
  'legal',
  'finance',
  'data',
  'social',
  'security',
  'writing',
  'sql',
  'monitoring',
] as const;
export type StandardTag = (typeof STANDARD_TAGS)[number];

export const EXECUTION_STATUSES = ['pending', 'running', 'completed', 'failed', 'disputed'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

export const AGENT_SORTS = [
  'total_executions',
  'success_rate',
  'price_asc',
  'price_desc',
  'created_at',
  'best',
] as const;

export const DISPUTE_OUTCOMES = ['open', 'rejected', 'upheld', 'lapsed'] as const;
export type DisputeOutcome = (typeof DISPUTE_OUTCOMES)[number];

/** The admin promises to decide a dispute within so many seconds. The program does not enforce it. */
export const DECISION_SECONDS = 72 * 60 * 60;
/** For so long the admin waits for a side that has not written, which leaves a day to decide. */
export const HEARING_SECONDS = DECISION_SECONDS - 24 * 60 * 60;

/** The roles in which a wallet can read its statement. */
export const STATEMENT_ROLES = ['caller', 'creator'] as const;
export type StatementRole = (typeof STATEMENT_ROLES)[number];

/** Maximum days of one statement. */
export const STATEMENT_DAYS = 92;

/** The types of events; `events.ts` has the data of each. */
export const EVENT_TYPES = [
  'execution.pending',
  'execution.running',
  'execution.completed',
  'execution.failed',
  'dispute.opened',
  'dispute.resolved',
  'agent.paused',
  'agent.failing',
  'agent.signing_key_changed',
  'agent.collateral_low',
  'key.cap_near',
  'gas.low',
  'webhook.disabled',
  'webhook.test',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** True if the execution of this event has ended, and its stream with it. */
export const isEnd = ({ type }: { type: string }): boolean =>
  type === 'execution.completed' || type === 'execution.failed';

/**
 * A running indexer looks every few seconds. After this time it is down, or it is filling an empty index, and the index
 * counts as behind the chain.
 */
export const MAX_LAG_SECONDS = 30;

/** Largest evidence file of a dispute, bytes. */
export const MAX_EVIDENCE_BYTES = 256 * 1024;

/** The logged actions of the admin that only read. */
export const ADMIN_READS: readonly string[] = ['disputes.queue', 'disputes.case', 'disputes.evidence'];

/** The most other names of a creator that the admin's list shows. */
export const MAX_OTHER_NAMES = 20;
