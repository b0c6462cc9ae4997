/** Procedures of agents, their listings and their creators. */
import * as z from 'zod';
import { DISPUTE_OUTCOMES, MAX_OTHER_NAMES } from './choices.ts';
import { CONFORMANCE_NAMES } from './conformance.ts';
import { Address, Count, ExecutionId, Hash, type ProcedureEntry, page, Time, Usdc } from './fields.ts';

/** One check of the Test Execution tool, in order. */
export const ListingCheck = z.strictObject({
  name: z.enum(CONFORMANCE_NAMES),
  ok: z.boolean(),
  /** False if paid calls do not depend on it. */
  required: z.boolean(),
  expected: z.string(),
  /** The finding in words. */
  detail: z.string(),
  duration_ms: Count,
  /** The beginning of the request, up to 2 KiB; null if none was sent. */
  sent: z.string().nullable(),
  /** The beginning of the answer as it came, up to 2 KiB; null if there was none. */
  received: z.string().nullable(),
});
export type ListingCheck = z.infer<typeof ListingCheck>;

/** A test that the agent's server passed, which its creator shows to everybody. */
export const AgentExample = z.strictObject({
  task: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  /** The beginning of the result, up to 4,000 characters. */
  result: z.string(),
  is_cut: z.boolean(),
  tested_at: Time,
});
export type AgentExample = z.infer<typeof AgentExample>;

/** An earlier request of the session's wallet. */
export const AgentInput = z.strictObject({ task: z.string(), parameters: z.record(z.string(), z.unknown()) });
export type AgentInput = z.infer<typeof AgentInput>;

/** A listing as its creator sees it. */
export const OwnListing = z.strictObject({
  agent_id: z.string(),
  /** Null until the description is posted; also `metadata`. */
  name: z.string().nullable(),
  status: z.enum(['active', 'paused', 'delisted']),
  price_usdc: Usdc,
  timeout_seconds: Count,
  min_timeout_seconds: Count,
  /** The standard tags, which the listing itself carries. */
  tags: z.array(z.string()),
  signing_key: z.string(),
  metadata_hash: z.string(),
  metadata_uri: z.string(),
  listing_version: Count,
  listed_at: Time,
  /** The description as posted, byte for byte, with its endpoint. */
  metadata: z.string().nullable(),
  collateral: z.strictObject({
    deposited_usdc: Usdc,
    /** Taken by upheld disputes: paid to callers or forfeited. */
    slashed_usdc: Usdc,
    /** Taken beyond the prices of its disputes, and still kept for other callers. */
    forfeited_usdc: Usdc,
    /** Null before delisting. */
    returnable_at: Time.nullable(),
    returned: z.boolean(),
  }),
  total_executions: Count,
  success_rate: z.number().min(0).max(1),
  /** The creator's share of all settled executions. `collateral` shows the amounts that disputes took. */
  earned_usdc: Usdc,
  /** Of executions that ended yesterday or today, in UTC, counted like `total_executions`. */
  latest: z.strictObject({ executions: Count, failed: Count, earned_usdc: Usdc }),
  open_disputes: Count,
});
export type OwnListing = z.infer<typeof OwnListing>;

/** One day in UTC. */
export const ListingDay = z.strictObject({
  day: z.iso.date(),
  completed: Count,
  failed: Count,
  earned_usdc: Usdc,
  /** Latencies of completed executions; null if there are none. */
  p50_ms: Count.nullable(),
  p95_ms: Count.nullable(),
});
export type ListingDay = z.infer<typeof ListingDay>;

export const ListingFailure = z.strictObject({ code: z.string(), message: z.string(), count: Count, last_at: Time });
export type ListingFailure = z.infer<typeof ListingFailure>;

/** An ended call that an agent's server received. */
export const ReceivedCall = z.strictObject({
  execution_id: z.string(),
  agent_id: z.string(),
  /** The beginning of the task, up to 200 characters; null once the caller deleted it. */
  task: z.string().nullable(),
  status: z.enum(['completed', 'failed', 'disputed']),
  /** Null if it was never disputed. One that is rejected or lapses leaves the status `completed`. */
  dispute: z.strictObject({ outcome: z.enum(DISPUTE_OUTCOMES) }).nullable(),
  price_usdc: Usdc,
  /** The price without the marketplace's fee; 0 unless the call was paid. */
  earned_usdc: Usdc,
  /** The price that went back to the caller; 0 until it has arrived, and if the call was paid. */
  refunded_usdc: Usdc,
  received_at: Time,
  /** Time from the first request to the server's answer, or to the deadline; null if unknown. */
  duration_ms: Count.nullable(),
  /** Status of the server's last answer; null if none came. */
  http_status: Count.nullable(),
  /** Why the call was refunded; null if it was paid. */
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});
export type ReceivedCall = z.infer<typeof ReceivedCall>;

/** The request to a server and its answer. Each is null once the caller deleted it. */
export const ReceivedCallContent = z.strictObject({
  call: ReceivedCall,
  /** The JSON that was sent. A retry had fewer `timeout_seconds`. */
  request: z.string().nullable(),
  /**
   * The beginning of the server's answer, up to 16 KiB: the HTTP `body` as it came, or the `result` of an accepted
   * answer. Also null if no answer came, or if it is older than results are kept.
   */
  answer: z.strictObject({ kind: z.enum(['body', 'result']), text: z.string(), is_cut: z.boolean() }).nullable(),
});
export type ReceivedCallContent = z.infer<typeof ReceivedCallContent>;

