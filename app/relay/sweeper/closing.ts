/** Closes refunded records and ended disputes after their minimum life. Their rent returns to its sponsors. */
import { type Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { chunks } from '../../process/chunks.ts';
import { closableFrom } from '../../sdk/program/archive.ts';
import { closeDispute, closeExecution, constants, decodeAccount, ownAccount } from '../../sdk/program/program.ts';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import { readMany } from '../chain/readMany.ts';
import { type Candidate, endedDisputes, refundedRecords } from './candidates.ts';
import { reasonOf } from './sending.ts';
import { inBatches, reportedGone, type SweepDeps } from './sweeping.ts';

/** Accounts per transaction. With different sponsors, each takes 80 of its 1,232 bytes. */
const AT_ONCE = 12;

export interface Closing {
  /** The account to close. */
  address: PublicKey;
  /** Rent that returns to its sponsor. */
  lamports: number;
  instruction: TransactionInstruction;
}

/** The instruction that closes an account with these data now; null if it must stay. */
type Read = (data: Buffer, executionId: Uint8Array, now: bigint) => TransactionInstruction | null;

/** Closes refunded records. */
export function closeRefunded(deps: SweepDeps, now: bigint): Promise<void> {
  return inBatches(deps, now, refundedRecords, AT_ONCE, (batch) =>
    closeBatch(deps, batch, (data, executionId, at) => {
      const record = decodeAccount('ExecutionRecord', data);
      const isClosable = record.status === 'refunded' && at >= closableFrom(record);
      return isClosable ? closeExecution({ executionId, rentSponsor: record.rentSponsor }) : null;
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
  const closings = batch.flatMap((candidate, at): Closing[] => {
    const account = ownAccount(accounts[at]);
    const executionId = parseUuid(candidate.id);
    const instruction = account && executionId ? readOne(account.data, executionId, now) : null;
    if (account && instruction) return [{ address: addresses[at]!, lamports: account.lamports, instruction }];
    // It is gone, or not ripe. The index does not know it yet.
    deps.resting.rest(addresses[at]!.toBase58());
    return [];
  });
  await closeTogether(deps, closings);
  return true;
}

/**
 * Closes these in one transaction, which `cosigner` signs too if they name it. One account that cannot be closed fails
 * the whole transaction, so it is left out and rests. If the whole breaks a limit of the runtime, each half is tried alone:
 * a wallet that opened its record itself may have named a sponsor that is too large to load beside others.
 */
export async function closeTogether(deps: SweepDeps, closings: Closing[], cosigner?: Keypair): Promise<void> {
  if (closings.length === 0) return;
  const instructions = closings.map(({ instruction }) => instruction);
  const sent = await deps.sending.send(instructions, cosigner);
  if (sent.kind === 'confirmed') {
    const gone = await reportedGone(deps, closings);
    deps.log.info({ accounts: gone }, 'closed ended accounts');
    return;
  }
  if (sent.kind === 'expired') return;
  const one = sent.instruction === null ? undefined : closings[sent.instruction];
  if (!one && closings.length > 1) {
    for (const half of chunks(closings, Math.ceil(closings.length / 2))) await closeTogether(deps, half, cosigner);
    return;
  }
  const failed = one ?? closings[0]!;
  deps.resting.rest(failed.address.toBase58());
  deps.log.warn({ outcome: sent.kind, reason: reasonOf(sent) }, 'cannot close an ended account');
  await closeTogether(
    deps,
    closings.filter((closing) => closing !== failed),
    cosigner,
  );
}
