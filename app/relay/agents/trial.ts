/**
 * The Test Execution tool: sends synthetic executions to a creator's server and judges them like paid ones, with a
 * finding for each check. It sends no transaction and moves no money, so only wallets that may use that server can test
 * it, and at a limited rate.
 */
import { sql } from 'kysely';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { countRows } from '../../database/portable.ts';
import { finding, testCreator } from '../../sdk/creator/conformance.ts';
import type { ConformanceTools } from '../../sdk/creator/conformanceCalls.ts';
import type { Config } from '../../sdk/program/program.ts';
import type { ListingCheck } from '../../sdk/wire/procedures.ts';
import { chainUnreadable, tooOften } from '../errors.ts';
import { isPendingOf } from '../ledger/metadata.ts';
import { beginningOf } from '../outbound/answerBody.ts';
import { maxResultBytes } from '../outbound/resultSize.ts';
import { judgeAnswer } from '../outbound/verify.ts';
import { invalid } from '../parse.ts';
import type { Ask } from '../workers.ts';
import type { Documents } from './documents.ts';
import { keepExample } from './examples.ts';
import { isCopy } from './ownListings.ts';
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
  full: boolean;
  publish: boolean;
}

export interface TrialDeps extends Pick<PendingDeps, 'views' | 'ledger' | 'now'> {
  documents: Documents;
  /** Sign and send tests like paid calls. */
  testTools: Required<Pick<ConformanceTools, 'sign' | 'post'>>;
  accounts: {
    /** Rejects if the node does not answer. */
    readConfig(): Promise<Config>;
  };
}

/** Rate limits of tests, by endpoint and by wallet. A creator has that of a wallet once for each live listing. */
export interface TrialLimits {
  endpoint: RateLimiterMemory;
  wallet: RateLimiterMemory;
}

export function createTrialLimits(): TrialLimits {
  const limit = (points: number) => new RateLimiterMemory({ points, duration: WINDOW_SECONDS });
  return { endpoint: limit(TRIALS_OF_ENDPOINT), wallet: limit(TRIALS_OF_WALLET) };
}

/**
 * The findings in the order of the checks; the first failure is the last finding. Nobody pays for a test, so `ask` is
 * that of a stranger. Throws ApiError: 429 if an endpoint or wallet was tested too often, 400 for a timeout that no
 * listing may have.
 */
export async function tryListing(
  deps: TrialDeps,
  limits: TrialLimits,
  wallet: string,
  ask: Ask,
  input: TrialInput,
): Promise<{ ok: boolean; checks: ListingCheck[]; answer: string | null }> {
  const unsent = (detail: string) => ({
    ok: false,
    checks: [finding('metadata', { ok: false, detail })],
    answer: null,
  });
  const own = await findOwn(deps, wallet, input.metadata_hash);
  const document = own && (await deps.documents.get(input.metadata_hash));
  if (!document) {
    const remedy = "Send it to POST /v1/metadata with your session's token, then test again.";
    return unsent(`this service has no document with this metadata_hash from your wallet. ${remedy}`);
  }
  const timeoutSeconds = await requireTimeout(deps, input.timeout_seconds ?? own.timeoutSeconds);
  const parameters = JSON.stringify(input.parameters);
  const faults = (await document.checkParameters(ask, parameters)).map(({ message }) => message);
  if (faults.length > 0) return unsent(faults.join('; '));

  // Strangers who test a known endpoint must not use up its creator's tests. Their tests count by its origin, because a
  // server can answer at any number of paths. A creator may have many agents on one server.
  const { endpoint: url } = document.metadata;
  const listings = await countListings(deps, wallet);
  const endpoint = listings > 0 ? `${wallet} ${url}` : ` ${new URL(url).origin}`;
  await spend(limits.endpoint, endpoint, 1, 'This endpoint was');
  await spend(limits.wallet, wallet, Math.max(1, listings), 'Endpoints of this wallet were');
  const limit = own.price === null ? {} : { maxResultBytes: maxResultBytes(own.price) };
  const target = {
    url,
    signingKey: input.signing_key,
    task: input.task,
    parameters,
    userPubkey: wallet,
    timeoutSeconds,
    ...limit,
  };
  const judge: ConformanceTools['judge'] = (body, expected) => judgeAnswer(body, expected, ask);
  const tools = { ...deps.testTools, judge };
  const { ok, findings, answer, result } = await testCreator(tools, target, { full: input.full });
  if (ok && result && input.publish) await keepExample(deps, wallet, input, result.result);
  const fit = finding('metadata', { ok: true, detail: 'stored; the parameters fit its input schema' });
  return { ok, checks: [fit, ...findings], answer: answer && beginningOf(answer.body).body.toString('utf8') };
}

/** The document, if this wallet may test it; otherwise null. */
async function findOwn(
  deps: TrialDeps,
  wallet: string,
  metadataHash: string,
): Promise<{ timeoutSeconds: number; price: bigint | null } | null> {
  const listing = await deps.views
    .selectFrom('chain.listings as listings')
    .select(['timeout_seconds', 'price'])
    .where('metadata_hash', '=', metadataHash)
    .where('creator', '=', wallet)
    .where(sql<boolean>`NOT ${isCopy}`)
    .executeTakeFirst();
  if (listing) return { timeoutSeconds: Number(listing.timeout_seconds), price: listing.price };
  return (await isPendingOf(deps.views, metadataHash, wallet))
    ? { timeoutSeconds: TIMEOUT_SECONDS, price: null }
    : null;
}

/** The listings of a wallet that are not delisted. Each has collateral. */
const countListings = ({ views }: Pick<TrialDeps, 'views'>, wallet: string): Promise<number> =>
  countRows(views, sql`SELECT 1 FROM chain.listings WHERE creator = ${wallet} AND status <> 'delisted'`);

async function requireTimeout(deps: TrialDeps, timeoutSeconds: number): Promise<number> {
  // Every marketplace allows at least this much, so the chain need not be read.
  if (timeoutSeconds <= TIMEOUT_SECONDS) return timeoutSeconds;
  const { maxTimeoutSeconds } = await deps.accounts.readConfig().catch(chainUnreadable);
  if (timeoutSeconds <= maxTimeoutSeconds) return timeoutSeconds;
  const expected = `must be at most ${maxTimeoutSeconds}`;
  const issue = { in: 'body', path: 'timeout_seconds', expected, got: String(timeoutSeconds) } as const;
  throw invalid(`The field "timeout_seconds" ${expected}`, issue);
}

/** Counts one test of a key that may have the limiter's points so many times. */
async function spend(limiter: RateLimiterMemory, key: string, times: number, what: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    if (refusal.consumedPoints <= times * limiter.points) return;
    throw tooOften(`${what} tested too often.`, refusal.msBeforeNext);
  }
}
