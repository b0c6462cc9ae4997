/**
 * Runs the indexer: looks at the chain (keeper.ts) after a notification, after a reconnect, and every few seconds in
 * case a notification was lost.
 */
import type { Logger } from 'pino';
import type { Notices } from './chain/notices.ts';
import type { Pauses } from './patience.ts';
import type { Keeper } from './repair/keeper.ts';

/** Collects the notifications of one block into one pass. */
const DEBOUNCE_MS = 4;
const POLL_MS = 3_000;
/** A node may send a notification just before it lists the transaction. Look again after SOON_MS, this many times. */
const SOON_MS = 40;
const SOON_TIMES = 25;

/** The looks at the chain so far. */
export interface Looks {
  begun: number;
  /** The number of the last look that succeeded, and the slot that it reached. */
  ended: number;
  head: bigint;
}

interface FollowOptions {
  keeper: Keeper;
  notices: Notices;
  patience: Pauses;
  looks: Looks;
  stopping: AbortSignal;
  log: Logger;
  /** Milliseconds between looks without a notification. */
  pollMs?: number | undefined;
}

/**
 * Keeps the tables up to date until the indexer is stopped. Throws ApplyError for a transaction that can never be
 * applied.
 */
export async function follow(options: FollowOptions): Promise<void> {
  const { keeper, notices, patience, looks, stopping, log } = options;
  let soon = 0;
  while (!stopping.aborted) {
    await patience.pause(soon > 0 ? SOON_MS : (options.pollMs ?? POLL_MS), 'wakeable');
    await patience.pause(DEBOUNCE_MS);
    patience.begin();
    const number = ++looks.begun;
    const head = await patience.untilDone('reading the chain', () => keeper.poll());
    if (head === undefined) return;
    Object.assign(looks, { ended: number, head });
    soon = notices.waiting() > 0 ? soon + 1 : 0;
    if (soon > SOON_TIMES) {
      log.warn({ waiting: notices.waiting() }, 'the node sent notifications for transactions that it does not list');
      notices.clear();
      keeper.hurry();
      soon = 0;
    }
  }
}
