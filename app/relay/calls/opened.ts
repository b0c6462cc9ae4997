/**
 * POST /v1/executions/{execution_id}/start: who may have an execution run that its wallet opened without us, and whether
 * it still can be. Money has moved already, so what is refused here is left to the wallet, whose refund needs nobody.
 */

import { verifyMessage } from '../../sdk/creator/nativeReceipt.ts';
import { type ExecutionRecord, findExecution } from '../../sdk/program/program.ts';
import { parseUuid, startMessage } from '../../sdk/receipt/receipt.ts';
import type { Agent } from '../agents/catalog.ts';
import { ApiError, chainUnreadable } from '../errors.ts';
import { invalid, show } from '../parse.ts';

export interface OpenedDeps {
  accounts: {
    /** The record, and the chain's clock in unix seconds at that moment. Rejects where the node does not answer. */
    readExecution(executionId: Uint8Array): Promise<{ record: ExecutionRecord | null; now: bigint }>;
    /** The chain's clock now, unix seconds, as far as the latest reading tells. */
    clock(): bigint;
  };
}

/** A record that the caller may have run, and the chain's clock when it was read. */
export interface Opened {
  executionId: string;
  record: ExecutionRecord;
  now: bigint;
}

/**
 * The record behind an id, for its own caller: by the wallet of an API key, or by that wallet's signature. Throws
 * ApiError: 404 where there is none or it is another's, 401 where the signature is not its caller's.
 */
export async function readOpened(
  deps: OpenedDeps,
  executionId: string,
  proof: { wallet: string } | { signature: string },
): Promise<Opened> {
  const unknown = new ApiError('execution_not_found', 'There is no execution with this execution_id');
  const id = parseUuid(executionId);
  if (!id) throw unknown;
  const { record, now } = await deps.accounts.readExecution(id).catch(chainUnreadable);
  if (!record || ('wallet' in proof && record.caller.toBase58() !== proof.wallet)) throw unknown;
  if ('signature' in proof) {
    const message = startMessage(findExecution(id).toBase58(), hex(record.requestHash));
    if (!verifyMessage(record.caller.toBytes(), message, proof.signature)) {
      throw new ApiError('unauthorized', "The wallet_signature was not made by the execution's wallet");
    }
  }
  return { executionId, record, now };
}

/** Throws ApiError 400 unless task and parameters are those that the escrow was opened for. */
export function requireRequest({ record }: Opened, { requestHash: given }: { requestHash: string }): void {
  const expected = hex(record.requestHash);
  if (given === expected) return;
  throw invalid('The fields "task" and "parameters" do not have the hash that the execution was opened with', {
    in: 'body',
    path: 'task',
    expected: `must be, with "parameters", what has the request hash ${expected}`,
    got: show(given),
  });
}

/**
 * The whole seconds that the agent has: what is left until the record's deadline. That must be the shortest timeout that
 * the listing takes, or half of what the record had from the start where this is less. Throws ApiError 409.
 */
export function requireStartable({ record, now, executionId }: Opened, agent: Agent): number {
  const refuse = (reason: 'ended' | 'not_by_wallet' | 'too_late', message: string) =>
    new ApiError('not_startable', message, { executionId, details: { reason } });
  if (record.status !== 'open') throw refuse('ended', 'The execution has ended');
  if (record.keyId.some((byte) => byte !== 0)) {
    throw refuse('not_by_wallet', 'The execution was opened through an API key, and runs without being started');
  }
  const left = Number(record.deadline - now);
  const whole = Number(record.deadline - record.openedAt);
  const needed = Math.max(1, Math.min(agent.minTimeoutSeconds, Math.ceil(whole / 2)));
  if (left >= needed) return left;
  const message = `The execution has ${Math.max(0, left)} s left until its deadline, and the agent needs ${needed} s`;
  throw refuse('too_late', message);
}

/** By what a repeated start is known: whose it is, and what it was opened for. */
export function identityOf(record: Opened['record']): { wallet: string; listing: string; requestHash: string } {
  return {
    wallet: record.caller.toBase58(),
    listing: record.listing.toBase58(),
    requestHash: hex(record.requestHash),
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
