/**
 * The Test Execution tool: one synthetic execution sent to a creator's server, judged as a paid one would be, with a
 * finding for each thing that can be wrong. No transaction, no money: so only for wallets that may make that server work,
 * and not too often.
 */
import { randomUUID } from 'node:crypto';
import bs58 from 'bs58';
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../sdk/program/program.ts';
import type { ListingCheck } from '../../sdk/wire/procedures.ts';
import { ApiError, chainUnreadable } from '../errors.ts';
import type { Limits } from '../ledger/limits.ts';
import { isPendingOf } from '../ledger/metadata.ts';
import type { CreatorAnswer, CreatorCall } from '../outbound/dispatch.ts';
import { maxResultBytes } from '../outbound/resultSize.ts';
import { judgeAnswer } from '../outbound/verify.ts';
import { invalid } from '../parse.ts';
import type { Documents } from './documents.ts';
import type { PendingDeps } from './pendingMetadata.ts';

/** Of a document that no listing carries, unless the request says otherwise. */
const TIMEOUT_SECONDS = 30;
/** A creator who mends a server tests it a few times in a row; `npm start` tests six agents for each of two wallets. */
const WINDOW_SECONDS = 600;
const TRIALS_OF_ENDPOINT = 10;
const TRIALS_OF_WALLET = 30;

interface TrialInput {
  metadata_hash: string;
  signing_key: string;
  task: string;
  parameters: Record<string, unknown>;
  timeout_seconds?: number | undefined;
}

/** One call to a creator's server, not repeated; `deadlineMs` is on performance.now()'s clock. */
export type CallOnce = (
  call: Pick<CreatorCall, 'endpoint' | 'request' | 'purpose' | 'signingKey' | 'deadlineMs'>,
) => Promise<CreatorAnswer>;

export interface TrialDeps extends Pick<PendingDeps, 'views'> {
  config: {
    /** Bytes of a result for each cent of its price. */
    results: { bytesPerCent: number };
  };
  documents: Documents;
  callCreator: CallOnce;
  accounts: {
    /** Rejects where the node does not answer. */
    readConfig(): Promise<Config>;
  };
}

/** How often listings are tried, by endpoint and by wallet. */
export interface TrialLimits {
  endpoint: RateLimiterAbstract;
  wallet: RateLimiterAbstract;
}

export function createTrialLimits(limits: Limits): TrialLimits {
  const limit = (name: string, points: number) => limits.counter(name, { points, duration: WINDOW_SECONDS });
  return {
    endpoint: limit('endpoint', TRIALS_OF_ENDPOINT),
    wallet: limit('wallet', TRIALS_OF_WALLET),
  };
}

/**
 * Findings in the order in which they are made; the first that fails is the last. Throws ApiError: 429 where an endpoint
 * or wallet was tested too often, 400 for a timeout that no listing may have.
 */
