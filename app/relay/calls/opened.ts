/**
 * POST /v1/executions/{execution_id}/start: checks who may start an execution that its wallet opened itself, and if
 * there is still time. The money is already in the escrow. After a refusal the wallet can refund it without us.
 */

import { bytesToHex } from '@noble/hashes/utils.js';
import { recordOf } from '../../../indexer/queries/record.ts';
import { type ExecutionRecord, findExecution } from '../../sdk/program/program.ts';
import { verifySignedText } from '../../sdk/receipt/offchain.ts';
import { parseUuid, startMessage } from '../../sdk/receipt/receipt.ts';
import type { Agent } from '../agents/catalog.ts';
import { ApiError, chainUnreadable } from '../errors.ts';
import { isByWallet } from '../execution/records.ts';
import type { Databases } from '../ledger/tables.ts';
import { invalid, show } from '../parse.ts';

export interface OpenedDeps extends Pick<Databases, 'views'> {
  accounts: {
    /** The record, and the chain's clock in unix seconds at that moment. Rejects if the node does not answer. */
    readExecution(executionId: Uint8Array, holder?: string): Promise<{ record: ExecutionRecord | null; now: bigint }>;
    /** The chain's clock now, unix seconds, derived from the latest reading. */
    clock(): bigint;
  };
}

/** A record that the caller may start, and the chain's clock at its reading. */
interface Opened {
  executionId: string;
  record: ExecutionRecord;
  now: bigint;
}

/**
 * Reads the record of an id for its own caller, proven by the wallet of an API key or by the wallet's signature. Throws
 * ApiError: 404 if there is none or it is another caller's, 401 if the signature is wrong.
 */
export async function readOpened(
  deps: OpenedDeps,
  executionId: string,
  proof: { wallet: string } | { signature: string },
): Promise<Opened> {
  const unknown = new ApiError('execution_not_found', 'No call has this execution_id, or it belongs to another wallet');
  const id = parseUuid(executionId);
  if (!id) throw unknown;
  const holder = 'wallet' in proof ? proof.wallet : undefined;
  const { record: present, now } = await deps.accounts.readExecution(id, holder).catch(chainUnreadable);
  const record = present ?? (await readGone(deps.views, executionId));
  if (!record || ('wallet' in proof && record.caller.toBase58() !== proof.wallet)) throw unknown;
  if ('signature' in proof) {
    const message = startMessage(findExecution(id).toBase58(), bytesToHex(record.requestHash));
    if (!verifySignedText(record.caller.toBytes(), message, proof.signature)) {
      throw new ApiError(
        'unauthorized',
        'The wallet_signature is not valid. Sign the start message with the wallet that opened the call.',
      );
    }
  }
  return { executionId, record, now };
}

/** The record of an ended execution that has left its address, by the index. A repeat may come later than that. */
async function readGone(views: OpenedDeps['views'], executionId: string): Promise<ExecutionRecord | null> {
  const row = await views
    .selectFrom('chain.executions')
    .selectAll()
    .where('execution_id', '=', executionId)
    .where('closed', '=', 1n)
    .executeTakeFirst();
  return row ? recordOf(row) : null;
}

/** Throws ApiError 400 unless the escrow was opened for this task and these parameters. */
export function requireRequest({ record }: Opened, { requestHash: given }: { requestHash: string }): void {
  const expected = bytesToHex(record.requestHash);
  if (given === expected) return;
  throw invalid(
    'The call was opened for another "task" or other "parameters": the hash of the sent values is not its request hash',
    {
      in: 'body',
      path: 'task',
      expected: `must have, together with "parameters", the request hash ${expected}`,
      got: show(given),
    },
  );
}

/**
 * Returns the agent's time: the whole seconds until the record's deadline. They must be at least the listing's shortest
 * timeout, or half of the record's original time if that is less. Throws ApiError 409.
 */
export function requireStartable({ record, now, executionId }: Opened, agent: Agent): number {
  const refuse = (reason: 'ended' | 'not_by_wallet' | 'too_late', message: string) =>
    new ApiError('not_startable', message, { executionId, details: { reason } });
  if (record.status !== 'open') throw refuse('ended', 'The call has ended');
  if (!isByWallet(record)) {
    throw refuse(
      'not_by_wallet',
      'The call was opened with an API key, so the service runs it without a start request',
    );
  }
  const left = Number(record.deadline - now);
  const whole = Number(record.deadline - record.openedAt);
  const needed = Math.max(1, Math.min(agent.minTimeoutSeconds, Math.ceil(whole / 2)));
  if (left >= needed) return left;
  const message = `Too little time is left: the deadline is in ${Math.max(0, left)} s, and the agent needs ${needed} s`;
  throw refuse('too_late', message);
}

/** The identity of a repeated start: its wallet, listing and request. */
export function identityOf(record: Opened['record']): { wallet: string; listing: string; requestHash: string } {
  return {
    wallet: record.caller.toBase58(),
    listing: record.listing.toBase58(),
    requestHash: bytesToHex(record.requestHash),
  };
}
