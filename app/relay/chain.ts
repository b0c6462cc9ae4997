// The relay's only hold on the chain and its only holder of a keypair: read accounts, sign, send, and find
// out what became of a transaction. It decides nothing about money; the journal does.

import { createPrivateKey, type KeyObject, sign as signBytes } from 'node:crypto';
import {
  type AccountInfo,
  type Commitment,
  Connection,
  type Keypair,
  type PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  type TransactionError,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import type { Logger } from 'pino';
import { errorFromCode } from '../sdk/program.ts';
import type { SignedTransaction } from './store.ts';

const COMMITMENT: Commitment = 'confirmed';
/** A blockhash this old is replaced in the background, one this much older before it is used. */
const BLOCKHASH_FRESH_MS = 400;
const BLOCKHASH_STALE_MS = 2_000;
/** How often a transaction whose notification has not come is asked about and sent again. */
const POLL_MS = 1_000;

/** What became of a transaction. `unknown` is an answer too, and never means failed. */
export type Fate =
  | { kind: 'confirmed'; slot: number }
  | { kind: 'failed'; error: string | null; message: string }
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

/** Seconds of the Clock sysvar's `unix_timestamp`. */
export function readClock(data: Uint8Array): bigint {
  return Buffer.from(data).readBigInt64LE(32);
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
}) {
  const { authority, log } = options;
  const connection = new Connection(options.rpcUrl, { wsEndpoint: options.wsUrl, commitment: COMMITMENT });
  const privateKey = toPrivateKey(authority);
  // A standing subscription keeps the socket open, so that each transaction's own is answered at once.
  const slotSubscription = connection.onSlotChange(() => undefined);

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

  /** Build and sign; nothing is sent. */
  async function sign(instructions: TransactionInstruction[]): Promise<SignedTransaction> {
    const recent = await recentBlockhash();
    const message = new TransactionMessage({
      payerKey: authority.publicKey,
      recentBlockhash: recent.value,
      instructions,
    })
      .compileToLegacyMessage()
      .serialize();
    const signature = signBytes(null, message, privateKey);
    // One signature, then what it covers: serialize() would compile the whole message twice more.
    const bytes = Buffer.concat([Buffer.of(1), signature, message]);
    return { bytes, signature: bs58.encode(signature), lastValidHeight: recent.lastValidHeight };
  }

  async function send(bytes: Uint8Array): Promise<void> {
    try {
      await connection.sendRawTransaction(bytes, { skipPreflight: true, maxRetries: 0 });
    } catch (error) {
      // A refusal proves nothing about bytes that may have been sent before; only their status does.
      log.debug({ error: String(error) }, 'node refused a transaction');
    }
  }

  async function status(signature: string): Promise<Fate | null> {
    const answer = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
    const found = answer.value[0];
    if (!found) return null;
    if (found.err) return { kind: 'failed', ...describeFailure(found.err) };
    const reached = found.confirmationStatus === 'confirmed' || found.confirmationStatus === 'finalized';
    return reached ? { kind: 'confirmed', slot: found.slot } : null;
  }

  /** Expired only if the finalized height is past the last valid one and the status, asked after it, is null. */
  async function pollFate(signed: SignedTransaction): Promise<Fate | null> {
    const height = await connection.getBlockHeight('finalized');
    const known = await status(signed.signature);
    if (known) return known;
    return BigInt(height) > signed.lastValidHeight ? { kind: 'expired' } : null;
  }

  /**
   * Send bytes that are already stored and wait for their fate: by notification, with polling behind it,
   * sending the same bytes again meanwhile. `stop` ends the waiting with `unknown`.
   */
  async function submit(signed: SignedTransaction, stop: AbortSignal): Promise<Fate> {
    if (stop.aborted) return { kind: 'unknown' };
    let finish: (fate: Fate) => void = () => undefined;
    const fate = new Promise<Fate>((resolve) => {
      finish = resolve;
    });
    let ended = false;
    const subscription = connection.onSignature(
      signed.signature,
      (result, context) => {
        ended = true;
        finish(
          result.err ? { kind: 'failed', ...describeFailure(result.err) } : { kind: 'confirmed', slot: context.slot },
        );
      },
      COMMITMENT,
    );
    const abort = () => finish({ kind: 'unknown' });
    stop.addEventListener('abort', abort, { once: true });
    let polling = false;
    const poll = setInterval(async () => {
      if (polling) return;
      polling = true;
      try {
        const known = await pollFate(signed);
        if (known) finish(known);
        else await send(signed.bytes);
      } catch (error) {
        log.warn({ error: String(error) }, 'status of a transaction could not be read');
      } finally {
        polling = false;
      }
    }, POLL_MS);
    try {
      await send(signed.bytes);
      return await fate;
    } finally {
      clearInterval(poll);
      stop.removeEventListener('abort', abort);
      if (!ended) connection.removeSignatureListener(subscription).catch(() => undefined);
    }
  }

  return {
    connection,
    authority: authority.publicKey,
    sign,
    submit: (signed: SignedTransaction, stop: AbortSignal) =>
      timed(options.observe, 'chain', () => submit(signed, stop)),
    /** Run without sending, signatures checked; null where it would succeed. Throws if the node cannot say. */
    async simulate(bytes: Uint8Array): Promise<TransactionFailure | null> {
      const transaction = VersionedTransaction.deserialize(bytes);
      const config = { sigVerify: true, commitment: COMMITMENT };
      const answer = await timed(options.observe, 'chain', () => connection.simulateTransaction(transaction, config));
      return answer.value.err ? describeFailure(answer.value.err) : null;
    },
    /** Accounts at one moment, in the order asked for, and the chain's clock at that moment. */
    async read(
      keys: PublicKey[],
      commitment: Commitment = COMMITMENT,
    ): Promise<{ accounts: (AccountInfo<Buffer> | null)[]; now: bigint }> {
      const [clock, ...accounts] = await timed(options.observe, 'chain', () =>
        connection.getMultipleAccountsInfo([SYSVAR_CLOCK_PUBKEY, ...keys], commitment),
      );
      if (!clock) throw new Error('the node has no Clock sysvar');
      return { accounts, now: readClock(clock.data) };
    },
    async close(): Promise<void> {
      await connection.removeSlotChangeListener(slotSubscription).catch(() => undefined);
    },
  };
}
