/**
 * The Test Execution tool: one synthetic execution sent to a creator's server, judged as a paid one would be, with a
 * finding for each thing that can be wrong. No transaction, no money.
 */
import { randomUUID } from 'node:crypto';
import bs58 from 'bs58';
import type { ListingCheck } from '../sdk/procedures.ts';
import { hashResult, verifyResultSignature } from '../sdk/receipt.ts';
import type { RelayDeps } from './deps.ts';
import { verifyAnswer } from './execution/verify.ts';

const TIMEOUT_SECONDS = 30;

interface TestInput {
  metadata_hash: string;
  signing_key: string;
  task: string;
  parameters: Record<string, unknown>;
}

/** Findings in the order in which they are made; the first that fails is the last. */
export async function testListing(
  deps: Pick<RelayDeps, 'documents' | 'callCreator'>,
  wallet: string,
  input: TestInput,
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

  const document = await deps.documents.get(input.metadata_hash);
  if (!document) {
    check('metadata', false, 'no document of this hash is stored; send it to POST /v1/metadata first');
    return end();
  }
  const faults = document.checkParameters(input.parameters).map(({ message }) => message);
  const fit = 'stored, and the parameters fit its input schema';
  if (!check('metadata', faults.length === 0, faults.join('; ') || fit)) return end();

  const executionId = randomUUID();
  const answer = await deps.callCreator({
    endpoint: document.metadata.endpoint,
    request: {
      execution_id: executionId,
      task: input.task,
      parameters: input.parameters,
      user_pubkey: wallet,
      timeout_seconds: TIMEOUT_SECONDS,
    },
    purpose: 'test',
    signingKey: input.signing_key,
    deadlineMs: performance.now() + TIMEOUT_SECONDS * 1000,
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
  const body = (answer.json ?? {}) as Record<string, unknown>;
  check('json', true, 'the answer is JSON');
  const named = body.execution_id === executionId;
  if (!check('execution_id', named, named ? 'equals the request' : 'must equal that of the request')) return end();

  const signingKey = bs58.decodeUnsafe(input.signing_key) ?? new Uint8Array();
  const verdict = verifyAnswer(body, { executionId, signingKey, requestHash: '' });
  const completed = body.status === 'completed' && typeof body.result === 'string';
  const reason =
    verdict.kind === 'failed' ? `the agent failed: ${verdict.message}` : 'must be completed, with a result';
  if (!check('status', completed, completed ? 'completed' : reason)) return end();

  const hashed = hashResult(String(body.result)) === body.result_hash;
  const hashRule = 'must be "sha256:" and the lower-case hex SHA-256 of result';
  if (!check('result_hash', hashed, hashed ? 'is that of the result' : hashRule)) return end();

  const signed = verifyResultSignature(signingKey, String(body.result_hash), String(body.signature));
  const signatureRule = `must be "ed25519:" and the base58 signature of ${input.signing_key} over result_hash`;
  // The verdict is what a paid execution would get, and has the last word.
  const passed = signed && verdict.kind === 'completed';
  const verdictText = verdict.kind === 'completed' ? "is the signing key's over result_hash" : verdict.message;
  check('signature', passed, signed ? verdictText : signatureRule);
  return end();
}
