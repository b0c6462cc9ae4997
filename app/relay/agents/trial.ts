/**
 * The Test Execution tool: sends one synthetic execution to a creator's server and judges it like a paid one, with a
 * finding for each check. There is no transaction and no money, so it is limited to wallets that may use that server,
 * and in rate.
 */
import { randomUUID } from 'node:crypto';
import bs58 from 'bs58';
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../sdk/program/program.ts';
import type { ListingCheck } from '../../sdk/wire/procedures.ts';
import { ApiError, chainUnreadable } from '../errors.ts';
import type { Limits } from '../ledger/limits.ts';
import { isPendingOf } from '../ledger/metadata.ts';
import { beginningOf, type CreatorAnswer, type CreatorCall } from '../outbound/dispatch.ts';
import { maxResultBytes } from '../outbound/resultSize.ts';
import { judgeAnswer } from '../outbound/verify.ts';
import { invalid } from '../parse.ts';
import { ownWork } from '../workers.ts';
import type { Documents } from './documents.ts';
import { keepExample } from './examples.ts';
import type { PendingDeps } from './pendingMetadata.ts';

/** For a document without a listing, unless the request gives another. */
const TIMEOUT_SECONDS = 30;
/**
 * A creator who repairs a server tests it a few times in a row. `npm start` tests six agents for each of two wallets.
 */
const WINDOW_SECONDS = 600;
const TRIALS_OF_ENDPOINT = 10;
const TRIALS_OF_WALLET = 30;

interface TrialInput {
  metadata_hash: string;
  signing_key: string;
  task: string;
  parameters: Record<string, unknown>;
  timeout_seconds?: number | undefined;
  publish: boolean;
}

/** One call to a creator's server, without retries; `deadlineMs` is on performance.now()'s clock. */
export type CallOnce = (
  call: Pick<CreatorCall, 'endpoint' | 'request' | 'purpose' | 'signingKey' | 'deadlineMs'>,
) => Promise<CreatorAnswer>;

export interface TrialDeps extends Pick<PendingDeps, 'views' | 'ledger' | 'now'> {
  config: {
    /** Bytes of a result for each cent of its price. */
    results: { bytesPerCent: number };
  };
  documents: Documents;
  callCreator: CallOnce;
  accounts: {
    /** Rejects if the node does not answer. */
    readConfig(): Promise<Config>;
  };
}

/** Rate limits of tests, by endpoint and by wallet. */
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
 * The findings in the order of the checks; the first failure is the last finding. Throws ApiError: 429 if an endpoint
 * or wallet was tested too often, 400 for a timeout that no listing may have.
 */
export async function tryListing(
  deps: TrialDeps,
  limits: TrialLimits,
  wallet: string,
  input: TrialInput,
): Promise<{ ok: boolean; checks: ListingCheck[]; answer: string | null }> {
  const checks: ListingCheck[] = [];
  let begun = performance.now();
  function check(name: ListingCheck['name'], ok: boolean, detail: string): boolean {
    const now = performance.now();
    checks.push({ name, ok, detail, duration_ms: Math.round(now - begun) });
    begun = now;
    return ok;
  }
  let raw: string | null = null;
  const end = () => ({ ok: checks.every((finding) => finding.ok), checks, answer: raw });

  const own = await findOwn(deps, wallet, input.metadata_hash);
  const document = own && (await deps.documents.get(input.metadata_hash));
  if (!document) {
    const remedy = "Send it to POST /v1/metadata with your session's token, then test again.";
    check('metadata', false, `this service has no document with this metadata_hash from your wallet. ${remedy}`);
    return end();
  }
  const timeoutSeconds = await requireTimeout(deps, input.timeout_seconds ?? own.timeoutSeconds);
  const parameters = JSON.stringify(input.parameters);
  const faults = (await document.checkParameters(async () => ({ ...(await ownWork()), name: wallet }), parameters)).map(
    ({ message }) => message,
  );
  const fit = 'stored; the parameters fit its input schema';
  if (!check('metadata', faults.length === 0, faults.join('; ') || fit)) return end();

  // Strangers who test a known endpoint must not use up its creator's own tests. Theirs go by its origin, because a
  // server answers under any number of paths.
  const { endpoint: url } = document.metadata;
  const endpoint = own.isListed ? `${wallet} ${url}` : ` ${new URL(url).origin}`;
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
  if (answer.kind !== 'body') {
    raw = answer.raw?.body.toString('utf8') ?? null;
    if (answer.kind === 'invalid') check('reachable', true, `${document.metadata.endpoint} answered`);
    check(answer.kind === 'invalid' ? 'json' : 'reachable', false, answer.message);
    return end();
  }
  check('reachable', true, `${document.metadata.endpoint} answered`);
  raw = beginningOf(answer.body).body.toString('utf8');
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
  if (!check('execution_id', named, named ? 'equals the request' : 'differs from the execution_id of the request'))
    return end();

  const completed = found.isCompleted;
  const reason =
    verdict.kind === 'failed'
      ? `the agent reported a failure: ${verdict.message}`
      : 'expected "completed" with a result';
  if (!check('status', completed, completed ? 'completed' : reason)) return end();

  const hashed = found.isHashed;
  const hashRule = 'expected "sha256:" and the lower-case hex SHA-256 of result';
  if (!check('result_hash', hashed, hashed ? 'is the SHA-256 of the result' : hashRule)) return end();

  const signed = found.isSigned;
  const signatureRule = `expected "ed25519:" and the base58 signature of ${input.signing_key} over result_hash`;
  // The verdict is the result of a paid execution, so it decides.
  const passed = signed && verdict.kind === 'completed';
  const verdictText =
    verdict.kind === 'completed' ? 'is the signature of the signing key over result_hash' : verdict.message;
  check('signature', passed, signed ? verdictText : signatureRule);
  if (passed && input.publish) await keepExample(deps, wallet, input, verdict.result);
  return end();
}

/** The document, if this wallet may test it; otherwise null. */
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
  // Every marketplace allows at least this much, so the chain need not be read.
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
    throw new ApiError('rate_limited', `${what} tested too often. Retry in ${retryAfterSeconds} s.`, {
      retryAfterSeconds,
    });
  }
}
