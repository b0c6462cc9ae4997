/**
 * How the sweeper sends: one transaction at a time, simulated so that none is paid for in vain, stored before it is
 * sent, and followed to its fate before the next is signed. It pays for no priority: nothing here is in a hurry.
 */
import type { TransactionInstruction } from '@solana/web3.js';
import type { Fate } from '../chain/confirmations.ts';
import type { TransactionFailure } from '../chain/failures.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { SweepPlace } from '../ledger/archiveSweep.ts';
import type { SignedTransaction } from '../ledger/writing.ts';

/**
 * The round ends here: the relay stops, another one sweeps now, or the node does not say what became of a transaction. What was
 * sent is followed by whoever sweeps next.
 */
export class Interrupted extends Error {}

/** `refused`: it would fail, so it was not sent. */
export type Sent = Exclude<Fate, { kind: 'unknown' }> | ({ kind: 'refused' } & TransactionFailure);

/** Why a transaction did not do what it was for, for the log. */
export function reasonOf(sent: Sent): string | null {
  return 'message' in sent ? (sent.error ?? sent.message) : null;
}

export interface Sending {
  /** Throws Interrupted where nobody may send here now, and where the node does not answer. */
  send(instructions: TransactionInstruction[]): Promise<Sent>;
  /** Follows what an earlier round, or an earlier relay, has left. */
  finish(): Promise<void>;
}

export function createSending(deps: {
  chain: Pick<RelayChain, 'sign' | 'simulate' | 'submit'>;
  place: SweepPlace;
  stop: AbortSignal;
  /** How long a node may not say what became of a transaction. */
  patienceMs: number;
}): Sending {
  const { chain, place, stop, patienceMs } = deps;

  async function follow(signed: SignedTransaction): Promise<Exclude<Fate, { kind: 'unknown' }>> {
    // What it is for can also be done by anybody else, so only its own status says what became of it.
    const giveUp = new AbortController();
    const patience = setTimeout(() => giveUp.abort(), patienceMs);
    const fate = await chain
      .submit(signed, async () => false, AbortSignal.any([giveUp.signal, stop]))
      .finally(() => clearTimeout(patience));
    if (fate.kind === 'unknown') {
      throw new Interrupted(stop.aborted ? 'the relay stops' : 'the node does not say what became of a transaction');
    }
    await place.clear(signed.signature);
    return fate;
  }

  return {
    async send(instructions) {
      if (stop.aborted) throw new Interrupted('the relay stops');
      const signed = await chain.sign(instructions, 0n);
      const failure = await chain.simulate(signed.bytes);
      if (failure) return { kind: 'refused', ...failure };
      if (!(await place.store(signed))) throw new Interrupted('another relay sweeps now');
      return follow(signed);
    },
    async finish() {
      const pending = await place.pending();
      if (pending) await follow(pending);
    },
  };
}
