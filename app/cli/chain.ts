/**
 * Sending the transactions that a person signs. The blockhash is fresh, the transaction is simulated by the node before
 * it is sent, and what the program refuses is told in the program's own words.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Commitment,
  Connection,
  type Keypair,
  SendTransactionError,
  Transaction,
  type TransactionError,
  type TransactionInstruction,
} from '@solana/web3.js';
import { errorFromCode } from '../sdk/program.ts';
import { Refusal } from './refusal.ts';

const COMMITMENT: Commitment = 'confirmed';
/** About half of today's slot: soon enough to notice, rare enough for a public node. */
const POLL_MS = 200;

/** A connection that reads at `confirmed`. Throws Refusal for what is no URL of a node. */
export function connect(rpcUrl: string): Connection {
  try {
    return new Connection(rpcUrl, COMMITMENT);
  } catch {
    throw new Refusal(`${rpcUrl} is not a URL of a Solana node: it must start with http:// or https://`);
  }
}

/**
 * Signs with `signers`, the first of which pays the fee, sends and waits until confirmed. Returns the signature.
 * Throws Refusal when the chain refuses it or when it is certain that it never landed.
 */
export async function sendTransaction(
  connection: Connection,
  instructions: TransactionInstruction[],
  signers: [Keypair, ...Keypair[]],
): Promise<string> {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash(COMMITMENT);
  const transaction = new Transaction({ feePayer: signers[0].publicKey, blockhash, lastValidBlockHeight });
  transaction.add(...instructions).sign(...signers);
  let signature: string;
  try {
    signature = await connection.sendRawTransaction(transaction.serialize(), { preflightCommitment: COMMITMENT });
  } catch (error) {
    throw refusalOf(error, signers[0]);
  }
  await confirm(connection, signature, lastValidBlockHeight);
  return signature;
}

async function confirm(connection: Connection, signature: string, lastValidBlockHeight: number): Promise<void> {
  for (;;) {
    // The height is asked first: a transaction that landed in the last valid block must still be seen.
    const height = await connection.getBlockHeight(COMMITMENT);
    const { value } = await connection.getSignatureStatuses([signature]);
    const status = value[0];
    if (status?.err) throw new Refusal(`The transaction ${signature} failed: ${describe(status.err)}`);
    if (status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized') return;
    if (height > lastValidBlockHeight) throw new Refusal(`The transaction ${signature} expired without landing.`);
    await delay(POLL_MS);
  }
}

/** The chain's refusal in words; a program error by its name and message. */
function describe(error: TransactionError | string): string {
  const text = typeof error === 'string' ? error : JSON.stringify(error);
  const code = /custom program error: (0x[0-9a-f]+)/.exec(text)?.[1] ?? /"Custom":(\d+)/.exec(text)?.[1];
  const known = code === undefined ? null : errorFromCode(Number(code));
  return known ? `${known.msg} (${known.name}).` : text;
}

function refusalOf(error: unknown, payer: Keypair): unknown {
  if (!(error instanceof SendTransactionError)) return error;
  const { message } = error.transactionError;
  if (/no record of a prior credit|insufficient (lamports|funds for rent)/i.test(error.message)) {
    return new Refusal(`The wallet ${payer.publicKey} has too little SOL for fees and rent.`);
  }
  return new Refusal(`The chain refuses the transaction: ${describe(message)}`);
}
