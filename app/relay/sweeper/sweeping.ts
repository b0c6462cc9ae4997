/** Shared by archiving and closing: batches of candidates, and a check for accounts that are gone. */
import type { PublicKey } from '@solana/web3.js';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { chunks } from '../../process/chunks.ts';
import { readMany } from '../chain/readMany.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import type { After, Candidate } from './candidates.ts';
import type { Resting } from './resting.ts';
import type { Sending } from './sending.ts';

/** Transactions of one kind per round: about ten minutes of work. Then the other kinds follow. */
const MOST_BATCHES = 500;

export interface SweepDeps {
  chain: Pick<RelayChain, 'read' | 'authority'>;
  usdcMint: PublicKey;
  views: Kysely<LedgerDatabase>;
  sending: Pick<Sending, 'send'>;
  resting: Resting;
  /** How long a candidate waits for others to share a transaction, seconds. */
  waitSeconds: number;
  /** Receives the rent that went back to its sponsors, lamports. */
  returned(lamports: number): void;
  log: Logger;
}

/**
 * Calls `run` with batches of all candidates of a kind, until it returns false. A batch that is not full waits until
 * its oldest candidate has waited long enough.
 */
export async function inBatches<Of extends Candidate>(
  deps: SweepDeps,
  now: bigint,
  find: (views: SweepDeps['views'], now: bigint, after: After) => Promise<Of[]>,
  size: number,
  run: (batch: Of[]) => Promise<boolean>,
): Promise<void> {
  let after: After = null;
  let waiting: Of[] = [];
  for (let left = MOST_BATCHES; left > 0; ) {
    const page: Of[] = await find(deps.views, now, after);
    after = page.at(-1) ?? null;
    const batches = chunks([...waiting, ...page.filter(({ address }) => !deps.resting.rests(address))], size);
    waiting = (batches.at(-1)?.length ?? size) < size ? batches.pop()! : [];
    if (!after && waiting.length > 0 && isLong(waiting, now, deps.waitSeconds)) batches.push(waiting);
    for (const batch of batches) {
      left -= 1;
      if (!(await run(batch))) return;
    }
    if (!after) return;
  }
}

function isLong(waiting: Candidate[], now: bigint, seconds: number): boolean {
  return waiting.some(({ ripe_at }) => now >= ripe_at + BigInt(seconds));
}

/** Returns how many of these accounts are gone now. Those that still exist rest for a while. */
export async function toldGone(
  { chain, resting, returned }: SweepDeps,
  named: { address: PublicKey; lamports: number }[],
): Promise<number> {
  const { accounts } = await readMany(
    chain,
    named.map(({ address }) => address),
  );
  const gone = named.filter((_, at) => !accounts[at]);
  for (const { address } of named.filter((_, at) => accounts[at])) resting.rest(address.toBase58());
  returned(gone.reduce((sum, { lamports }) => sum + lamports, 0));
  return gone.length;
}
