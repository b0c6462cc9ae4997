/** Receipts: a caller gets one from the service, and any holder can check it. Also deletes an execution's content. */
import { formatUuid } from '../receipt/receipt.ts';
import { type Check, type ExecutionFacts, verifyExecution, verifyReceipt } from '../receipt/verify.ts';
import type { Receipt } from '../wire/receipt.ts';
import type { ContentDeleted } from '../wire/wire.ts';
import { findNode } from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { ask, clientOf, openSession, type Service } from './service.ts';
import type { Signer } from './signer.ts';

/** The receipt of a settled execution of this wallet. Throws Refusal if there is none, or the service sends another. */
export async function fetchReceipt(
  service: Service,
  { wallet, executionId }: { wallet: Signer; executionId: Uint8Array },
): Promise<Receipt> {
  const session = await openSession(service, wallet);
  const id = formatUuid(executionId);
  const receipt = await ask(service, () => session.request('getExecutionReceipt', { execution_id: id }));
  if (receipt.execution_id !== id)
    throw new Refusal(`The marketplace sent the receipt of another execution, ${receipt.execution_id}.`);
  return receipt;
}

/** Deletes task, parameters and result of an ended execution of this wallet from the service. */
export async function deleteContent(
  service: Service,
  { wallet, executionId }: { wallet: Signer; executionId: Uint8Array },
): Promise<ContentDeleted> {
  const session = await openSession(service, wallet);
  const execution_id = formatUuid(executionId);
  return ask(service, () => session.request('deleteExecutionContent', { execution_id }));
}

export interface ProveOptions {
  /** A receipt from any source, or the id of an execution. */
  subject: { receipt: unknown } | { executionId: Uint8Array };
  /** If null, uses the node that the service names, or none if the service does not answer. */
  rpcUrl: string | null;
  onCheck?: (check: Check) => void;
  onFacts?: (facts: ExecutionFacts) => void;
}

/**
 * Checks a receipt, or the chain's facts about an execution. If no node is given, the service is asked for one. It is
 * also asked for the proof of an execution archived later. Neither answer is trusted, and both may be missing.
 */
export async function prove(service: Service, { subject, rpcUrl, onCheck, onFacts }: ProveOptions): Promise<Check[]> {
  const { fetch } = service;
  const { request } = clientOf(service);
  const options = {
    rpcUrl: rpcUrl ?? (await nodeOf(service)),
    findArchive: (execution_id: string) => request('getExecutionArchive', { execution_id }),
    ...(fetch && { fetch }),
    ...(onCheck && { onCheck }),
    ...(onFacts && { onFacts }),
  };
  if ('receipt' in subject) return verifyReceipt(subject.receipt, options);
  return verifyExecution(formatUuid(subject.executionId), options);
}

async function nodeOf(service: Service): Promise<string | null> {
  try {
    return await findNode(service);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    service.onProgress?.(`No node was given, and the marketplace does not name one: ${error.message}`);
    return null;
  }
}
