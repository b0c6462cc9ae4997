/**
 * Stores evidence; the chain has only its hash. The caller posts the bytes here for the admin, before opening the
 * dispute that names them. Evidence that no dispute names is therefore kept for a day and within limits.
 */
import { attachedIndex, readProgress } from '../../../indexer/queries/read.ts';
import { type EvidenceType, MAX_EVIDENCE_BYTES } from '../../sdk/wire/procedures.ts';
import { digestOf } from '../digest.ts';
import { ApiError } from '../errors.ts';
import { dropEvidence, insertEvidence, readEvidenceRow, readUnwanted } from '../ledger/evidence.ts';
import type { Databases } from '../ledger/tables.ts';
import { invalid } from '../parse.ts';
import type { Now } from '../waiting.ts';

export type EvidenceDeps = Databases & Now;

const UNNAMED_MS = 24 * 60 * 60 * 1000;
/** Files of one wallet that no dispute names: 2 MiB at most. */
const MAX_OF_WALLET = 8;
/** For all wallets together, 128 MiB at most. Each has paid for an execution. */
const MAX_OF_ALL = 512;

interface PostedEvidence {
  execution_id: string;
  /** Base64. */
  content: string;
  media_type: EvidenceType;
}

/**
 * Keeps a file for the wallet that paid for the execution. Throws ApiError 404 for any other wallet. Throws 400 if the
 * execution cannot be disputed, the dispute names another hash, or the file is too large.
 */
export async function keepEvidence(
  deps: EvidenceDeps,
  wallet: string,
  posted: PostedEvidence,
): Promise<{ evidence_hash: string }> {
  const content = Buffer.from(posted.content, 'base64');
  if (content.length > MAX_EVIDENCE_BYTES) {
    const expected = `must be at most ${MAX_EVIDENCE_BYTES} bytes`;
    throw invalid(`The evidence ${expected}`, {
      in: 'body',
      path: 'content',
      expected,
      got: `${content.length} bytes`,
    });
  }
  const evidenceHash = digestOf(content);
  await requireDisputable(deps, wallet, posted.execution_id, evidenceHash);
  await insertEvidence(deps.ledger, {
    execution_id: posted.execution_id,
    evidence_hash: evidenceHash,
    wallet,
    media_type: posted.media_type,
    content,
    received_ms: BigInt(deps.now()),
  });
  await makeRoom(deps, wallet);
  return { evidence_hash: evidenceHash };
}

/** The file that the execution's dispute names. Throws ApiError 404 if it is not here. */
export async function readEvidence(
  { views }: EvidenceDeps,
  executionId: string,
): Promise<{ content: string; media_type: EvidenceType; evidence_hash: string }> {
  const dispute = await disputeOf(views, executionId);
  const row = dispute && (await readEvidenceRow(views, executionId, dispute.evidence_hash));
  if (!row) throw new ApiError('not_found', 'This service has no evidence for a dispute of this call');
  return {
    content: row.content.toString('base64'),
    media_type: row.media_type as EvidenceType,
    evidence_hash: dispute.evidence_hash,
  };
}

async function requireDisputable(
  { views }: EvidenceDeps,
  wallet: string,
  executionId: string,
  evidenceHash: string,
): Promise<void> {
  const row = await views
    .selectFrom('chain.executions')
    .select('status')
    .where('execution_id', '=', executionId)
    .where('caller', '=', wallet)
    .executeTakeFirst();
  if (!row) throw new ApiError('execution_not_found', 'No call of this wallet has this execution_id');
  if (row.status !== 'completed' && row.status !== 'disputed') {
    const expected = 'must be a completed or disputed call';
    const issue = { in: 'body', path: 'execution_id', expected, got: `a call that is ${row.status}` } as const;
    throw invalid('Evidence is accepted only for a completed or disputed call', issue);
  }
  const dispute = await disputeOf(views, executionId);
  if (dispute && dispute.evidence_hash !== evidenceHash) {
    const expected = `must have the SHA-256 ${dispute.evidence_hash}`;
    const issue = { in: 'body', path: 'content', expected, got: evidenceHash } as const;
    throw invalid(`The evidence does not match the dispute, which names the hash ${dispute.evidence_hash}`, issue);
  }
}

function disputeOf(views: EvidenceDeps['views'], executionId: string) {
  return views
    .selectFrom('chain.disputes')
    .select('evidence_hash')
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
}

/** A dispute counts once the index has it. While the indexer is stopped, nothing expires. */
async function makeRoom({ ledger, views }: EvidenceDeps, wallet: string): Promise<void> {
  const progress = await readProgress(attachedIndex(views));
  const oldestMs = Number(progress?.checked_at ?? 0n) - UNNAMED_MS;
  const limits = { ofWallet: MAX_OF_WALLET, ofAll: MAX_OF_ALL, oldestMs };
  for (const row of await readUnwanted(views, wallet, limits)) await dropEvidence(ledger, row);
}
