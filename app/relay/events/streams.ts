/**
 * Server-Sent Events of a wallet or of one execution. A stream begins after the event that its reader names, reads the
 * ledger up to now, and then gets each new event from the feed.
 */
import type { Response } from 'express';
import type { Kysely } from 'kysely';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import { renderEvent } from '../../sdk/wire/eventStream.ts';
import { isEnd } from '../../sdk/wire/events.ts';
import { type ExecutionView, readViews } from '../calls/executionViews.ts';
import { ApiError } from '../errors.ts';
import { type EventRow, readEvents, readEventsOf, readFeed } from '../ledger/events.ts';
import type { Payers } from '../ledger/payers.ts';
import { ENDED_STATES, isWaiting, type LedgerDatabase, type LedgerTables } from '../ledger/tables.ts';
import { invalid } from '../parse.ts';
import { drained } from '../waiting.ts';
import type { Feed, Listener } from './feed.ts';
import { eventIdOf, positionOf, toEvent } from './rendering.ts';

/** Events read at once after the named one. */
const PAGE = 100;
const RETRY_SECONDS = 30;

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

export interface StreamDeps {
  ledger: Kysely<LedgerTables>;
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  feed: Pick<Feed, 'listen' | 'leave'>;
  payers: Pick<Payers, 'isKnown'>;
}

/** A session has no `keyId`. `network` is that of the request's address. */
interface Reader {
  wallet: string;
  keyId?: string;
  network: string;
}

export interface Streams {
  /** The wallet's events from now on, or after `lastEventId`. */
  ofWallet(reader: Reader, lastEventId: string | undefined): Promise<OpenStream>;
  /**
   * The events of one execution from its first on, or after `lastEventId`. Null if it has ended and no event is left.
   * Throws ApiError 404 if there is no such execution, or another wallet has it.
   */
  ofExecution(reader: Reader, executionId: string, lastEventId: string | undefined): Promise<OpenStream | null>;
  /** Open streams now. */
  count(): number;
  /** Ends all streams; their readers resume at another relay. */
  end(): void;
}

export interface OpenStream {
  /** Id of the event after which it begins. A reader that is disconnected before the first event resumes there. */
  after: string;
  /** Writes the events until the reader leaves or no more events can follow. */
  write(response: Response): void;
}

/** A reader whose stream is open. */
type Open = Reader & { isKnown: boolean };

/** Opens streams within the limits. All functions throw ApiError. */
export function createStreams({ ledger, views, feed, payers }: StreamDeps, settings = USUAL_STREAMS): Streams {
  const open = new Map<Response, Open>();

  async function requireRoom({ wallet, keyId, network }: Reader): Promise<boolean> {
    const isKnown = await payers.isKnown(wallet);
    const alike = [...open.values()].filter((other) => other.isKnown === isKnown);
    const own = alike.filter((other) => other.wallet === wallet);
    const ofKey = own.filter((other) => other.keyId === keyId).length;
    const isKeyFull = keyId !== undefined && ofKey >= settings.perKey;
    const isWalletFull = own.length >= settings.perWallet;
    const isFull = alike.length >= (isKnown ? settings.total : settings.ofStrangers);
    if (!isKeyFull && !isWalletFull && (!isFull || endOneOf(isKnown, { wallet, network }))) return isKnown;
    const what = isKeyFull
      ? `This API key has ${ofKey} open event streams, the maximum. Close one.`
      : isWalletFull
        ? `This wallet has ${own.length} open event streams, the maximum. Close one.`
        : `This service has too many open event streams${isKnown ? '' : ' of wallets that have not paid for a call yet'}.`;
    throw new ApiError('rate_limited', `${what} Retry in ${RETRY_SECONDS} s.`, { retryAfterSeconds: RETRY_SECONDS });
  }

  /**
   * Ends the oldest stream of the wallet with the most, if it has more than this reader will have. Its reader resumes
   * once there is room. Wallets that have not paid cost nothing, so for them the networks share first, and then the
   * wallets of one network.
   */
  function endOneOf(isKnown: boolean, { wallet, network }: Pick<Reader, 'wallet' | 'network'>): boolean {
    const alike = [...open].filter(([, other]) => other.isKnown === isKnown);
    const ofNetwork = isKnown ? null : ofMost(alike, 'network', network);
    const rivals = isKnown ? alike : alike.filter(([, other]) => other.network === network);
    const ofWallet = ofNetwork ? ofMost(ofNetwork, 'wallet') : ofMost(rivals, 'wallet', wallet);
    const [oldest] = ofWallet ?? [];
    if (!oldest) return false;
    open.delete(oldest[0]);
    endStream(oldest[0], settings);
    return true;
  }

  async function streamOf(
    { wallet, keyId, network }: Reader,
    after: bigint,
    of: Pick<Stream, 'executionId' | 'isOver'>,
  ): Promise<OpenStream> {
    const isKnown = await requireRoom({ wallet, keyId, network });
    return {
      after: eventIdOf(after),
      write(response) {
        open.set(response, { wallet, keyId, network, isKnown });
        write(response, { wallet, ...of, after, settings, ledger, feed }).catch(() => response.destroy());
        response.once('close', () => open.delete(response));
      },
    };
  }

  return {
    async ofWallet(reader, lastEventId) {
      const after = readPosition(lastEventId) ?? (await readFeed(ledger)).position;
      return streamOf(reader, after, { executionId: null, isOver: false });
    },
    async ofExecution(reader, executionId, lastEventId) {
      const { wallet } = reader;
      const after = readPosition(lastEventId) ?? 0n;
      const [view] = await readViews(views, [parseUuid(executionId) ? executionId : '']);
      if (view?.wallet !== wallet)
        throw new ApiError('execution_not_found', 'No execution of this wallet has this execution_id');
      const isOver = hasEndEvent(view);
      if (isOver && (await isToldWhole(ledger, wallet, executionId, after))) return null;
      return streamOf(reader, after, { executionId, isOver });
    },
    count: () => open.size,
    end() {
      for (const response of open.keys()) endStream(response, settings);
    },
  };
}

