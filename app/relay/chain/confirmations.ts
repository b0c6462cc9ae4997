/** Sends transactions that are stored already, and finds out what became of them. */
import type { Connection, PublicKey, TransactionError } from '@solana/web3.js';
import type { Logger } from 'pino';
import { sendTransaction } from '../../solana/calls.ts';
import { subscribe } from '../../solana/subscription.ts';
import type { SignedTransaction } from '../ledger/writing.ts';
import { describeFailure, type TransactionFailure } from './failures.ts';
import type { Reader } from './reader.ts';
import { type Observe, timed } from './stages.ts';

/** How often a transaction whose notification has not come is asked about and sent again. */
const POLL_MS = 1_000;

/**
 * What became of a transaction. `unknown` is an answer too, and never means failed; `expired` says that its blockhash
 * has, and only the finalized record can prove that it has not landed before.
 */
export type Fate =
  | { kind: 'confirmed' }
  | ({ kind: 'failed' } & TransactionFailure)
  | { kind: 'expired' }
  | { kind: 'unknown' };

export interface Confirmations {
  /**
   * Send bytes that are already stored and wait for their fate: by notification, with polling behind it, sending the
   * same bytes again meanwhile. `hasHappened` reads whether what the transaction is for is done; it may answer where the
   * status does not. `stop` ends the waiting with `unknown`. Never rejects for a node that fails.
   */
  submit(signed: SignedTransaction, hasHappened: () => Promise<boolean>, stop: AbortSignal): Promise<Fate>;
  /** Whether the transaction of this signature has landed without an error. Throws where the node does not answer. */
  hasSucceeded(signature: string): Promise<boolean>;
  /** Send and wait for nothing. */
  send(bytes: Uint8Array): Promise<void>;
  close(): void;
}

export interface ConfirmationOptions {
  node: Parameters<typeof sendTransaction>[0];
  wsUrl: string;
  connection: Connection;
  /** Whose transactions they are. */
  authority: PublicKey;
  reader: Pick<Reader, 'finalized' | 'landed'>;
  log: Logger;
  observe?: Observe | undefined;
}

/** Subscribes at once to all that the authority signs. */
export function createConfirmations(options: ConfirmationOptions): Confirmations {
  const { node, log } = options;
  const { toFate, look, status } = createLook(options);

  /** Who waits for a transaction's notification, by signature. */
  const waiting = new Map<string, (fate: Fate) => void>();
  // One subscription to all that the authority signs, instead of one for each transaction.
  const subscription = subscribe({
    wsUrl: options.wsUrl,
    address: options.authority.toBase58(),
    onLogs: ({ signature, slot, error }) => waiting.get(signature)?.(toFate(error, Number(slot))),
    onSubscribed: () => log.debug('subscribed to our own transactions'),
    onLost: (reason) => log.debug({ reason }, 'the WebSocket was lost; polling until it is back'),
  });

  async function send(bytes: Uint8Array): Promise<void> {
    try {
      await sendTransaction(node, bytes);
    } catch (error) {
      // A refusal proves nothing about bytes that may have been sent before; only their status does.
      log.debug({ error: String(error) }, 'node refused a transaction');
    }
  }

  /** Asks about a transaction again and again, and sends it again while nothing is known; the returned function ends it. */
  function poll(signed: SignedTransaction, hasHappened: () => Promise<boolean>, finish: (fate: Fate) => void) {
    let polling = false;
    const timer = setInterval(async () => {
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
    return () => clearInterval(timer);
  }

  async function submit(signed: SignedTransaction, hasHappened: () => Promise<boolean>, stop: AbortSignal) {
    if (stop.aborted) return { kind: 'unknown' as const };
    let finish: (fate: Fate) => void = () => undefined;
    const fate = new Promise<Fate>((resolve) => {
      finish = resolve;
    });
    waiting.set(signed.signature, finish);
    const abort = () => finish({ kind: 'unknown' });
    stop.addEventListener('abort', abort, { once: true });
    const endPoll = poll(signed, hasHappened, finish);
    try {
      // Not awaited: a notification may be quicker than the node's answer to the sending.
      send(signed.bytes);
      return await fate;
    } finally {
      endPoll();
      stop.removeEventListener('abort', abort);
      waiting.delete(signed.signature);
    }
  }

  return {
    submit: (signed, hasHappened, stop) => timed(options.observe, 'chain', () => submit(signed, hasHappened, stop)),
    hasSucceeded: async (signature) => (await status(signature))?.kind === 'confirmed',
    send,
    close: () => subscription.close(),
  };
}

/** What a node says of a transaction when it is asked. */
function createLook({ connection, reader }: ConfirmationOptions) {
  function toFate(error: TransactionError | null, slot: number): Fate {
    reader.landed(slot);
    return error ? { kind: 'failed', ...describeFailure(error) } : { kind: 'confirmed' };
  }

  /** Null where nothing is known that a supermajority has voted for. */
  async function status(signature: string): Promise<Fate | null> {
    const answer = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
    const found = answer.value[0];
    if (found?.confirmationStatus !== 'confirmed' && found?.confirmationStatus !== 'finalized') return null;
    return toFate(found.err, found.slot);
  }

  /** The fate of a transaction now, by its status or by what it was meant to change; null while it can still land. */
  async function look(signed: SignedTransaction, hasHappened: () => Promise<boolean>): Promise<Fate | null> {
    const { blockHeight } = await reader.finalized();
    const known = await status(signed.signature);
    if (known) return known;
    if (await hasHappened()) return { kind: 'confirmed' };
    return blockHeight > signed.lastValidHeight ? { kind: 'expired' } : null;
  }

  return { toFate, look, status };
}
