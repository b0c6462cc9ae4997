/**
 * How long a block takes to become final on the cluster. Everything that money, rows or answers depend on is read at
 * `finalized`, so each wait and margin that contains a finality is derived from this value. A process reads it once, at
 * its start.
 */
import { hasGenesisCertificate } from './calls.ts';
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

/** Asks the nodes in turn until one answers. Throws the last error. A node that is too old to know counts as slow. */
export async function readFinality(rpcUrls: readonly string[]): Promise<Finality> {
  const send = createPatientFetch(new AbortController().signal, createRpcFetch());
  let last: unknown;
  for (const url of rpcUrls) {
    try {
      return (await hasGenesisCertificate({ send, url })) ? FAST : SLOW;
    } catch (error) {
      last = error;
    }
  }
  throw last;
}
