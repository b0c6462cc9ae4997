/** Writes a program into a buffer with many parallel transactions. Each is sent again until it has landed. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, type Keypair, PACKET_DATA_SIZE, type PublicKey, Transaction } from '@solana/web3.js';
import { NotNow } from '../../app/solana/rpc.ts';
import { BUFFER_HEADER, writeBuffer } from './loader.ts';

/** Bytes of a transaction besides the data: a signature, three keys, a blockhash, one instruction. */
const OVERHEAD = 220;
const CHUNK = PACKET_DATA_SIZE - OVERHEAD;
/** Transactions in flight, and parallel calls. A public node allows a few dozen calls in ten seconds. */
const BATCH = 64;
const CALLS = 8;
/** Interval between polls of the statuses, and before a transaction is sent again. */
const POLL_MS = 400;
const REPEAT_MS = 4_000;

export interface Chunk {
  offset: number;
  bytes: Buffer;
}

/** The chunks of `bytes` that differ from `held`. */
export function chunksOf(bytes: Buffer, held: Buffer): Chunk[] {
  const offsets = Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, at) => at * CHUNK);
  return offsets
    .map((offset) => ({ offset, bytes: bytes.subarray(offset, offset + CHUNK) }))
    .filter((chunk) => !chunk.bytes.equals(held.subarray(chunk.offset, chunk.offset + CHUNK)));
}

/** An unsigned transaction. The buffer's authority pays. */
export function writeTransaction(
  authority: PublicKey,
  buffer: PublicKey,
  { offset, bytes }: Chunk,
  blockhash: string,
): Transaction {
  const transaction = new Transaction({ feePayer: authority, recentBlockhash: blockhash });
  return transaction.add(writeBuffer(buffer, authority, offset, bytes));
}

export interface Filling {
  connection: Connection;
  wallet: Keypair;
  buffer: PublicKey;
  bytes: Buffer;
  /** Called with the number of chunks already in the buffer, and of all chunks. */
  onProgress(done: number, all: number): void;
}

/** Writes differing chunks until none differs. Throws if a whole round changes nothing. */
export async function fillBuffer(filling: Filling): Promise<void> {
  const { connection, buffer, bytes, onProgress } = filling;
  const all = chunksOf(bytes, Buffer.alloc(0)).length;
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const account = await connection.getAccountInfo(buffer);
    if (!account)
      throw new Error(`The node does not show the buffer ${buffer}. Run the command again: it resumes there.`);
    const left = chunksOf(bytes, account.data.subarray(BUFFER_HEADER));
    onProgress(all - left.length, all);
    if (left.length === 0) return;
    if (left.length >= before) {
      throw new Error(
        `None of ${left.length} transactions landed before their blockhash expired. Run the command again, or use another node: it resumes where it stopped.`,
      );
    }
    before = left.length;
    let done = all - left.length;
    for (let at = 0; at < left.length; at += BATCH) {
      done += await writeBatch(filling, left.slice(at, at + BATCH));
      if (done < all) onProgress(done, all);
    }
  }
}

/** Sends these chunks until each has landed or their blockhash has expired. Returns how many have landed. */
async function writeBatch({ connection, wallet, buffer }: Filling, chunks: Chunk[]): Promise<number> {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
  const pending = chunks.map((chunk) => {
    const transaction = writeTransaction(wallet.publicKey, buffer, chunk, blockhash);
    transaction.sign(wallet);
    // To verify our own signature would take three times as long as to sign.
    return { bytes: transaction.serialize({ verifySignatures: false }), signature: '', sentAt: 0 };
  });
  while (pending.length > 0) {
    const due = pending.filter(({ sentAt }) => Date.now() - sentAt > REPEAT_MS);
    await inTurns(due, CALLS, async (one) => {
      // If the node keeps refusing with "not now", try again in the next round.
      one.signature = await connection
        .sendRawTransaction(one.bytes, { skipPreflight: true })
        .catch((error) => (error instanceof NotNow ? one.signature : Promise.reject(error)));
      one.sentAt = Date.now();
    });
    await delay(POLL_MS);
    const sent = pending.filter(({ signature }) => signature !== '');
    const { value } = await connection.getSignatureStatuses(sent.map(({ signature }) => signature));
    for (const [at, one] of sent.entries()) {
      const status = value[at];
      if (status?.confirmationStatus !== 'finalized') continue;
      if (status.err) throw new Error(`transaction ${one.signature} failed: ${JSON.stringify(status.err)}`);
      pending.splice(pending.indexOf(one), 1);
    }
    if (pending.length > 0 && (await connection.getBlockHeight()) > lastValidBlockHeight) break;
  }
  return chunks.length - pending.length;
}

/** Calls `work` for each item, `count` in parallel. */
async function inTurns<T>(items: readonly T[], count: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: count }, worker));
}
