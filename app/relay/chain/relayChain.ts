/**
 * The relay's only access to the chain: reads accounts, signs, sends, and finds the outcome of transactions. It decides
 * nothing about money; the journal does.
 */
import type { Commitment, Connection, Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { Logger } from 'pino';
import { type Simulation, simulateTransaction } from '../../solana/calls.ts';
import { FAST, type Finality } from '../../solana/finality.ts';
import type { NodeUrls } from '../../solana/nodes.ts';
import { connectForReading, createRpcFetch, type RpcFetch } from '../../solana/rpc.ts';
import { type Agreement, createAgreement } from './agreement.ts';
import { type Confirmations, createConfirmations } from './confirmations.ts';
import { describeFailureOf, type TransactionFailure } from './failures.ts';
import type { Fees } from './fees.ts';
import { type ChainNode, createNodes, type NodeStatus } from './nodes.ts';
import { type AccountsAt, COMMITMENT, createClock } from './reader.ts';
import { createSeen, type Seen } from './seen.ts';
import { createSigner, type RelaySigner } from './signer.ts';
import { type Observe, timed } from './stages.ts';
import { type Failing, failingOf, isOfPreparation, joinPayment } from './trialPayment.ts';
import { withoutSignatures } from './versionOne.ts';

/** Maximum time for a search through a million accounts. */
const SCAN_TIMEOUT_MS = 60_000;
const NO_PACE = { late: () => undefined, inTime: () => undefined };

export interface RelayChain
  extends RelaySigner,
    Pick<Agreement, 'readPast' | 'finalized'>,
    Pick<Confirmations, 'submit' | 'hasSucceeded'>,
    Pick<Seen, 'untilSeen'> {
  connection: Connection;
  /** Of the cluster. */
  finality: Finality;
  /** For long requests, such as a search through all accounts. Switches to the next node after a failure. */
  scanning: Connection;
  /** Accounts at one moment, in the requested order, from one node. For reads that move no money by themselves. */
  read(keys: PublicKey[]): Promise<AccountsAt>;
  /** Like `read`, but from two nodes, if there are two. Decisions about money use this. */
  readAgreed(keys: PublicKey[], minSlot?: number): Promise<AccountsAt>;
  /** The chain's clock now, unix seconds, derived from the latest reading. */
  clock(): bigint;
  /**
   * Simulates these bytes without their signatures, because they are not stored yet: a node that has no signature cannot
   * send them. Null if it would succeed; a failure only if two nodes see the same. Throws if that cannot be decided.
   */
  simulate(bytes: Uint8Array): Promise<TransactionFailure | null>;
  /**
   * The same at one node's newest block, which may not be final, with the compute units: for what is sent again if it
   * was wrong.
   */
  simulateNewest(bytes: Uint8Array): Promise<{ failure: TransactionFailure | null; units: number }>;
  /**
   * Why a payment would fail now: its fee payer, which is ours, has too little, or anything else; null if it would not.
   * It is simulated without our signature, so that the node cannot send it. Throws if the node does not answer.
   */
  wouldFail(payment: Uint8Array): Promise<'payer' | 'payment' | null>;
  /** The part that would fail if `preparation` were executed now, and then the payment. Throws like `wouldFail`. */
  wouldFailAfter(preparation: TransactionInstruction[], payment: Uint8Array): Promise<Failing | null>;
  /** The status of each node, in the order of the setting. */
  nodes(): NodeStatus[];
  /** Asks several nodes for their slot. Throws if they are on different clusters. */
  poll(): Promise<void>;
  /** Ends every call in progress. */
  close(): void;
}

const failureOf = (bytes: Uint8Array, { error }: Pick<Simulation, 'error'>): TransactionFailure | null =>
  error === null ? null : describeFailureOf(bytes, error);

/** Connects to one node or several. `authority` signs and pays for everything that the relay sends. */
export function createRelayChain(options: {
  rpcUrl: string;
  wsUrl: string;
  /** Used if the first fails, and to confirm reads that decide about money. */
  moreNodes?: readonly NodeUrls[];
  authority: Keypair;
  /** Pays the network fees of x402 clients' payments; null if there are no such payments. */
  feePayer?: Keypair | null;
  /** Of the cluster; by default of one with Alpenglow. */
  finality?: Finality;
  log: Logger;
  observe?: Observe;
  /** Sends the calls to the nodes, below the retries. */
  fetch?: RpcFetch;
  /** Adds priority fees, over the same connection. Without it only signatures are paid. */
  createFees?: (connection: Connection) => Fees;
  /** Called when two nodes disagree. */
  onDisagreement?: ((subject: string) => void) | undefined;
}): RelayChain {
  const { rpcUrl, wsUrl, finality = FAST, log, observe } = options;
  const abort = new AbortController();
  const closing = abort.signal;
  const clock = createClock();
  const nodes = createNodes({
    nodes: [{ rpcUrl, wsUrl }, ...(options.moreNodes ?? [])],
    finality,
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
  const base = { nodes, agreement, finality, log, observe };
  const signer = createSigner({
    ...base,
    authority: options.authority,
    feePayer: options.feePayer ?? null,
    fees,
  });
  const { authority, feePayer } = signer;
  const confirmations = createConfirmations({
    ...base,
    payers: feePayer ? [authority, feePayer] : [authority],
    pace: fees?.pace ?? NO_PACE,
  });
  const seen = createSeen(nodes, feePayer);
  const { readPast, finalized } = agreement;
  // The client of a payment may have a newer blockhash than the final state.
  const attempt = (bytes: Uint8Array) =>
    nodes.first((node) => simulateTransaction(node, bytes, { commitment: COMMITMENT, anyBlockhash: true }));
  const trialOf = (bytes: Uint8Array, commitment: Commitment) => {
    const unsigned = withoutSignatures(bytes);
    const config = { commitment, anyBlockhash: false };
    return (node: ChainNode) => timed(observe, 'chain', () => simulateTransaction(node, unsigned, config));
  };
  const urls = nodes.all.map(({ url }) => url).join(',');
  return {
    connection,
    finality,
    scanning: connectForReading(urls, closing, SCAN_TIMEOUT_MS),
    ...signer,
    hasSucceeded: confirmations.hasSucceeded,
    untilSeen: seen.untilSeen,
    submit: confirmations.submit,
    async simulate(bytes) {
      const ask = trialOf(bytes, COMMITMENT);
      let { error } = await nodes.first(ask);
      // A success needs no second node, because the chain itself decides later. A failure can cause a refund.
      if (error && nodes.witnesses().length > 1) {
        const sameOf = (one: Simulation, other: Simulation) =>
          JSON.stringify(one.error) === JSON.stringify(other.error) ? one : null;
        ({ error } = await agreement.together('a simulation', ask, sameOf));
      }
      return failureOf(bytes, { error });
    },
    async simulateNewest(bytes) {
      const simulated = await nodes.first(trialOf(bytes, 'processed'));
      if (!simulated.error && simulated.units === 0) throw new Error('the simulation has no compute units');
      return { failure: failureOf(bytes, simulated), units: simulated.units };
    },
    async wouldFail(payment) {
      const { error } = await attempt(payment);
      if (error === null) return null;
      return isOfPreparation(error, 0) ? 'payer' : 'payment';
    },
    async wouldFailAfter(preparation, payment) {
      return failingOf(await attempt(joinPayment(preparation, payment, authority)), preparation, payment);
    },
    read: (keys) => nodes.first((node) => node.reader.read(keys)),
    readAgreed: agreement.read,
    readPast,
    finalized,
    clock: clock.now,
    nodes: nodes.status,
    poll: nodes.poll,
    close() {
      fees?.end();
      nodes.close();
      abort.abort(new Error('closing'));
      confirmations.close();
      seen.close();
    },
  };
}
