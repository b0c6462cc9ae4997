/**
 * The bytes that a transaction's signatures cover, in the legacy format. web3.js writes the same, by way of base58 text
 * for every instruction's data, which takes longer than the signing.
 */
import { type PublicKey, type TransactionInstruction, TransactionMessage } from '@solana/web3.js';
import bs58 from 'bs58';

/** Lengths of up to 16,383 take one or two bytes of seven bits each; no packet has room for more. */
function length(count: number): number[] {
  return count < 0x80 ? [count] : [(count & 0x7f) | 0x80, count >> 7];
}

export function encodeMessage(
  payer: PublicKey,
  recentBlockhash: string,
  instructions: TransactionInstruction[],
): Buffer {
  // Accounts come in the same order in either format.
  const { header, staticAccountKeys, compiledInstructions } = new TransactionMessage({
    payerKey: payer,
    recentBlockhash,
    instructions,
  }).compileToV0Message();
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header;
  return Buffer.concat([
    Buffer.of(numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts),
    Buffer.from(length(staticAccountKeys.length)),
    ...staticAccountKeys.map((key) => key.toBytes()),
    bs58.decode(recentBlockhash),
    Buffer.from(length(compiledInstructions.length)),
    ...compiledInstructions.flatMap(({ programIdIndex, accountKeyIndexes, data }) => [
      Buffer.from([programIdIndex, ...length(accountKeyIndexes.length), ...accountKeyIndexes, ...length(data.length)]),
      data,
    ]),
  ]);
}
