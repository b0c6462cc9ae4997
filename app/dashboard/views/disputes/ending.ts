/** The transaction that ended a dispute, and the bond that it paid out: the index keeps neither. */
import { queryOptions } from '@tanstack/react-query';
import { openChain } from '../../wallet/chain.ts';
import { idBytes } from '../executions/record.ts';

/** Transactions of the dispute's account that are read, newest first: opened, ended, claimed, closed, and strangers' ones. */
const NEWEST = 20;

/** Poll interval, ms. */
const FINAL_MS = 10_000;
/** After this many readings the node no longer has the transaction. */
const MOST_READINGS = 6;

/** Null if the node does not have the transaction. */
export const endingQuery = (executionId: string) =>
  queryOptions({
    queryKey: ['dispute-ending', executionId],
    queryFn: () => readEnding(executionId),
    // React Query cannot compare a bigint by content.
    structuralSharing: false,
    // An ending does not change.
    staleTime: ({ state }) => (state.data ? Number.POSITIVE_INFINITY : 0),
    // A new transaction is not final at once.
    refetchInterval: ({ state }) => (state.data === null && state.dataUpdateCount < MOST_READINGS ? FINAL_MS : false),
    retry: false,
  });

async function readEnding(executionId: string): Promise<{ signature: string; bond: bigint } | null> {
  const { marketplace, program } = await openChain();
  const { connection } = marketplace;
  const dispute = program.findDispute(program.findExecution(idBytes(executionId)));
  const newest = await connection.getSignaturesForAddress(dispute, { limit: NEWEST });
  for (const { signature, err } of newest) {
    const logs = err ? null : (await program.receiveTransaction(connection, signature))?.logs;
    if (!logs) continue;
    for (const event of program.readEvents(logs, program.PROGRAM_ID).events) {
      const hasEnded = event.name === 'DisputeResolved' || event.name === 'DisputeLapsed';
      if (hasEnded && event.data.dispute.equals(dispute)) return { signature, bond: event.data.bond };
    }
  }
  return null;
}
