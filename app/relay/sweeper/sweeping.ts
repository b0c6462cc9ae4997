/** Shared by archiving and closing: batches of candidates, and a check for accounts that are gone. */
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import { chunks } from '../../process/chunks.ts';
import { ownAccount } from '../../sdk/program/program.ts';
import { readMany } from '../chain/readMany.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { Databases } from '../ledger/tables.ts';
import { allSettled } from '../waiting.ts';
import type { After, Candidate } from './candidates.ts';
import type { Resting } from './resting.ts';
import type { Sending } from './sending.ts';

/** Transactions of one kind per round: some minutes of work. Then the other kinds follow. */
const MOST_BATCHES = 2_000;

export interface SweepDeps extends Pick<Databases, 'views'> {
  chain: Pick<RelayChain, 'read' | 'authority'>;
  usdcMint: PublicKey;
  sending: Pick<Sending, 'send' | 'sendMany'>;
  resting: Resting;
  /** Transactions in flight at a time. */
  inFlight: number;
  /** How long a candidate waits for others to share a transaction, seconds. */
  waitSeconds: number;
  /** Receives the rent that went back to its sponsors, lamports. */
  returned(lamports: number): void;
  log: Logger;
}

/**
 * Calls `run` with batches of all candidates of a kind, several at a time, until it returns false. Each candidate is in
 * one batch.
 */
export async function inBatches<Of extends Candidate>(
  deps: SweepDeps,
  now: bigint,
  find: Find<Of>,
  size: number,
  run: (batch: Of[]) => Promise<boolean>,
): Promise<void> {
  // All workers take from one iterator. One that leaves its loop ends the iterator for the others too.
  const batches = batchesOf(deps, now, find, size);
  const work = async () => {
    for await (const batch of batches) if (!(await run(batch))) return;
  };
  await allSettled(Array.from({ length: deps.inFlight }, work));
}

type Find<Of> = (views: SweepDeps['views'], now: bigint, after: After) => Promise<Of[]>;

/** Batches of all candidates of a kind. One that is not full waits until its oldest candidate has waited long enough. */
async function* batchesOf<Of extends Candidate>(
  { views, resting, waitSeconds }: SweepDeps,
  now: bigint,
  find: Find<Of>,
  size: number,
): AsyncGenerator<Of[], void> {
  let after: After = null;
  let waiting: Of[] = [];
  let left = MOST_BATCHES;
  do {
    const page: Of[] = await find(views, now, after);
    after = page.at(-1) ?? null;
    const batches = chunks([...waiting, ...page.filter(({ address }) => !resting.rests(address))], size);
    waiting = (batches.at(-1)?.length ?? size) < size ? batches.pop()! : [];
    if (!after && waiting.length > 0 && isLong(waiting, now, waitSeconds)) batches.push(waiting);
    for (const batch of batches.slice(0, left)) yield batch;
    left -= batches.length;
  } while (after && left > 0);
}

function isLong(waiting: Candidate[], now: bigint, seconds: number): boolean {
  return waiting.some(({ ripe_at }) => now >= ripe_at + BigInt(seconds));
}

/** Returns how many of these accounts are gone now. Those that still exist rest for a while. */
export async function reportedGone(
  { chain, resting, returned }: SweepDeps,
  named: { address: PublicKey; lamports: number }[],
): Promise<number> {
  const { accounts } = await readMany(
    chain,
    named.map(({ address }) => address),
  );
  const isGone = (at: number) => !ownAccount(accounts[at]);
  const gone = named.filter((_, at) => isGone(at));
  for (const { address } of named.filter((_, at) => !isGone(at))) resting.rest(address.toBase58());
  returned(gone.reduce((sum, { lamports }) => sum + lamports, 0));
  return gone.length;
}
