/** An agent's example for everybody, and a caller's own input. */
import type { AgentExample, AgentInput } from '../../sdk/wire/procedures.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { dropUnusedExamples, putExample, readExampleRow } from '../ledger/examples.ts';
import { readAsked } from '../ledger/executions.ts';
import { type AgentDeps, requireListing } from './catalog.ts';
import type { PendingDeps } from './pendingMetadata.ts';

/** Characters shown of a result. */
const SHOWN = 4_000;

type Kept = Omit<AgentExample, 'tested_at'>;

/** Keeps a passed test as the example of its description. */
export async function keepExample(
  { ledger, views, now }: Pick<PendingDeps, 'ledger' | 'views' | 'now'>,
  wallet: string,
  { metadata_hash, task, parameters }: { metadata_hash: string } & Pick<Kept, 'task' | 'parameters'>,
  result: Uint8Array,
): Promise<void> {
  // A character has at most four bytes in UTF-8.
  const text = new TextDecoder().decode(result.subarray(0, 4 * SHOWN));
  const shown = Array.from(text).slice(0, SHOWN).join('');
  const kept: Kept = { task, parameters, result: shown, is_cut: Buffer.byteLength(shown) < result.length };
  await putExample(ledger, { metadata_hash, wallet, example: JSON.stringify(kept), tested_ms: BigInt(now()) });
  await dropUnusedExamples(views, ledger);
}

/** Throws ApiError 404 if there is no such agent. */
export async function readExample(deps: AgentDeps, agentId: string): Promise<{ example: AgentExample | null }> {
  const { metadata_hash, creator } = await requireListing(deps, agentId);
  const row = await readExampleRow(deps.views, metadata_hash, creator);
  if (!row) return { example: null };
  return { example: { ...(JSON.parse(row.example) as Kept), tested_at: toTime(row.tested_ms / 1_000n) } };
}

/** The wallet's input to one execution. */
export async function readInput(
  { views }: Pick<AgentDeps, 'views'>,
  wallet: string,
  executionId: string,
): Promise<{ asked: AgentInput | null }> {
  const row = await readAsked(views, wallet, executionId);
  return { asked: row ? { task: row.task, parameters: JSON.parse(row.parameters) } : null };
}
