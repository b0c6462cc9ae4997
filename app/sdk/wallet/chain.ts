/**
 * Reading the chain, and sending the transactions that a person signs. The blockhash is fresh, the node simulates the
 * transaction before it is sent, and what the program refuses is told in the program's own words.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { unpackAccount } from '@solana/spl-token';
import {
  type Commitment,
  Connection,
  type Keypair,
  type PublicKey,
  SendTransactionError,
  Transaction,
  type TransactionError,
  type TransactionInstruction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { fundingAdvice } from '../../cli/config.ts';
import { CLOCK_ADDRESS, decodeClock } from '../program/clock.ts';
import { type Accounts, decodeAccount, errorFromCode, PROGRAM_ID } from '../program/program.ts';
import { Refusal, UnknownOutcome } from './refusal.ts';

const COMMITMENT: Commitment = 'confirmed';
/** About half of today's slot: soon enough to notice, rare enough for a public node. */
const POLL_MS = 200;
/** A node that takes longer for one answer does not answer. */
const REQUEST_TIMEOUT_MS = 10_000;
/** How long a node may be silent about a transaction that was sent before its outcome is called unknown. */
const SILENCE_MS = 15_000;

/** What a person should know beside the program's message, by the name of the program's error. */
export type Facts = Record<string, string>;

/** A connection that reads at `confirmed`. Throws Refusal for what is no URL of a node, and where none answers. */
export function connect(rpcUrl: string): Connection {
  const request: typeof fetch = async (url, init) => {
    try {
      return await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    } catch (error) {
      throw new Refusal(`No Solana node answers at ${rpcUrl}.`, { cause: error });
    }
  };
  try {
    return new Connection(rpcUrl, { commitment: COMMITMENT, fetch: request });
  } catch {
    throw new Refusal(`${rpcUrl} is not a URL of a Solana node: it must start with http:// or https://`);
  }
}

/** An account of the program. Throws Refusal with the text `missing` where there is none of this kind. */
export async function readAccount<Name extends keyof Accounts>(
  connection: Connection,
  name: Name,
  address: PublicKey,
  missing: string,
): Promise<Accounts[Name]> {
  const account = await connection.getAccountInfo(address);
  try {
    if (account?.owner.equals(PROGRAM_ID)) return decodeAccount(name, account.data);
  } catch {
    // An account of another kind is at this address.
  }
  throw new Refusal(missing);
}

/** Base units in a token account; null where there is none. */
export async function readTokens(connection: Connection, address: PublicKey): Promise<bigint | null> {
  const account = await connection.getAccountInfo(address);
  return account && unpackAccount(address, account).amount;
}

/** The chain's clock, unix seconds. What the program compares with is this and not the computer's clock. */
export async function readClock(connection: Connection): Promise<bigint> {
  const account = await connection.getAccountInfo(CLOCK_ADDRESS);
  if (!account) throw new Error('the node has no Clock sysvar');
  return decodeClock(account.data);
}

/**
 * Signs with `signers`, the first of which pays the fee, sends and waits until confirmed. Returns the signature.
 * Throws Refusal when the chain refuses it or when it is certain that it never landed, and UnknownOutcome when neither
 * is certain because the node has gone silent.
 */
export async function sendTransaction(
  connection: Connection,
  instructions: TransactionInstruction[],
  signers: [Keypair, ...Keypair[]],
  facts: Facts = {},
): Promise<string> {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash(COMMITMENT);
  const transaction = new Transaction({ feePayer: signers[0].publicKey, blockhash, lastValidBlockHeight });
  transaction.add(...instructions).sign(...signers);
  const signature = bs58.encode(transaction.signature as Buffer);
  try {
    await connection.sendRawTransaction(transaction.serialize(), { preflightCommitment: COMMITMENT });
  } catch (error) {
    // The node's own refusal is an answer. Any other error leaves open whether it took the transaction: we ask.
    if (error instanceof SendTransactionError) throw refusalOf(error, connection, signers[0], facts);
  }
  await confirm(connection, signature, lastValidBlockHeight, facts);
  return signature;
}

async function confirm(
  connection: Connection,
  signature: string,
  lastValidBlockHeight: number,
  facts: Facts,
): Promise<void> {
  let heardAt = performance.now();
  for (;;) {
    try {
      // The finalized height is asked first: a transaction that landed in the last valid block must still be seen.
      const height = await connection.getBlockHeight('finalized');
      const { value } = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
      heardAt = performance.now();
      const status = value[0];
      const reached = status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized';
      if (reached && !status?.err) return;
      if (reached) throw new Failed(`The transaction ${signature} failed: ${describe(status?.err ?? '', facts)}`);
      if (!status && height > lastValidBlockHeight) {
        throw new Failed(`The transaction ${signature} expired without landing.`);
      }
    } catch (error) {
      if (error instanceof Failed) throw error;
      if (performance.now() - heardAt > SILENCE_MS) throw new UnknownOutcome(signature, { cause: error });
    }
    await delay(POLL_MS);
  }
}

/** An outcome that is certain, as distinct from a question that was not answered. */
class Failed extends Refusal {}

/** The chain's refusal in words; a program error by its name and message, with what `facts` say of it. */
function describe(error: TransactionError | string, facts: Facts): string {
  const text = typeof error === 'string' ? error : JSON.stringify(error);
  const code = /custom program error: (0x[0-9a-f]+)/.exec(text)?.[1] ?? /"Custom":(\d+)/.exec(text)?.[1];
  const known = code === undefined ? null : errorFromCode(Number(code));
  if (!known) return text;
  const fact = facts[known.name];
  return `${known.msg} (${known.name}).${fact === undefined ? '' : ` ${fact}`}`;
}

function refusalOf(error: SendTransactionError, connection: Connection, payer: Keypair, facts: Facts): Refusal {
  const { message } = error.transactionError;
  if (/no record of a prior credit|insufficient (lamports|funds for rent)/i.test(error.message)) {
    const advice = fundingAdvice(connection.rpcEndpoint, payer.publicKey);
    return new Refusal(`The wallet ${payer.publicKey} has too little SOL for fees and rent.${advice}`);
  }
  return new Refusal(`The chain refuses the transaction: ${describe(message, facts)}`);
}
