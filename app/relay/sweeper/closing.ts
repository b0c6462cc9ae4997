/** Refunded records and ended disputes are closed when they have stayed long enough; their rent goes to its sponsors. */
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { closeDispute, closeExecution, constants, decodeAccount } from '../../sdk/program/program.ts';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import { readMany } from '../chain/readMany.ts';
import { type Candidate, endedDisputes, refundedRecords } from './candidates.ts';
import { reasonOf } from './sending.ts';
import { inBatches, type SweepDeps, toldGone } from './sweeping.ts';

/** With a sponsor each they are 80 bytes, of the 1,232 that a transaction has. */
const AT_ONCE = 12;

interface Closing {
  address: PublicKey;
  lamports: number;
  instruction: TransactionInstruction;
}

/** What an account's data say of closing it now; null where they say that it must stay. */
type Read = (data: Buffer, executionId: Uint8Array, now: bigint) => TransactionInstruction | null;

/** Closes refunded records. */
export function closeRefunded(deps: SweepDeps, now: bigint): Promise<void> {
  return inBatches(deps, now, refundedRecords, AT_ONCE, (batch) =>
    closeBatch(deps, batch, (data, executionId, at) => {
      const { status, settledAt, rentSponsor } = decodeAccount('ExecutionRecord', data);
      const isClosable = status === 'refunded' && at >= settledAt + BigInt(constants.endedRecordSeconds);
      return isClosable ? closeExecution({ executionId, rentSponsor }) : null;
    }),
  );
}

/** Closes disputes. */
export function closeDisputes(deps: SweepDeps, now: bigint): Promise<void> {
  return inBatches(deps, now, endedDisputes, AT_ONCE, (batch) =>
    closeBatch(deps, batch, (data, executionId, at) => {
      const { outcome, owed, resolvedAt, rentSponsor } = decodeAccount('Dispute', data);
      const isEnded = outcome !== 'open' && owed === 0n;
      return isEnded && at >= resolvedAt + BigInt(constants.endedDisputeSeconds)
        ? closeDispute({ executionId, rentSponsor })
        : null;
    }),
  );
}

async function closeBatch(deps: SweepDeps, batch: Candidate[], readOne: Read): Promise<true> {
  const addresses = batch.map(({ address }) => new PublicKey(address));
  const { accounts, now } = await readMany(deps.chain, addresses);
  let closings = batch.flatMap(({ execution_id }, at): Closing[] => {
    const account = accounts[at];
    const executionId = parseUuid(execution_id);
    const instruction = account && executionId ? readOne(account.data, executionId, now) : null;
    if (account && instruction) return [{ address: addresses[at]!, lamports: account.lamports, instruction }];
    // It is gone, or not so far, and the index does not know it.
    deps.resting.rest(addresses[at]!.toBase58());
    return [];
  });
  // One that cannot go fails all that are closed with it, so it is left out.
  while (closings.length > 0) {
    const sent = await deps.sending.send(closings.map(({ instruction }) => instruction));
    if (sent.kind === 'confirmed') {
      const gone = await toldGone(deps, closings);
      deps.log.info({ accounts: gone }, 'ended accounts were closed');
      return true;
    }
    if (sent.kind === 'expired') return true;
    const one = sent.instruction === null ? undefined : closings[sent.instruction];
    const failed = one ? [one] : closings;
    for (const { address } of failed) deps.resting.rest(address.toBase58());
    deps.log.warn({ accounts: failed.length, fate: sent.kind, reason: reasonOf(sent) }, 'accounts could not be closed');
    closings = closings.filter((closing) => !failed.includes(closing));
  }
  return true;
}
