/** Receipts: the caller takes one from the service, and whoever has it checks it with nobody to trust. */
import { createClient } from '../client/client.ts';
import { formatUuid } from '../receipt/receipt.ts';
import { type Check, verifyExecution, verifyReceipt } from '../receipt/verify.ts';
import type { Receipt } from '../wire/receipt.ts';
import { findNode } from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { ask, openSession, restClient, type Service } from './service.ts';
import type { Signer } from './signer.ts';

/** The receipt of a settled execution of the wallet's own. Throws Refusal where there is none. */
export async function fetchReceipt(
  service: Service,
  { wallet, executionId }: { wallet: Signer; executionId: Uint8Array },
): Promise<Receipt> {
  const { token } = await openSession(service, wallet);
  return ask(service, () => restClient(service, token).getReceipt(formatUuid(executionId)));
}

export interface ProveOptions {
  /** A receipt as anyone gave it, or the id of an execution. */
  subject: { receipt: unknown } | { executionId: Uint8Array };
  /** Null: the node that the service names, or without a service none. */
  rpcUrl: string | null;
  onCheck?: (check: Check) => void;
}

/**
 * Checks a receipt, or what the chain has of an execution. The service is asked for a node where none is named, and for
 * the proof of what was archived since; neither is believed, and both may be missing.
 */
export async function prove(service: Service, { subject, rpcUrl, onCheck }: ProveOptions): Promise<Check[]> {
  const { baseUrl, fetch } = service;
  const client = createClient({ baseUrl, ...(fetch && { fetch }) });
  const options = {
    rpcUrl: rpcUrl ?? (await nodeOf(service)),
    findArchive: (executionId: string) => client.getExecutionArchive(executionId),
    ...(fetch && { fetch }),
    ...(onCheck && { onCheck }),
  };
  if ('receipt' in subject) return verifyReceipt(subject.receipt, options);
  return verifyExecution(formatUuid(subject.executionId), options);
}

async function nodeOf(service: Service): Promise<string | null> {
  try {
    return await findNode(service);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    service.onProgress?.(`No node is named, and the marketplace names none: ${error.message}`);
    return null;
  }
}
