/**
 * Sends transactions that a wallet signs. The node simulates each before sending. A refusal by the program has the
 * program's own message. A wallet signs the blockhash too, so a person who takes longer than the blockhash is valid is
 * asked once more.
 */
import {
  type Connection,
  SendTransactionError,
  Transaction,
  type TransactionError,
  type TransactionInstruction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { errorFromCode, type ProgramError } from '../program/program.ts';
import { COMMITMENT } from './connection.ts';
import { Refusal, UnknownOutcome } from './refusal.ts';
import type { Signer } from './signer.ts';

/** A slot: soon enough to notice, rare enough for a public node. */
const POLL_MS = 200;
/** Blocks for which a blockhash is valid: 30 s of slots of 200 ms. */
const BLOCKHASH_BLOCKS = 150;
/** How far one node may be behind another. */
const LAG_BLOCKS = 128;
const VALID_FOR = '30 s';
const TOOK_LONGER = `The approval took longer than the ${VALID_FOR} for which a transaction is valid.`;
/** How long a node may fail to report a sent transaction before its outcome counts as unknown. */
const SILENCE_MS = 15_000;
const SIGNATURE_BYTES = 64;
/** The same bytes were sent before: they have landed, or soon will. */
const ALREADY = /already been processed/i;
/** The node does not know the blockhash: it has expired, or the node is a little behind. */
const NO_BLOCKHASH = /blockhash not found/i;

/** Facts to add to the program's message, by the name of the program's error. */
export type Facts = Record<string, string>;

/**
 * Lets `wallet` sign and pay the fee, sends, and waits until that is final. Returns the signature. If the transaction
 * expires before it lands, the wallet is asked to sign a second one, never while the first may still land. Throws
 * Refusal if the wallet does not sign, if the chain refuses the transaction, or if both certainly never landed. Throws
 * UnknownOutcome if the node stops answering and nothing is certain.
 */
export async function sendTransaction(
  connection: Connection,
  instructions: TransactionInstruction[],
  wallet: Signer,
  facts: Facts = {},
): Promise<string> {
  try {
    return await signAndSend(connection, instructions, wallet, facts);
  } catch (error) {
    if (!(error instanceof Expired)) throw error;
    wallet.onExpired?.(error.reason);
  }
  return signAndSend(connection, instructions, wallet, facts);
}

async function signAndSend(
  connection: Connection,
  instructions: TransactionInstruction[],
  wallet: Signer,
  facts: Facts,
): Promise<string> {
  const recent = await connection.getLatestBlockhash(COMMITMENT);
  const { signature, bytes, blockhash } = await sign(
    new Transaction({ feePayer: wallet.publicKey, ...recent }).add(...instructions),
    wallet,
  );
  const isOurs = blockhash === recent.blockhash;
  // A wallet may replace the blockhash by one of its own node, which may be ahead of ours.
  const lastHeight = isOurs
    ? recent.lastValidBlockHeight
    : (await connection.getBlockHeight('processed')) + BLOCKHASH_BLOCKS + LAG_BLOCKS;
  /** False if the node does not know the blockhash. */
  const send = async (): Promise<boolean> => {
    try {
      await connection.sendRawTransaction(bytes, { preflightCommitment: COMMITMENT });
    } catch (error) {
      // The node's own refusal is final, unless it already has these bytes. After any other error the node may have the
      // transaction, so its status is read.
      if (!(error instanceof SendTransactionError) || ALREADY.test(error.message)) return true;
      if (NO_BLOCKHASH.test(error.message)) return false;
      throw refusalOf(error, connection, wallet, facts);
    }
    return true;
  };
  const isTaken = await send();
  const isLate = !isTaken && (await connection.getBlockHeight(COMMITMENT)) >= lastHeight;
  const reason = isLate
    ? TOOK_LONGER
    : `The transaction ${signature} did not land within the ${VALID_FOR} for which it is valid.`;
  await confirm(connection, signature, { lastHeight, reason, facts, again: isTaken || isLate ? null : send });
  return signature;
}

/** The wallet's signature over a text, 64 bytes. Throws Refusal if the wallet gives none. */
export async function signText(wallet: Signer, text: string): Promise<Uint8Array> {
  try {
    const signature = await wallet.signMessage(new TextEncoder().encode(text));
    if (signature.length === SIGNATURE_BYTES) return signature;
    throw new Error(`its signature has ${signature.length} bytes`);
  } catch (error) {
    throw notSigned(wallet, 'the message', error);
  }
}

async function sign(
  transaction: Transaction,
  wallet: Signer,
): Promise<{ signature: string; bytes: Uint8Array; blockhash: string }> {
  try {
    const signed = await wallet.signTransaction(transaction);
    // Throws if a signature is missing, or does not match the transaction.
    const bytes = signed.serialize();
    return { signature: bs58.encode(signed.signature as Uint8Array), bytes, blockhash: signed.recentBlockhash! };
  } catch (error) {
    throw notSigned(wallet, 'the transaction', error);
  }
}

function notSigned(wallet: Signer, what: string, cause: unknown): Refusal {
  const reason = (cause instanceof Error ? cause.message : String(cause)).trim().replace(/\.$/, '');
  const message = `The wallet ${wallet.publicKey} did not sign ${what}, so nothing was sent: ${reason}.`;
  return new Refusal(message, { cause, code: 'not_signed' });
}

async function confirm(
  connection: Connection,
  signature: string,
  expected: {
    lastHeight: number;
    reason: string;
    facts: Facts;
    /** Sends the same bytes again, because the node did not know the blockhash yet. */
    again: (() => Promise<boolean>) | null;
  },
): Promise<void> {
  const { lastHeight, reason, facts } = expected;
  let { again } = expected;
  let heardAt = performance.now();
  for (;;) {
    try {
      // Read the finalized height first: a transaction that landed in the last valid block must still be seen. A node
      // behind that slot, of several at one address, has not seen it.
      const { absoluteSlot, blockHeight = 0 } = await connection.getEpochInfo('finalized');
      const { value, context } = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
      heardAt = performance.now();
      const status = value[0];
      const isFinal = status?.confirmationStatus === 'finalized';
      if (isFinal && !status.err) return;
      if (isFinal) throw failed(`The transaction ${signature} failed:`, status.err ?? '', facts);
      if (!status && blockHeight > lastHeight && context.slot >= absoluteSlot) throw new Expired(reason);
      if (!status && again && (await again())) again = null;
    } catch (error) {
      if (error instanceof Failed) throw error;
      if (performance.now() - heardAt > SILENCE_MS) throw new UnknownOutcome(signature, { cause: error });
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** A certain failure, as opposed to a request without an answer. */
class Failed extends Refusal {}

/** The transaction never landed, and can no longer land. `reason` is a sentence for the person who signed. */
class Expired extends Failed {
  constructor(readonly reason: string) {
    super(`${reason} Nothing has changed on the chain. Try again.`, { code: 'expired' });
  }
}

/** The chain's refusal in words: a program error by its name and message, with the text from `facts`. */
function failed(what: string, error: TransactionError | string, facts: Facts): Failed {
  const text = typeof error === 'string' ? error : JSON.stringify(error);
  const known = programErrorIn(text);
  if (!known) return new Failed(`${what} ${text}`);
  const { name, msg } = known;
  const fact = facts[name];
  return new Failed(`${what} ${msg} (${name}).${fact === undefined ? '' : ` ${fact}`}`, { code: name });
}

function programErrorIn(text: string): ProgramError | null {
  const code = /custom program error: (0x[0-9a-f]+)/.exec(text)?.[1] ?? /"Custom":(\d+)/.exec(text)?.[1];
  return code === undefined ? null : errorFromCode(Number(code));
}

function refusalOf(error: SendTransactionError, connection: Connection, wallet: Signer, facts: Facts): Refusal {
  if (/no record of a prior credit|insufficient (lamports|funds for rent)/i.test(error.message)) {
    const message = `The wallet ${wallet.publicKey} has too little SOL for fees and refundable deposits.`;
    return new Refusal(message, {
      code: 'funds_missing',
      wallet: wallet.publicKey.toBase58(),
      rpcUrl: connection.rpcEndpoint,
    });
  }
  return failed('The chain rejected the transaction:', error.transactionError.message, facts);
}
