/**
 * The relay's only hold on the chain: read accounts, sign, send, and find out what became of a transaction. It decides
 * nothing about money; the journal does.
 */
import type { Commitment, Connection, Keypair, PublicKey, TransactionError } from '@solana/web3.js';
import type { Logger } from 'pino';
import { type ListedSignature, listSignatures, simulateTransaction } from '../../solana/calls.ts';
import type { NodeUrls } from '../../solana/nodes.ts';
import { connectForReading, createRpcFetch, type RpcFetch } from '../../solana/rpc.ts';
import { type Agreement, createAgreement } from './agreement.ts';
import { type Confirmations, createConfirmations } from './confirmations.ts';
import { describeFailureOf, type TransactionFailure } from './failures.ts';
import type { Fees } from './fees.ts';
import { type ChainNode, createNodes, type NodeStatus } from './nodes.ts';
import { type AccountsAt, createClock } from './reader.ts';
import { createSigner, type RelaySigner } from './signer.ts';
import { type Observe, timed } from './stages.ts';

const COMMITMENT: Commitment = 'confirmed';
type Simulated = { error: TransactionError | null };
/** What a search through a million accounts may take a node. */
const SCAN_TIMEOUT_MS = 60_000;
const NO_PACE = { late: () => undefined, inTime: () => undefined };

export interface RelayChain
  extends RelaySigner,
    Pick<Agreement, 'readFinalized' | 'readPast' | 'finalized'>,
    Pick<Confirmations, 'submit' | 'send' | 'hasSucceeded'> {
  connection: Connection;
  /** For what takes long, as a search through all accounts; by the nodes in turn. */
  scanning: Connection;
  /** Accounts at one moment, in the order asked for, by one node: for what moves no money by itself. */
  read(keys: PublicKey[]): Promise<AccountsAt>;
  /** The same as two nodes have them, where there are two: what money moves on. */
  readAgreed(keys: PublicKey[]): Promise<AccountsAt>;
  /** The chain's clock now, unix seconds, as far as the latest reading tells. */
  clock(): bigint;
  /**
   * Run without sending, signatures checked; null where it would succeed, and a failure only where two nodes see the same.
   * Throws if that cannot be said.
   */
  simulate(bytes: Uint8Array): Promise<TransactionFailure | null>;
  /** The latest transactions that name our authority, newest first, whoever signed them. */
  listOfAuthority(limit: number): Promise<ListedSignature[]>;
  /** Of each node, in the order of the setting. */
  nodes(): NodeStatus[];
  /** Asks several nodes where they are. Throws where they are of two clusters. */
  look(): Promise<void>;
  /** Ends every call that is under way. */
  close(): void;
}

/** Connects to one node or several; `authority` signs and pays for everything the relay sends. */
export function createRelayChain(options: {
  rpcUrl: string;
  wsUrl: string;
  /** Asked where the first fails, and for a second word on what decides about money. */
  moreNodes?: readonly NodeUrls[];
  authority: Keypair;
  log: Logger;
  observe?: Observe;
  /** What calls to the nodes go through, below the repeating. */
  fetch?: RpcFetch;
  /** Pays for priority, over the same connection; without it nothing but signatures is paid. */
  createFees?: (connection: Connection) => Fees;
  /** Is told that two nodes do not agree. */
  onDisagreement?: ((subject: string) => void) | undefined;
}): RelayChain {
  const { rpcUrl, wsUrl, log, observe } = options;
  const abort = new AbortController();
  const closing = abort.signal;
  const clock = createClock();
  const nodes = createNodes({
    nodes: [{ rpcUrl, wsUrl }, ...(options.moreNodes ?? [])],
    commitment: COMMITMENT,
    fetch: options.fetch ?? createRpcFetch(),
    clock,
    log,
    closing,
    observe,
  });
  const { connection } = nodes;
  const onDisagreement = options.onDisagreement ?? (() => undefined);
  const agreement = createAgreement({ nodes, log, onDisagreement, closing });
  const fees = options.createFees?.(connection);
  fees?.start();
  const base = { nodes, agreement, log, observe };
  const { authority, sign, isOwn, quote } = createSigner({
    ...base,
    authority: options.authority,
    commitment: COMMITMENT,
    fees,
  });
  const confirmations = createConfirmations({ ...base, authority, pace: fees?.pace ?? NO_PACE });
  const { readFinalized, readPast, finalized } = agreement;
  const urls = nodes.all.map(({ url }) => url).join(',');
  return {
    connection,
    scanning: connectForReading(urls, closing, SCAN_TIMEOUT_MS),
    authority,
    sign,
    isOwn,
    quote,
    hasSucceeded: confirmations.hasSucceeded,
    submit: confirmations.submit,
    send: confirmations.send,
    async simulate(bytes) {
      const ask = async (node: ChainNode) => ({
        error: await timed(observe, 'chain', () => simulateTransaction(node, bytes, COMMITMENT)),
      });
      let { error } = await nodes.first(ask);
      // Where it would succeed the chain itself will judge; that it would not is what refunds are decided on.
      if (error && nodes.witnesses().length > 1) {
        const sameOf = (one: Simulated, other: Simulated) =>
          JSON.stringify(one.error) === JSON.stringify(other.error) ? one : null;
        ({ error } = await agreement.together('a simulation', ask, sameOf));
      }
      return error ? describeFailureOf(bytes, error) : null;
    },
    listOfAuthority: (limit) =>
      nodes.first((node) => listSignatures(node, authority.toBase58(), { limit, commitment: COMMITMENT })),
    read: (keys) => nodes.first((node) => node.reader.read(keys)),
    readAgreed: agreement.read,
    readFinalized,
    readPast,
    finalized,
    clock: clock.now,
    nodes: nodes.status,
    look: nodes.look,
    close() {
      fees?.end();
      nodes.close();
      abort.abort(new Error('closing'));
      confirmations.close();
    },
  };
}
