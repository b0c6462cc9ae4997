/** The chain's record of an execution, and its dispute from the marketplace. */
import { queryOptions } from '@tanstack/react-query';
import { parseUuid } from '../../../sdk/receipt/receipt.ts';
import type { DisputeSummary } from '../../../sdk/wire/procedures.ts';
import { call } from '../../service.ts';
import { openChain } from '../../wallet/chain.ts';

/** The id's 16 bytes. Throws if it is malformed. */
export function idBytes(executionId: string): Uint8Array {
  const bytes = parseUuid(executionId);
  if (bytes) return bytes;
  throw new Error(`${executionId} is not the id of a call.`);
}

/**
 * The record on the chain, or, once it is archived, its leaf, proven in this browser; null if its account does not
 * exist, or no longer exists.
 */
export const recordQuery = (executionId: string, isArchived: boolean) =>
  queryOptions({
    queryKey: ['record', executionId, isArchived],
    queryFn: async () => {
      const { marketplace, program, showExecution, archiveFrom } = await openChain();
      const id = idBytes(executionId);
      if (isArchived) return showExecution(marketplace, id, archiveFrom(marketplace));
      const account = await marketplace.connection.getAccountInfo(program.findExecution(id));
      return program.ownAccount(account) && showExecution(marketplace, id);
    },
  });

export type ShownRecord = NonNullable<Awaited<ReturnType<NonNullable<ReturnType<typeof recordQuery>['queryFn']>>>>;

const DISPUTES_AT_ONCE = 100;

/** The dispute of one of the wallet's executions; null if there is none. */
export const disputeQuery = (executionId: string) =>
  queryOptions({
    queryKey: ['dispute', executionId],
    queryFn: async (): Promise<DisputeSummary | null> => {
      for (let offset = 0; ; offset += DISPUTES_AT_ONCE) {
        const { disputes, total } = await call('disputes.mine', { limit: DISPUTES_AT_ONCE, offset });
        const found = disputes.find(({ execution_id }) => execution_id === executionId);
        if (found || offset + disputes.length >= total || disputes.length === 0) return found ?? null;
      }
    },
  });
