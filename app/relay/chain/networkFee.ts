/** Reads the cost of a transaction for its fee payer from its message. */
import { ComputeBudgetProgram, type VersionedMessage, VersionedTransaction } from '@solana/web3.js';

/** The same on every cluster. */
export const LAMPORTS_PER_SIGNATURE = 5_000n;
const MICROLAMPORTS = 1_000_000n;
/** First bytes of the two compute-budget instructions for the priority fee. */
const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;
/** Units of each instruction if no limit is set. */
const DEFAULT_UNITS = 200_000n;

/** Cost of a landed transaction, lamports: its signatures and its priority. */
export function networkFee(message: VersionedMessage): bigint {
  const signatures = BigInt(message.header.numRequiredSignatures);
  if (message.version === 1) {
    return signatures * LAMPORTS_PER_SIGNATURE + BigInt(message.transactionConfig.priorityFee ?? 0);
  }
  let unitLimit: bigint | null = null;
  let others = 0n;
  let unitPrice = 0n;
  for (const { programIdIndex, data } of message.compiledInstructions) {
    const program = message.staticAccountKeys[programIdIndex];
    const view = Buffer.from(data);
    if (!program?.equals(ComputeBudgetProgram.programId)) {
      others += 1n;
      continue;
    }
    if (view[0] === SET_UNIT_LIMIT) unitLimit = BigInt(view.readUInt32LE(1));
    if (view[0] === SET_UNIT_PRICE) unitPrice = view.readBigUInt64LE(1);
  }
  const priority = ((unitLimit ?? others * DEFAULT_UNITS) * unitPrice + MICROLAMPORTS - 1n) / MICROLAMPORTS;
  return signatures * LAMPORTS_PER_SIGNATURE + priority;
}

/** The same for the bytes of a transaction, with its fee payer, base58. */
export function feeOf(bytes: Uint8Array): { lamports: bigint; payer: string } {
  const { message } = VersionedTransaction.deserialize(bytes);
  return { lamports: networkFee(message), payer: message.staticAccountKeys[0]!.toBase58() };
}
