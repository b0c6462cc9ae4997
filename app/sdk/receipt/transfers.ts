/** The token transfers of one execution in a transaction that may have those of others too. */
import bs58 from 'bs58';
import { ByteReader, u64 } from '../program/borsh.ts';
import { TOKEN_PROGRAM } from '../program/foreign.ts';
import type { NodeInstruction } from './node.ts';

/** Index of the receiver among the accounts, by the instruction's first byte: `Transfer` and `TransferChecked`. */
const RECEIVER_AT: Record<number, number> = { 3: 1, 12: 2 };
/** Length of the longer one's data in base58. Others of the token program may be long, and slow to decode. */
const MOST_LETTERS = 14;

/**
 * Base units that left this token account, by receiver. Only the program can send from an escrow, and each execution has
 * an escrow of its own. So these are what its settle or refund moved, however that was called and whatever ran beside it.
 */
export function sentFrom(account: string, instructions: readonly NodeInstruction[]): Map<string, bigint> {
  const sent = new Map<string, bigint>();
  for (const { program, accounts, data } of instructions) {
    if (program !== TOKEN_PROGRAM || accounts[0] !== account || data.length > MOST_LETTERS) continue;
    const bytes = bs58.decodeUnsafe(data) ?? new Uint8Array();
    const receiver = accounts[RECEIVER_AT[bytes[0] ?? -1] ?? -1];
    if (receiver === undefined || bytes.length < 9) continue;
    const amount = u64.read(new ByteReader(bytes, 1));
    sent.set(receiver, (sent.get(receiver) ?? 0n) + amount);
  }
  return sent;
}