export async function tryListing(
  deps: TrialDeps,
  limits: TrialLimits,
  wallet: string,
  input: TrialInput,
): Promise<{ ok: boolean; checks: ListingCheck[] }> {
  const checks: ListingCheck[] = [];
  let begun = performance.now();
  function check(name: ListingCheck['name'], ok: boolean, detail: string): boolean {
    const now = performance.now();
    checks.push({ name, ok, detail, duration_ms: Math.round(now - begun) });
    begun = now;
    return ok;
  }
  const end = () => ({ ok: checks.every((finding) => finding.ok), checks });

  const own = await findOwn(deps, wallet, input.metadata_hash);
  const document = own && (await deps.documents.get(input.metadata_hash));
  if (!document) {
    const remedy = "send it to POST /v1/metadata with your session's token first";
    check(
      'metadata',
      false,
      `your wallet has no listing with this metadata_hash, and sent no such document; ${remedy}`,
    );
    return end();
  }
  const timeoutSeconds = await requireTimeout(deps, input.timeout_seconds ?? own.timeoutSeconds);
  const parameters = JSON.stringify(input.parameters);
  const faults = (await document.checkParameters(parameters)).map(({ message }) => message);
  const fit = 'stored, and the parameters fit its input schema';
  if (!check('metadata', faults.length === 0, faults.join('; ') || fit)) return end();

  // What strangers spend on an endpoint that they have heard of leaves its creator's own tests alone.
  const endpoint = `${own.isListed ? wallet : ''} ${document.metadata.endpoint}`;
  await spend(limits.endpoint, endpoint, 'This endpoint was');
  await spend(limits.wallet, wallet, 'Endpoints of this wallet were');
  const executionId = randomUUID();
  const answer = await deps.callCreator({
    endpoint: document.metadata.endpoint,
    request: {
      execution_id: executionId,
      task: input.task,
      parameters,
      user_pubkey: wallet,
      timeout_seconds: timeoutSeconds,
    },
    purpose: 'test',
    signingKey: input.signing_key,
    deadlineMs: performance.now() + timeoutSeconds * 1000,
  });
  if (answer.kind === 'timeout' || answer.kind === 'failed') {
    check('reachable', false, answer.message);
    return end();
  }
  check('reachable', true, `${document.metadata.endpoint} answered`);
  if (answer.kind === 'invalid') {
    check('json', false, answer.message);
    return end();
  }
  const signingKey = bs58.decodeUnsafe(input.signing_key) ?? new Uint8Array();
  const limit =
    own.price === null ? {} : { maxResultBytes: maxResultBytes(own.price, deps.config.results.bytesPerCent) };
  const found = await judgeAnswer(answer.body, { executionId, signingKey, requestHash: '', ...limit });
  const { verdict } = found;
  if (found.jsonFault !== null) {
    check('json', false, found.jsonFault);
    return end();
  }
  check('json', true, 'the answer is JSON');
  const named = found.isNamed;
  if (!check('execution_id', named, named ? 'equals the request' : 'must equal that of the request')) return end();

  const completed = found.isCompleted;
  const reason =
    verdict.kind === 'failed' ? `the agent failed: ${verdict.message}` : 'must be completed, with a result';
  if (!check('status', completed, completed ? 'completed' : reason)) return end();

  const hashed = found.isHashed;
  const hashRule = 'must be "sha256:" and the lower-case hex SHA-256 of result';
  if (!check('result_hash', hashed, hashed ? 'is that of the result' : hashRule)) return end();

  const signed = found.isSigned;
  const signatureRule = `must be "ed25519:" and the base58 signature of ${input.signing_key} over result_hash`;
  // The verdict is what a paid execution would get, and has the last word.
  const passed = signed && verdict.kind === 'completed';
  const verdictText = verdict.kind === 'completed' ? "is the signing key's over result_hash" : verdict.message;
  check('signature', passed, signed ? verdictText : signatureRule);
  return end();
}

/** The document as one that this wallet may have tested; null where it may not. */
async function findOwn(
  deps: TrialDeps,
  wallet: string,
  metadataHash: string,
): Promise<{ timeoutSeconds: number; price: bigint | null; isListed: boolean } | null> {
  const listing = await deps.views
    .selectFrom('chain.listings')
    .select(['timeout_seconds', 'price'])
    .where('metadata_hash', '=', metadataHash)
    .where('creator', '=', wallet)
    .executeTakeFirst();
  if (listing) {
    return { timeoutSeconds: Number(listing.timeout_seconds), price: listing.price, isListed: true };
  }
  return (await isPendingOf(deps.views, metadataHash, wallet))
    ? { timeoutSeconds: TIMEOUT_SECONDS, price: null, isListed: false }
    : null;
}

async function requireTimeout(deps: TrialDeps, timeoutSeconds: number): Promise<number> {
  // No listing on any marketplace may have less, so the chain need not be asked.
  if (timeoutSeconds <= TIMEOUT_SECONDS) return timeoutSeconds;
  const { maxTimeoutSeconds } = await deps.accounts.readConfig().catch(chainUnreadable);
  if (timeoutSeconds <= maxTimeoutSeconds) return timeoutSeconds;
  const expected = `must be at most ${maxTimeoutSeconds}`;
  const issue = { in: 'body', path: 'timeout_seconds', expected, got: String(timeoutSeconds) } as const;
  throw invalid(`The field "timeout_seconds" ${expected}`, issue);
}

async function spend(limiter: RateLimiterAbstract, key: string, what: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    const retryAfterSeconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000));
    throw new ApiError('rate_limited', `${what} tested too often; try again in ${retryAfterSeconds} seconds`, {
      retryAfterSeconds,
    });
  }
}