/**
 * The streams of the wallet or network with the most, oldest first. Null if `own` would have as many with one more
 * stream.
 */
function ofMost<Of extends readonly [Response, Open]>(
  streams: Of[],
  by: 'wallet' | 'network',
  own?: string,
): Of[] | null {
  const groups = new Map<string, Of[]>();
  for (const stream of streams) groups.set(stream[1][by], [...(groups.get(stream[1][by]) ?? []), stream]);
  const [most = []] = [...groups.values()].sort((one, other) => other.length - one.length);
  const fair = own === undefined ? 0 : (groups.get(own)?.length ?? 0) + 1;
  return most.length > fair ? most : null;
}

/** Ends it. The connection of a reader that takes nothing would stay otherwise. */
function endStream(response: Response, { takeMs }: StreamSettings): void {
  response.setTimeout(takeMs, () => response.destroy());
  response.end();
}

/** Throws ApiError 400 if it is not an event's id. */
function readPosition(lastEventId: string | undefined): bigint | null {
  if (lastEventId === undefined || lastEventId === '') return null;
  const position = positionOf(lastEventId);
  if (position !== null) return position;
  const expected = 'must be the id of an event, such as evt_42';
  throw invalid(`The header "Last-Event-ID" ${expected}`, {
    in: 'header',
    path: 'Last-Event-ID',
    expected,
    got: JSON.stringify(lastEventId.slice(0, 60)),
  });
}

/** True if the end event was written, or never will be. The index may show the end before the journal writes it. */
function hasEndEvent({ status, state, refund_state }: ExecutionView): boolean {
  if (state === null) return status !== 'pending' && status !== 'running';
  return ENDED_STATES.includes(state) || isWaiting({ refund_state });
}

/** True if an ended execution has no event after this position, and none without a position. */
async function isToldWhole(
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

interface Stream extends Pick<StreamDeps, 'ledger' | 'feed'> {
  wallet: string;
  /** Null for all events of the wallet. */
  executionId: string | null;
  /** True if the execution's end was reported before, so that a reader may have it already. */
  isOver: boolean;
  after: bigint;
  settings: StreamSettings;
}

async function write(response: Response, stream: Stream): Promise<void> {
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
  function tell(rows: readonly EventRow[]): boolean {
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
    if (response.writableEnded || tell(rows) || executionId === null || !isOver) return;
    if (await isToldWhole(ledger, wallet, executionId, cursor)) endStream(response, settings);
  }

  /** Writes the ledger's events after the cursor, in batches, as fast as the reader takes them. */
  async function catchUp(): Promise<void> {
    for (let page = PAGE; page === PAGE && !response.writableEnded && !response.destroyed; ) {
      const rows = executionId
        ? await readEventsOf(ledger, { wallet, executionId }, cursor, PAGE)
        : await readEvents(ledger, [wallet], cursor, PAGE);
      page = rows.length;
      for (const row of rows) {
        if (tell([row])) return;
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
