/**
 * Probes listings that are refused because their server kept failing: one synthetic execution each, without money,
 * every few seconds. A well-formed answer, even an honest failure, opens the listing again.
 */
import { randomUUID } from 'node:crypto';
import bs58 from 'bs58';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { writeProbe } from '../ledger/probes.ts';
import type { LedgerDatabase, LedgerTables } from '../ledger/tables.ts';
import type { CreatorAnswer, CreatorCall } from '../outbound/dispatch.ts';
import { judgeAnswer } from '../outbound/verify.ts';
import type { AgentHealthReader } from './agentHealth.ts';
import type { Documents } from './documents.ts';
import { sampleParameters } from './schemas/sample.ts';

/** Maximum wait for a probe's answer, also for an agent with a longer timeout. */
const MAX_TIMEOUT_SECONDS = 30;
/** Parallel probes. */
const MAX_PROBES = 8;
const TASK = 'Availability check by the marketplace. Any well-formed answer is accepted; nobody pays for it.';

/** One call to a creator's server, without retries; `deadlineMs` is on performance.now()'s clock. */
export type CallOnce = (
  call: Pick<CreatorCall, 'endpoint' | 'request' | 'purpose' | 'signingKey' | 'deadlineMs'>,
) => Promise<CreatorAnswer>;

export interface ProberDeps {
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  /** ledger.db for writing. */
  ledger: Kysely<LedgerTables>;
  documents: Documents;
  callCreator: CallOnce;
  /** Unix milliseconds. */
  now(): number;
  log: Logger;
}

/** Probes the refused listings of `health` every `everySeconds`. The returned function ends it. */
export function startProber(deps: ProberDeps, health: AgentHealthReader, everySeconds: number): () => void {
  const probing = new Set<string>();
  const poll = async () => {
    for (const listing of await health.refused()) {
      if (probing.has(listing) || probing.size >= MAX_PROBES) continue;
      probing.add(listing);
      probeListing(deps, listing)
        .catch((error) => deps.log.error({ listing, error }, 'cannot probe an agent'))
        .finally(() => probing.delete(listing));
    }
  };
  const timer = setInterval(() => {
    poll().catch((error) => deps.log.error({ error }, 'cannot read the agents to probe'));
  }, everySeconds * 1_000);
  return () => clearInterval(timer);
}

/** Runs one probe and records its outcome. */
export async function probeListing(deps: ProberDeps, listing: string): Promise<boolean> {
  const begunMs = deps.now();
  const problem = await findProblem(deps, listing);
  await writeProbe(deps.ledger, { listing, begunMs, isPassed: problem === null });
  deps.log.info({ listing, passed: problem === null }, 'probed a failing agent');
  return problem === null;
}

/** The fault of the server's answer to a probe; null if it is well-formed. */
async function findProblem(deps: ProberDeps, listing: string): Promise<string | null> {
  const row = await deps.views
    .selectFrom('chain.listings')
    .select(['metadata_hash', 'signing_key', 'timeout_seconds', 'creator'])
    .where('listing', '=', listing)
    .executeTakeFirst();
  const document = row && (await deps.documents.get(row.metadata_hash));
  if (!document) return 'unknown listing';
  const executionId = randomUUID();
  const timeoutSeconds = Math.min(Number(row.timeout_seconds), MAX_TIMEOUT_SECONDS);
  const { parameters, fits } = await sampleParameters(document.metadata.input_schema, document.checkParameters);
  if (!fits)
    deps.log.warn(
      { listing },
      'no generated parameters fit the input schema; the probe sends parameters that do not fit',
    );
  const answer = await deps.callCreator({
    endpoint: document.metadata.endpoint,
    request: {
      execution_id: executionId,
      task: TASK,
      parameters: JSON.stringify(parameters),
      user_pubkey: row.creator,
      timeout_seconds: timeoutSeconds,
    },
    purpose: 'test',
    signingKey: row.signing_key,
    deadlineMs: performance.now() + timeoutSeconds * 1_000,
  });
  if (answer.kind !== 'body') return answer.kind;
  const { verdict } = await judgeAnswer(answer.body, {
    executionId,
    signingKey: bs58.decode(row.signing_key),
    requestHash: '',
  });
  return verdict.kind === 'invalid' ? 'invalid' : null;
}
