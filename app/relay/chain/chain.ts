// The relay's only hold on the chain and its only holder of a keypair: read accounts, sign, send, and find
// out what became of a transaction. It decides nothing about money; the journal does.

import { createPrivateKey, type KeyObject, sign as signBytes } from 'node:crypto';
import {
  type AccountInfo,
  type Commitment,
  ComputeBudgetProgram,
  Connection,
  type Keypair,
  type PublicKey,
  type TransactionError,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import DataLoader from 'dataloader';
import type { Logger } from 'pino';
import { CLOCK_ADDRESS, decodeClock } from '../../sdk/program/clock.ts';
import { errorFromCode, parseAddress } from '../../sdk/program/program.ts';
import { readAccounts, sendTransaction, simulateTransaction } from '../../solana/calls.ts';
import { createPatientFetch, createRpcFetch, type RpcFetch } from '../../solana/rpc.ts';
import { subscribe } from '../../solana/subscription.ts';
import type { NewTransaction, SignedTransaction } from '../ledger/writing.ts';
import type { Fees } from './fees.ts';
import { networkFee } from './networkFee.ts';

const COMMITMENT: Commitment = 'confirmed';
/** A blockhash this old is replaced in the background, one this much older before it is used. */
const BLOCKHASH_FRESH_MS = 400;
const BLOCKHASH_STALE_MS = 2_000;
/** How often a transaction whose notification has not come is asked about and sent again. */
const POLL_MS = 1_000;
/** A node further behind the latest one heard of is out of order: some 10 s, finalized reads among the others. */
const MAX_LAG_SLOTS = 64;

/**
 * What became of a transaction. `unknown` is an answer too, and never means failed; `expired` says that its blockhash
 * has, and only the finalized record can prove that it has not landed before.
 */
export type Fate =
  | { kind: 'confirmed' }
  | ({ kind: 'failed' } & TransactionFailure)
  | { kind: 'expired' }
  | { kind: 'unknown' };

/** Why a simulation or a landed transaction failed, by the program's own name where it has one. */
export interface TransactionFailure {
  /** Name from the IDL, e.g. `PayoutUnusable`; null for any other failure. */
  error: string | null;
  message: string;
  /** Index of the instruction that failed; null where the whole transaction was refused. */
  instruction: number | null;
}

const CLOCK = CLOCK_ADDRESS.toBase58();
/** Of at most three accounts each, so that they and the clock are no more than the 100 that a node reads at once. */
const MAX_READINGS = 33;

/** Accounts that one caller wants as they are at this slot or later. */
interface Reading {
  addresses: string[];
  minSlot: number;
}

/** Accounts in the order asked for, null where there is none, and the chain's clock in unix seconds. */
interface Accounts {
  accounts: (AccountInfo<Buffer> | null)[];
  now: bigint;
}

export type Chain = ReturnType<typeof createChain>;

/** Names a transaction error as the IDL does. */
export function describeFailure(failure: TransactionError): TransactionFailure {
  if (typeof failure === 'object' && 'InstructionError' in failure) {
    const [index, detail] = failure.InstructionError as [number, string | { Custom?: number }];
    const code = typeof detail === 'object' ? detail.Custom : undefined;
    const known = code === undefined ? null : errorFromCode(code);
    if (known) return { error: known.name, message: known.msg, instruction: index };
    return { error: null, message: `instruction ${index}: ${JSON.stringify(detail)}`, instruction: index };
  }
  return { error: null, message: typeof failure === 'string' ? failure : JSON.stringify(failure), instruction: null };
}

/** Node's own Ed25519 is an order of magnitude faster than one in JavaScript. */
function toPrivateKey(keypair: Keypair): KeyObject {
  const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  const der = Buffer.concat([pkcs8Prefix, keypair.secretKey.subarray(0, 32)]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

/** How many instructions in front only say what is paid for the rest. */
function countPriority({ message }: VersionedTransaction): number {
  const isPriority = ({ programIdIndex }: { programIdIndex: number }) =>
    message.staticAccountKeys[programIdIndex]?.equals(ComputeBudgetProgram.programId);
  const first = message.compiledInstructions.findIndex((instruction) => !isPriority(instruction));
  return Math.max(0, first);
}

/** Hears how long a stage took, milliseconds; `chain` and `creator` are waiting for others. */
export type Observe = (
  stage: 'chain' | 'creator' | 'open' | 'dispatch' | 'verify' | 'settle' | 'refund',
  ms: number,
) => void;

/** Runs something and tells how long it took. */
export async function timed<T>(
  observe: Observe | undefined,
  stage: Parameters<Observe>[0],
  run: () => Promise<T>,
): Promise<T> {
  if (!observe) return run();
  const started = performance.now();
  try {
    return await run();
  } finally {
    observe(stage, performance.now() - started);
  }
}

/** Connects to one node; `authority` signs and pays for everything the relay sends. */
export function createChain(options: {
  rpcUrl: string;
  wsUrl: string;
  authority: Keypair;
  log: Logger;
  observe?: Observe;
  /** What calls to the node go through, below the repeating. */
  fetch?: RpcFetch;
  /** Pays for priority, over the same connection; without it nothing but signatures is paid. */
  createFees?: (connection: Connection) => Fees;
}) {
  const { log } = options;
  const closing = new AbortController();
  const fetch = createPatientFetch(closing.signal, options.fetch ?? createRpcFetch());
  const node = { send: fetch, url: options.rpcUrl };
  const connection = new Connection(options.rpcUrl, {
    commitment: COMMITMENT,
    fetch,
    disableRetryOnRateLimit: true,
  });
  const fees = options.createFees?.(connection);
  fees?.start();
  const privateKey = toPrivateKey(options.authority);
  const authority = parseAddress(options.authority.publicKey.toBase58());

  let blockhash: { value: string; lastValidHeight: bigint; at: number } | null = null;
  let refreshing: Promise<void> | null = null;
  function refreshBlockhash(): Promise<void> {
    refreshing ??= connection
      .getLatestBlockhash(COMMITMENT)
      .then((latest) => {
        blockhash = {
          value: latest.blockhash,
          lastValidHeight: BigInt(latest.lastValidBlockHeight),
          at: performance.now(),
        };
      })
      .finally(() => {
        refreshing = null;
      });
    return refreshing;
  }
  async function recentBlockhash(): Promise<{ value: string; lastValidHeight: bigint }> {
    const age = blockhash ? performance.now() - blockhash.at : Number.POSITIVE_INFINITY;
    if (age > BLOCKHASH_STALE_MS) await timed(options.observe, 'chain', refreshBlockhash);
    else if (age > BLOCKHASH_FRESH_MS)
      refreshBlockhash().catch((error) => log.warn({ error: String(error) }, 'blockhash refresh failed'));
    return blockhash!;
  }

  /** Build and sign; nothing is sent. `attempt` counts the bytes for the same end that were found dead before. */
  async function sign(instructions: TransactionInstruction[], attempt = 0): Promise<NewTransaction> {
    const priority = (await fees?.instructionsFor(instructions, attempt)) ?? [];
    const recent = await recentBlockhash();
    // web3.js takes the legacy format through base58 text, which costs more than signing; version 0 it keeps in bytes.
    const message = new TransactionMessage({
      payerKey: authority,
      recentBlockhash: recent.value,
      instructions: [...priority, ...instructions],
    }).compileToV0Message();
    const signed = message.serialize();
    const signature = signBytes(null, signed, privateKey);
    return {
      // One signature, then what it covers: web3.js would serialize the whole message twice more.
      bytes: Buffer.concat([Buffer.of(1), signature, signed]),
      signature: bs58.encode(signature),
      lastValidHeight: recent.lastValidHeight,
      fee: networkFee(message),
    };
  }

  async function send(bytes: Uint8Array): Promise<void> {
    try {
      await sendTransaction(node, bytes);
    } catch (error) {
      // A refusal proves nothing about bytes that may have been sent before; only their status does.
      log.debug({ error: String(error) }, 'node refused a transaction');
    }
  }

  async function finalized(): Promise<{ slot: number; blockHeight: bigint }> {
    const { absoluteSlot, blockHeight } = await connection.getEpochInfo('finalized');
    return { slot: absoluteSlot, blockHeight: BigInt(blockHeight ?? 0) };
  }

  /** Null where nothing is known that a supermajority has voted for. */
  async function status(signature: string): Promise<Fate | null> {
    const answer = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
    const found = answer.value[0];
    if (found?.confirmationStatus !== 'confirmed' && found?.confirmationStatus !== 'finalized') return null;
    return toFate(found.err, found.slot);
  }

  // The latest slot in which one of our transactions is known to have landed: older accounts would mislead.
  let seenSlot = 0;
  function toFate(error: TransactionError | null, slot: number): Fate {
    seenSlot = Math.max(seenSlot, slot);
    return error ? { kind: 'failed', ...describeFailure(error) } : { kind: 'confirmed' };
  }

  /** The fate of a transaction now, by its status or by what it was meant to change; null while it can still land. */
  async function look(signed: SignedTransaction, hasHappened: () => Promise<boolean>): Promise<Fate | null> {
    const { blockHeight } = await finalized();
    const known = await status(signed.signature);
    if (known) return known;
    if (await hasHappened()) return { kind: 'confirmed' };
    return blockHeight > signed.lastValidHeight ? { kind: 'expired' } : null;
  }

  /** Who waits for a transaction's notification, by signature. */
  const waiting = new Map<string, (fate: Fate) => void>();
  // One subscription to all that the authority signs, instead of one for each transaction.
  const subscription = subscribe({
    wsUrl: options.wsUrl,
    address: authority.toBase58(),
    onLogs: ({ signature, slot, error }) => waiting.get(signature)?.(toFate(error, Number(slot))),
    onSubscribed: () => log.debug('subscribed to our own transactions'),
    onLost: (reason) => log.debug({ reason }, 'the WebSocket was lost; polling until it is back'),
  });

  /**
   * Send bytes that are already stored and wait for their fate: by notification, with polling behind it,
   * sending the same bytes again meanwhile. `stop` ends the waiting with `unknown`.
   */
  async function submit(
    signed: SignedTransaction,
    hasHappened: () => Promise<boolean>,
    stop: AbortSignal,
  ): Promise<Fate> {
    if (stop.aborted) return { kind: 'unknown' };
    let finish: (fate: Fate) => void = () => undefined;
    const fate = new Promise<Fate>((resolve) => {
      finish = resolve;
    });
    waiting.set(signed.signature, finish);
    const abort = () => finish({ kind: 'unknown' });
    stop.addEventListener('abort', abort, { once: true });
    let polling = false;
    const poll = setInterval(async () => {
      if (polling) return;
      polling = true;
      try {
        const known = await look(signed, hasHappened);
        if (known) finish(known);
        else await send(signed.bytes);
      } catch (error) {
        log.warn({ error: String(error) }, 'status of a transaction could not be read');
      } finally {
        polling = false;
      }
    }, POLL_MS);
    try {
      // Not awaited: a notification may be quicker than the node's answer to the sending.
      send(signed.bytes);
      return await fate;
    } finally {
      clearInterval(poll);
      stop.removeEventListener('abort', abort);
      waiting.delete(signed.signature);
    }
  }

  // The latest slot that accounts were read at: nodes behind one address differ by a few, not by many.
  let readSlot = 0;

  /** Accounts and the Clock of one moment for each reading. Throws where the node is behind what we were told before. */
  async function readAll(commitment: Commitment, readings: readonly Reading[]): Promise<Accounts[]> {
    const minContextSlot = Math.max(readSlot - MAX_LAG_SLOTS, ...readings.map(({ minSlot }) => minSlot));
    const addresses = [...new Set([CLOCK, ...readings.flatMap((reading) => reading.addresses)])];
    const { slot, accounts } = await timed(options.observe, 'chain', () =>
      readAccounts(node, addresses, { commitment, minContextSlot }),
    );
    if (slot < minContextSlot) throw new Error(`the node is at slot ${slot}, behind ${minContextSlot}`);
    readSlot = Math.max(readSlot, slot);
    const found = new Map(addresses.map((address, index) => [address, accounts[index] ?? null]));
    const clock = found.get(CLOCK);
    if (!clock) throw new Error('the node has no Clock sysvar');
    const now = decodeClock(clock.data);
    return readings.map((reading) => ({
      accounts: reading.addresses.map((address) => found.get(address) ?? null),
      now,
    }));
  }

  /** What is wanted in the same turn of the event loop, as it is when a slot is confirmed, is one call to the node. */
  const reader = new DataLoader((readings: readonly Reading[]) => readAll(COMMITMENT, readings), {
    cache: false,
    maxBatchSize: MAX_READINGS,
    batchScheduleFn: setImmediate,
  });

  async function readFinalized(keys: PublicKey[], minSlot: number): Promise<Accounts> {
    const [read] = await readAll('finalized', [{ addresses: keys.map(String), minSlot }]);
    return read!;
  }

  return {
    connection,
    authority,
    sign,
    /** `hasHappened` reads whether what the transaction is for is done; it may answer where the status does not. */
    submit: (signed: SignedTransaction, hasHappened: () => Promise<boolean>, stop: AbortSignal) =>
      timed(options.observe, 'chain', () => submit(signed, hasHappened, stop)),
    /** Send and wait for nothing. */
    send,
    /** Run without sending, signatures checked; null where it would succeed. Throws if the node cannot say. */
    async simulate(bytes: Uint8Array): Promise<TransactionFailure | null> {
      const error = await timed(options.observe, 'chain', () => simulateTransaction(node, bytes, COMMITMENT));
      if (!error) return null;
      const failure = describeFailure(error);
      // Whoever built it counts its own instructions.
      return failure.instruction === null
        ? failure
        : { ...failure, instruction: failure.instruction - countPriority(VersionedTransaction.deserialize(bytes)) };
    },
    /** Accounts at one moment, in the order asked for, and the chain's clock at that moment. */
    read: (keys: PublicKey[]): Promise<Accounts> => reader.load({ addresses: keys.map(String), minSlot: seenSlot }),
    /** What the node will never take back, as of now. */
    finalized,
    /** Accounts as finalized at this slot or later. */
    readFinalized,
    /**
     * Accounts as finalized at or after the moment when bytes of this last valid height could no longer land, by one
     * node's word on both: what they do not show now, those bytes will never do. Null while there is no such moment.
     */
    async readPast(keys: PublicKey[], lastValidHeight: bigint): Promise<Accounts | null> {
      const { slot, blockHeight } = await finalized();
      return blockHeight > lastValidHeight ? readFinalized(keys, slot) : null;
    },
    close(): void {
      fees?.end();
      closing.abort(new Error('closing'));
      subscription.close();
    },
  };
}
