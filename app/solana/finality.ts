/**
 * How long a block takes to become final on the cluster. Everything that money, rows or answers depend on is read at
 * `finalized`, so each wait and margin that contains a finality is derived from this value. A process reads it once, at
 * its start.
 */
import { Refused, readGenesisCertificate } from './calls.ts';
import { createPatientFetch, createRpcFetch } from './rpc.ts';

export interface Finality {
  /** True on a cluster with Alpenglow. */
  isFast: boolean;
  /** Milliseconds from a transaction's block until the block is final. */
  ms: number;
}

/** Alpenglow finalizes a block some 150 ms after it was made; the rest is the way to the node and back. */
export const FAST: Finality = { isFast: true, ms: 500 };
/** Without Alpenglow, 31 more blocks follow first. 14 s were measured. */
export const SLOW: Finality = { isFast: false, ms: 14_000 };

/**
 * Asks the nodes in turn until one knows. If all that answer are too old to know, or do not pass the question on,
 * `onUnknown` is called and the cluster counts as slow. Throws if a node that might know does not answer.
 */
export async function readFinality(rpcUrls: readonly string[], onUnknown: () => void): Promise<Finality> {
  const send = createPatientFetch(new AbortController().signal, createRpcFetch());
  let silence: unknown = null;
  for (const url of rpcUrls) {
    try {
      return (await readGenesisCertificate({ send, url })) ? FAST : SLOW;
    } catch (error) {
      if (!(error instanceof Refused)) silence = error;
    }
  }
  if (silence !== null) throw silence;
  onUnknown();
  return SLOW;
}