export const CreatorSummary = z.strictObject({
  wallet: z.string(),
  /** From the newest of the creator's descriptions. */
  display_name: z.string().nullable(),
  /** Other names on its listings that are not delisted, newest first. */
  other_names: z.array(z.string()).max(MAX_OTHER_NAMES),
  verified: z.boolean(),
  /** Time of the last change of the badge. */
  verified_at: Time.nullable(),
  /** Listings that are not delisted. */
  listings: Count,
  total_executions: Count,
  /** The part of `total_executions` that counts as failed: the price was refunded, or a dispute was upheld. */
  failed_executions: Count,
  earned_usdc: Usdc,
  /** Of all its listings. */
  disputes: z.strictObject({ open: Count, rejected: Count, upheld: Count, lapsed: Count }),
  /** Time of its first listing; null if there is none. */
  listed_since: Time.nullable(),
});
export type CreatorSummary = z.infer<typeof CreatorSummary>;

export const listingProcedures = {
  /** The creator's example for the agent's present description; null without one. */
  'agents.example': {
    kind: 'query',
    access: 'public',
    input: z.strictObject({ agent_id: Address }),
    output: z.strictObject({ example: AgentExample.nullable() }),
  },
  /** The request of the wallet's own execution; null if the service does not have it, or if it is very long. */
  'executions.asked': {
    kind: 'query',
    access: 'session',
    input: z.strictObject({ execution_id: ExecutionId }),
    output: z.strictObject({ asked: AgentInput.nullable() }),
  },
  /** Listings of the session's wallet, including delisted ones, newest first. */
  'listings.mine': {
    kind: 'query',
    access: 'session',
    input: z.void(),
    output: z.strictObject({ listings: z.array(OwnListing) }),
  },
  /** Every day of the range, oldest first, ending today. Failures are sorted by frequency. Only for the creator. */
  'listings.statistics': {
    kind: 'query',
    access: 'session',
    input: z.strictObject({ agent_id: Address, days: z.int().min(1).max(90).default(30) }),
    output: z.strictObject({ days: z.array(ListingDay), failures: z.array(ListingFailure) }),
  },
  /** Ended calls that a creator's servers received, newest first, before the execution `before`. Only for the creator. */
  'listings.calls': {
    kind: 'query',
    access: 'session',
    input: z.strictObject({
      /** Of all agents of the session's wallet if missing. */
      agent_id: Address.optional(),
      /** Only failed calls: refunded ones, and those whose dispute was upheld. */
      failed: z.boolean().default(false),
      before: ExecutionId.optional(),
      limit: page.limit,
    }),
    output: z.strictObject({ calls: z.array(ReceivedCall), has_more: z.boolean() }),
  },
  /** One of these calls, with what was sent and what came back. Only for the creator. */
  'listings.call': {
    kind: 'query',
    access: 'session',
    input: z.strictObject({ execution_id: ExecutionId }),
    output: ReceivedCallContent,
  },
  /**
   * Sends one synthetic execution to the endpoint of a metadata document, without transaction or money. Allowed for the
   * creator of a listing with this document, and before listing for the wallet whose session posted it. For everybody
   * else the check `metadata` fails, as for an unknown document. At most 10 tests of one endpoint and 30 of one wallet
   * in 10 minutes, with several live listings 30 for each; then `rate_limited` with `Retry-After`. Without a live
   * listing, all endpoints of a server count as one.
   */
  'listings.test': {
    kind: 'mutation',
    access: 'session',
    input: z.strictObject({
      metadata_hash: Hash,
      signing_key: Address,
      task: z.string().min(1).max(10_000).default('test'),
      parameters: z.record(z.string(), z.unknown()).default({}),
      /** Seconds to wait, up to `max_timeout_seconds`. Default: the listing's own timeout, or 30 before listing. */
      timeout_seconds: z.int().min(1).optional(),
      /** True to also make the checks that paid calls do not depend on: six more requests. */
      full: z.boolean().default(false),
      /** Shows task, parameters and result to everybody as the agent's example, if the test passes. */
      publish: z.boolean().default(false),
    }),
    output: z.strictObject({
      /** True if all required checks passed. */
      ok: z.boolean(),
      checks: z.array(ListingCheck),
      /** The beginning of the server's answer as it came, up to 16 KiB; null if there was none. */
      answer: z.string().nullable(),
    }),
  },
  /** Withdraws the wallet's own example of a description; nobody sees it any more. A new test can publish another. */
  'listings.withdrawExample': {
    kind: 'mutation',
    access: 'session',
    input: z.strictObject({ metadata_hash: Hash }),
    output: z.strictObject({ withdrawn: z.boolean() }),
  },
  /** Every wallet that ever had a listing or the badge. `q` is words of a display name, or a wallet. */
  'creators.list': {
    kind: 'query',
    access: 'admin',
    input: z
      .strictObject({ q: z.string().min(1).max(100).optional(), verified: z.boolean().optional(), ...page })
      .prefault({}),
    output: z.strictObject({ creators: z.array(CreatorSummary), total: Count }),
  },
} as const satisfies Record<string, ProcedureEntry>;
