/**
 * Numbers new events, and passes them on to the open streams of this process. Every relay does so: the first one
 * numbers an event, and all read it from the ledger.
 */
import type { GroupCommit } from '../../database/groupCommit.ts';
import { type EventRow, numberEvents, readEvents, readFeed } from '../ledger/events.ts';
import type { Databases } from '../ledger/tables.ts';
import type { Now } from '../waiting.ts';

/** Events read at once. */
const READ_AT_ONCE = 500;

interface FeedDeps extends Pick<Databases, 'ledger'>, Now {
  writes: Pick<GroupCommit, 'underLocks'>;
}

export interface Listener {
  wallet: string;
  /** From now on the listener gets every event after this position. */
  joined(position: bigint): void;
  /** The wallet's next events, in order. */
  take(events: readonly EventRow[]): void;
}

export type Feed = ReturnType<typeof createFeed>;

export function createFeed({ ledger, writes, now }: FeedDeps) {
  const joining = new Set<Listener>();
  const listeners = new Set<Listener>();
  /** The last event that was passed on. */
  let shown = 0n;
  let turning: Promise<void> | null = null;

  /** Listeners join only between two queries, because a query in progress does not include the wallet of a new one. */
  function letJoin(): void {
    for (const listener of joining) {
      listeners.add(listener);
      listener.joined(shown);
    }
    joining.clear();
  }

  async function passOn(): Promise<void> {
    const { position } = await readFeed(ledger);
    if (listeners.size === 0) shown = position;
    letJoin();
    while (shown < position) {
      const wallets = [...new Set([...listeners].map(({ wallet }) => wallet))];
      const rows = await readEvents(ledger, wallets, shown, READ_AT_ONCE);
      shown = rows.length < READ_AT_ONCE ? position : rows.at(-1)!.position;
      for (const listener of listeners) {
        const own = rows.filter((row) => row.wallet === listener.wallet);
        if (own.length > 0) listener.take(own);
      }
      letJoin();
    }
  }

  async function turnOnce(): Promise<void> {
    while (await numberEvents(ledger, writes, now()));
    await passOn();
  }

  /** Numbers the new events and passes them on, now. */
  function turn(): Promise<void> {
    turning ??= turnOnce().finally(() => {
      turning = null;
    });
    return turning;
  }

  return {
    turn,
    /** The listener joins with the next turn. */
    listen: (listener: Listener): void => void joining.add(listener),
    leave(listener: Listener): void {
      joining.delete(listener);
      listeners.delete(listener);
    },
  };
}
