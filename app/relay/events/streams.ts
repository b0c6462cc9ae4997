/**
 * Server-Sent Events of a wallet or of one execution. A stream begins after the event that its reader names, reads the
 * ledger up to now, and then gets each new event from the feed.
 */
import type { Response } from 'express';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import { type ExecutionView, readViews } from '../calls/executionViews.ts';
import { ApiError, tooOften } from '../errors.ts';
import { readFeed } from '../ledger/events.ts';
import { ENDED_STATES, isWaiting } from '../ledger/tables.ts';
import { invalid } from '../parse.ts';
import { eventIdOf, positionOf } from './rendering.ts';
import { endStream, isSentWhole, type Stream, type StreamDeps, USUAL_STREAMS, write } from './streamWriter.ts';

const RETRY_MS = 30_000;

/** A session has no `keyId`. `network` is that of the request's address. */
interface Reader {
  wallet: string;
  keyId?: string;
  network: string;
}

export type Streams = ReturnType<typeof createStreams>;

export interface OpenStream {
  /** Id of the event after which it begins. A reader that is disconnected before the first event resumes there. */
  after: string;
  /** Writes the events until the reader leaves or no more events can follow. */
  write(response: Response): void;
}

/** A reader whose stream is open. */
type Open = Reader & { isKnown: boolean };

/** Opens streams within the limits. All functions throw ApiError. */
export function createStreams({ ledger, views, feed, payers }: StreamDeps, settings = USUAL_STREAMS) {
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
    throw tooOften(what, RETRY_MS);
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
    /** The wallet's events from now on, or after `lastEventId`. */
    async ofWallet(reader: Reader, lastEventId: string | undefined): Promise<OpenStream> {
      const after = readPosition(lastEventId) ?? (await readFeed(ledger)).position;
      return streamOf(reader, after, { executionId: null, isOver: false });
    },
    /**
     * The events of one execution from its first on, or after `lastEventId`. Null if it has ended and no event is left.
     * Throws ApiError 404 if there is no such execution, or another wallet has it.
     */
    async ofExecution(
      reader: Reader,
      executionId: string,
      lastEventId: string | undefined,
    ): Promise<OpenStream | null> {
      const { wallet } = reader;
      const after = readPosition(lastEventId) ?? 0n;
      const [view] = await readViews(views, [parseUuid(executionId) ? executionId : '']);
      if (view?.wallet !== wallet)
        throw new ApiError('execution_not_found', 'No call of this wallet has this execution_id');
      const isOver = hasEndEvent(view);
      if (isOver && (await isSentWhole(ledger, wallet, executionId, after))) return null;
      return streamOf(reader, after, { executionId, isOver });
    },
    /** Open streams now. */
    count: () => open.size,
    /** Ends all streams; their readers resume at another relay. */
    end(): void {
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
