/**
 * Sends the sweeper's transactions. Each is simulated, so that no fee is wasted, and stored before it is sent. It pays no
 * priority fee, because nothing here is urgent.
 */
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import type { Logger } from 'pino';
import type { Outcome } from '../chain/confirmations.ts';
import type { TransactionFailure } from '../chain/failures.ts';
import { feeOf } from '../chain/networkFee.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import { MOST_UNITS } from '../chain/versionOne.ts';
import { createVersionOneTrial } from '../chain/versionOneTrial.ts';
import type { SweepTransactions } from '../ledger/sweepTransactions.ts';
import type { NewTransaction, SignedTransaction } from '../ledger/writing.ts';
import { allSettled } from '../waiting.ts';

/**
 * Ends the round: the relay stops, another relay sweeps now, or the node does not report a transaction's outcome. The next
 * sweeper follows the sent transaction.
 */
export class Interrupted extends Error {}

/** `refused`: it would fail, so it was not sent. */
export type Sent = Exclude<Outcome, { kind: 'unknown' }> | ({ kind: 'refused' } & TransactionFailure);

/** Why a transaction had no effect, for the log. */
export function reasonOf(sent: Sent): string | null {
  return 'message' in sent ? (sent.error ?? sent.message) : null;
}

/** Refusals by the node that no account of the transaction causes: the authority has no SOL, or the node is behind. */
const REFUSALS_OF_ALL = ['AccountNotFound', 'InsufficientFundsForFee', 'BlockhashNotFound'];

export type Sending = ReturnType<typeof createSending>;

export function createSending(deps: {
  chain: Pick<RelayChain, 'sign' | 'signMany' | 'simulate' | 'submit'>;
  transactions: SweepTransactions;
  stop: AbortSignal;
  /** How long a node may fail to report a transaction's outcome. */
  patienceMs: number;
  /** Called with the network fee of each transaction that the chain took, lamports. */
  spent(lamports: bigint): void;
  log: Logger;
}) {
  const { chain, transactions, stop, patienceMs, log } = deps;
  const trial = createVersionOneTrial(
    chain.simulate,
    log,
    'cannot simulate a transaction of version 1; records are archived by smaller ones for a minute',
  );

  async function follow(signed: SignedTransaction): Promise<Exclude<Outcome, { kind: 'unknown' }>> {
    // Somebody else may have had the same effect, so only the transaction's own status shows its outcome.
    const giveUp = new AbortController();
    const patience = setTimeout(() => giveUp.abort(), patienceMs);
    const outcome = await chain
      .submit(signed, async () => false, AbortSignal.any([giveUp.signal, stop]))
      .finally(() => clearTimeout(patience));
    if (outcome.kind === 'unknown') {
      throw new Interrupted(
        stop.aborted ? 'the relay is stopping' : 'the node does not report the outcome of a transaction',
      );
    }
    await transactions.clear(signed.signature);
    if (outcome.kind !== 'expired') deps.spent(feeOf(signed.bytes).lamports);
    return outcome;
  }

  async function sendSimulated(signed: NewTransaction, failure: TransactionFailure | null): Promise<Sent> {
    if (failure && REFUSALS_OF_ALL.includes(failure.message)) {
      throw new Error(`the node refuses the transactions of the sweeper: ${failure.message}`);
    }
    if (failure) return { kind: 'refused', ...failure };
    if (!(await transactions.store(signed))) throw new Interrupted('another relay is sweeping now');
    return follow(signed);
  }

  return {
    /**
     * Throws Interrupted if this relay may not send now, or if the node does not answer. Throws if the node refuses every
     * transaction of this relay.
     */
    async send(instructions: TransactionInstruction[], cosigner?: Keypair): Promise<Sent> {
      if (stop.aborted) throw new Interrupted('the relay is stopping');
      const signed = await chain.sign(instructions, 0n, 0, cosigner);
      return sendSimulated(signed, await chain.simulate(signed.bytes));
    },
    /** The same by a transaction of version 1, which holds more. Null if the node does not know that version. */
    async sendMany(instructions: TransactionInstruction[]): Promise<Sent | null> {
      if (stop.aborted) throw new Interrupted('the relay is stopping');
      if (trial.isPaused()) return null;
      // Without a priority fee the limit costs nothing.
      const signed = await chain.signMany(instructions, { units: MOST_UNITS, priority: 0n });
      const failure = await trial.simulate(signed.bytes);
      return failure === 'unknown' ? null : sendSimulated(signed, failure);
    },
    /** Follows the pending transactions of an earlier round or relay. */
    async finish(): Promise<void> {
      await allSettled((await transactions.pending()).map(follow));
    },
  };
}
