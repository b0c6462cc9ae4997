/**
 * The relay's only hold on the chain: read accounts, sign, send, and find out what became of a transaction. It decides
 * nothing about money; the journal does.
 */
import { type Commitment, Connection, type Keypair } from '@solana/web3.js';
import type { Logger } from 'pino';
import { simulateTransaction } from '../../solana/calls.ts';
import { createPatientFetch, createRpcFetch, type RpcFetch } from '../../solana/rpc.ts';
import { type Confirmations, createConfirmations } from './confirmations.ts';
import { describeFailureOf, type TransactionFailure } from './failures.ts';
import type { Fees } from './fees.ts';
import { createReader, type Reader } from './reader.ts';
import { createSigner, type RelaySigner } from './signer.ts';
import { type Observe, timed } from './stages.ts';

const COMMITMENT: Commitment = 'confirmed';

export interface RelayChain
  extends RelaySigner,
    Pick<Reader, 'read' | 'readFinalized' | 'readPast' | 'finalized' | 'clock'>,
    Pick<Confirmations, 'submit' | 'send' | 'hasSucceeded'> {
  connection: Connection;
  /** Run without sending, signatures checked; null where it would succeed. Throws if the node cannot say. */
  simulate(bytes: Uint8Array): Promise<TransactionFailure | null>;
  /** Ends every call that is under way. */
  close(): void;
}

/** Connects to one node; `authority` signs and pays for everything the relay sends. */
export function createRelayChain(options: {
  rpcUrl: string;
  wsUrl: string;
  authority: Keypair;
  log: Logger;
  observe?: Observe;
  /** What calls to the node go through, below the repeating. */
  fetch?: RpcFetch;
  /** Pays for priority, over the same connection; without it nothing but signatures is paid. */
  createFees?: (connection: Connection) => Fees;
}): RelayChain {
  const { rpcUrl, wsUrl, log, observe } = options;
  const closing = new AbortController();
  const fetch = createPatientFetch(closing.signal, options.fetch ?? createRpcFetch());
  const node = { send: fetch, url: rpcUrl };
  const connection = new Connection(rpcUrl, { commitment: COMMITMENT, fetch, disableRetryOnRateLimit: true });
  const fees = options.createFees?.(connection);
  fees?.start();
  const base = { connection, commitment: COMMITMENT, node, log, observe };
  const { authority, sign, quote } = createSigner({ ...base, authority: options.authority, fees });
  const reader = createReader(base);
  const confirmations = createConfirmations({ ...base, wsUrl, authority, reader });
  const { read, readFinalized, readPast, finalized, clock } = reader;
  return {
    connection,
    authority,
    sign,
    quote,
    hasSucceeded: confirmations.hasSucceeded,
    submit: confirmations.submit,
    send: confirmations.send,
    async simulate(bytes) {
      const error = await timed(observe, 'chain', () => simulateTransaction(node, bytes, COMMITMENT));
      return error ? describeFailureOf(bytes, error) : null;
    },
    read,
    readFinalized,
    readPast,
    finalized,
    clock,
    close() {
      fees?.end();
      closing.abort(new Error('closing'));
      confirmations.close();
    },
  };
}
