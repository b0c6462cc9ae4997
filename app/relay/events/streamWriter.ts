/** Writes one event stream: the events of the ledger up to now, then those of the feed. */
import type { Response } from 'express';
import type { Kysely } from 'kysely';
import { renderEvent } from '../../sdk/wire/eventStream.ts';
import { isEnd } from '../../sdk/wire/events.ts';
import { type EventRow, readEvents, readEventsOf } from '../ledger/events.ts';
import type { Payers } from '../ledger/payers.ts';
import type { Databases, LedgerTables } from '../ledger/tables.ts';
import { drained } from '../waiting.ts';
import type { Feed, Listener } from './feed.ts';
import { eventIdOf, toEvent } from './rendering.ts';

/** Events read at once after the named one. */
const PAGE = 100;

export interface StreamSettings {
  /** Open streams of one API key at one relay. */
  perKey: number;
  /** The same for all keys and sessions of one wallet. */
  perWallet: number;
  /** Open streams at one relay of wallets that have paid or have a listing. */
  total: number;
  /** The same for all other wallets, because creating one is free. */
  ofStrangers: number;
  /** Interval of the comments that show proxies and readers that the stream lives. */
  heartbeatMs: number;
  /** Maximum life of a stream. Its reader resumes it, so that an ended key or session is noticed. */
  longestMs: number;
  /** A reader with more unread bytes than this is disconnected, and resumes where it was. */
  untakenBytes: number;
  /** A reader of an ended stream that takes none of its last bytes for this long is disconnected. */
  takeMs: number;
}

export const USUAL_STREAMS: StreamSettings = {
  perKey: 10,
  perWallet: 20,
  total: 1_000,
  ofStrangers: 100,
  heartbeatMs: 15_000,
  longestMs: 10 * 60_000,
  untakenBytes: 256 * 1024,
  takeMs: 30_000,
};

export interface StreamDeps extends Databases {
  feed: Pick<Feed, 'listen' | 'leave'>;
  payers: Pick<Payers, 'isKnown'>;
}

export interface Stream extends Pick<StreamDeps, 'ledger' | 'feed'> {
  wallet: string;
  /** Null for all events of the wallet. */
  executionId: string | null;
  /** True if the execution's end was reported before, so that a reader may have it already. */
  isOver: boolean;
  after: bigint;
  settings: StreamSettings;
}

export async function write(response: Response, stream: Stream): Promise<void> {
  const { wallet, executionId, isOver, settings, ledger, feed } = stream;
  let cursor = stream.after;
  /** Events that the feed passed on while older ones were read; null once those are read. */
  let early: EventRow[] | null = [];
  // Each event is small. `writableLength` counts the bytes that the connection has not taken yet.
  const put = (text: string) => {
    // An ended response must not be written to, and is still open while its reader takes the last bytes.
    if (response.writableEnded || response.destroyed) return;
    if (response.writableLength > settings.untakenBytes) response.destroy();
    else response.write(text);
  };

  /** Returns true if the stream ends here. */
  function report(rows: readonly EventRow[]): boolean {
    for (const row of rows) {
      if (row.position <= cursor || (executionId !== null && row.execution_id !== executionId)) continue;
      cursor = row.position;
      const event = toEvent(row);
      put(renderEvent(event.type, JSON.stringify(event), event.id));
      if (executionId === null || !isEnd(event)) continue;
      endStream(response, settings);
      return true;
    }
    return false;
  }

  /** Writes new events. After an execution's end only dispute events can follow, and the stream ends after them. */
  async function follow(rows: readonly EventRow[]): Promise<void> {
    if (response.writableEnded || report(rows) || executionId === null || !isOver) return;
    if (await isSentWhole(ledger, wallet, executionId, cursor)) endStream(response, settings);
  }

  /** Writes the ledger's events after the cursor, in batches, as fast as the reader takes them. */
  async function catchUp(): Promise<void> {
    for (let page = PAGE; page === PAGE && !response.writableEnded && !response.destroyed; ) {
      const rows = executionId
        ? await readEventsOf(ledger, { wallet, executionId }, cursor, PAGE)
        : await readEvents(ledger, [wallet], cursor, PAGE);
      page = rows.length;
      for (const row of rows) {
        if (report([row])) return;
        if (response.writableNeedDrain) await drained(response);
      }
    }
  }

  const listener: Listener = {
    wallet,
    joined(position) {
      const caughtUp = position > cursor ? catchUp() : Promise.resolve();
      caughtUp
        .then(() => {
          const rows = early ?? [];
          early = null;
          return follow(rows);
        })
        .catch(() => response.destroy());
    },
    take(rows) {
      if (early) early.push(...rows);
      else follow(rows).catch(() => response.destroy());
    },
  };
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) put(': alive\n\n');
  }, settings.heartbeatMs);
  const limit = setTimeout(() => endStream(response, settings), settings.longestMs);
  response.once('close', () => {
    clearInterval(heartbeat);
    clearTimeout(limit);
    feed.leave(listener);
  });
  put(`retry: 1000\nid: ${eventIdOf(cursor)}\n\n`);
  await catchUp();
  await follow([]);
  if (!response.writableEnded && !response.destroyed) feed.listen(listener);
}

/** Ends it. The connection of a reader that takes nothing would stay otherwise. */
export function endStream(response: Response, { takeMs }: StreamSettings): void {
  response.setTimeout(takeMs, () => response.destroy());
  response.end();
}

/** True if an ended execution has no event after this position, and none without a position. */
export async function isSentWhole(
  ledger: Kysely<LedgerTables>,
  wallet: string,
  executionId: string,
  after: bigint,
): Promise<boolean> {
  const left = await ledger
    .selectFrom('events')
    .select('id')
    .where('execution_id', '=', executionId)
    .where('wallet', '=', wallet)
    .where(({ or, eb }) => or([eb('position', 'is', null), eb('position', '>', after)]))
    .limit(1)
    .execute();
  return left.length === 0;
}
