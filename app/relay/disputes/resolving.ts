/**
 * The facts of a dispute for its parties and the admin, the creator's reply, and the reason of the admin's decision. The
 * outcome carries the reason's hash on the chain.
 */
import type { CreatorDelivery } from '../../sdk/wire/disputeProcedures.ts';
import type { DisputeSummary, OtherDisputes } from '../../sdk/wire/procedures.ts';
import type { Receipt } from '../../sdk/wire/receipt.ts';
import { toTimeOfMs } from '../../sdk/wire/time.ts';
import type { ExecutionFull } from '../../sdk/wire/wire.ts';
import { type AuditDeps, auditedReading } from '../access/audit.ts';
import { getReceipt } from '../calls/receipts.ts';
import { getExecution, type RecordsDeps } from '../calls/records.ts';
import { digestOf } from '../digest.ts';
import { ApiError } from '../errors.ts';
import type { InParts } from '../json.ts';
import { readFurthestDelivery } from '../ledger/events.ts';
import { putReason, putReply } from '../ledger/evidence.ts';
import { invalid } from '../parse.ts';
import { type EvidenceDeps, readEvidence } from './evidence.ts';
import { findDispute } from './lists.ts';
import { readOthers } from './others.ts';

export type ResolvingDeps = RecordsDeps & EvidenceDeps & AuditDeps;

/** How long a reason waits for the outcome that carries its hash. */
const WAITING_MS = 24 * 60 * 60 * 1000;

interface DisputeCase {
  execution: ExecutionFull;
  task: string | null;
  parameters: Record<string, unknown> | null;
  dispute: DisputeSummary;
  receipt: Receipt | null;
  others: OtherDisputes | null;
  creator_delivery: CreatorDelivery | null;
}

/** The wallet that reads. */
interface Reader {
  wallet: string;
  isAdmin(): Promise<boolean>;
}

/** A disputed execution with its private content, for its parties and the admin. Throws ApiError 404 for others. */
export function readCase(deps: ResolvingDeps, reader: Reader, executionId: string): Promise<DisputeCase> {
  return readPrivate(deps, reader, { action: 'disputes.case', executionId }, (dispute, isParty) =>
    findCase(deps, dispute, isParty),
  );
}

async function findCase(deps: ResolvingDeps, dispute: DisputeSummary, isParty: boolean): Promise<DisputeCase> {
  const executionId = dispute.execution_id;
  const execution = await getExecution(deps, dispute.caller, executionId);
  const asked = await deps.views
    .selectFrom('executions')
    .select(['task', 'parameters'])
    .where('execution_id', '=', executionId)
    .where('wallet', '=', dispute.caller)
    .where('content_deleted_ms', 'is', null)
    .executeTakeFirst();
  return {
    // The name of a key is its wallet's own.
    execution: { ...whole(execution), key_name: null },
    task: asked?.task ?? null,
    parameters: asked ? JSON.parse(asked.parameters) : null,
    dispute,
    receipt: await findReceipt(deps, dispute),
    others: isParty ? null : await readOthers(deps, dispute),
    creator_delivery: isParty ? null : await findDelivery(deps, dispute),
  };
}

async function findDelivery(
  deps: ResolvingDeps,
  { creator, execution_id }: DisputeSummary,
): Promise<CreatorDelivery | null> {
  const event = { wallet: creator, type: 'dispute.opened', executionId: execution_id };
  const found = await readFurthestDelivery(deps.views, event);
  if (!found) return null;
  const { state, attempted_ms } = found;
  const isDelivered = state === 'delivered' && attempted_ms !== null;
  return { status: state ?? 'none', delivered_at: isDelivered ? toTimeOfMs(attempted_ms) : null };
}

/** The file that the dispute names. Throws ApiError 404 for other wallets. */
export function readCaseEvidence(deps: ResolvingDeps, reader: Reader, executionId: string) {
  return readPrivate(deps, reader, { action: 'disputes.evidence', executionId }, () => readEvidence(deps, executionId));
}

/** Keeps the creator's reply. Throws ApiError 404 for other wallets, and 400 once the dispute has ended. */
export async function keepReply(
  deps: ResolvingDeps,
  wallet: string,
  { execution_id, reply }: { execution_id: string; reply: string },
): Promise<{ reply: string }> {
  const dispute = await requireDispute(deps, execution_id);
  if (dispute.creator !== wallet) throw new ApiError('execution_not_found', NO_DISPUTE);
  if (dispute.outcome !== 'open') {
    const expected = 'must be a call whose dispute is open';
    const issue = { in: 'body', path: 'execution_id', expected, got: `a dispute that is ${dispute.outcome}` } as const;
    throw invalid('The dispute has ended. A reply is accepted only while it is open.', issue);
  }
  await putReply(deps.ledger, { execution_id, reply, received_ms: BigInt(deps.now()) });
  return { reply };
}

/** Inserts the parts into the value, because tRPC answers with values. */
function whole<Value extends object>({ value, parts }: InParts<Value>): Value {
  const members = Object.entries(parts).map(([name, json]) => [name, JSON.parse(Buffer.from(json).toString('utf8'))]);
  return { ...value, ...Object.fromEntries(members) };
}

async function findReceipt(deps: ResolvingDeps, { caller, execution_id }: DisputeSummary): Promise<Receipt | null> {
  try {
    return whole(await getReceipt(deps, caller, execution_id));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'result_unavailable') return null;
    throw error;
  }
}

/** Keeps a reason before the admin signs its hash. Throws ApiError 404 if nothing is disputed. */
export async function keepReason(
  deps: ResolvingDeps,
  { execution_id, reason }: { execution_id: string; reason: string },
): Promise<{ reason_hash: string }> {
  const dispute = await requireDispute(deps, execution_id);
  const reason_hash = digestOf(reason);
  const nowMs = deps.now();
  const row = { execution_id, reason_hash, reason, received_ms: BigInt(nowMs) };
  await putReason(deps.ledger, row, dispute.reason_hash, BigInt(nowMs - WAITING_MS));
  return { reason_hash };
}

const NO_DISPUTE = 'No dispute exists for this execution_id';

/** Lets the parties and the admin read. The admin's readings are logged. */
async function readPrivate<Value>(
  deps: ResolvingDeps,
  { wallet, isAdmin }: Reader,
  { action, executionId }: { action: 'disputes.case' | 'disputes.evidence'; executionId: string },
  read: (dispute: DisputeSummary, isParty: boolean) => Promise<Value>,
): Promise<Value> {
  const dispute = await requireDispute(deps, executionId);
  if (dispute.caller === wallet || dispute.creator === wallet) return read(dispute, true);
  if (!(await isAdmin())) throw new ApiError('execution_not_found', NO_DISPUTE);
  return auditedReading(deps, { wallet, action, subject: executionId }, () => read(dispute, false));
}

async function requireDispute(deps: ResolvingDeps, executionId: string): Promise<DisputeSummary> {
  const dispute = await findDispute(deps, executionId);
  if (!dispute) throw new ApiError('execution_not_found', NO_DISPUTE);
  return dispute;
}
