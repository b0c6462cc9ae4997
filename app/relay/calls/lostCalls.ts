/**
 * The calls that this ledger may lack, because it was lost or restored. The chain has them: the index once it has caught
 * up, the accounts at once. Until then no Idempotency-Key that the ledger does not know can begin a call, because an
 * earlier call with it may exist, or its open may still land.
 */
import type { Logger } from 'pino';
import { attachedIndex, type IndexProgress, isBehind, lagOf, readProgress } from '../../../indexer/queries/read.ts';
import { constants } from '../../sdk/program/program.ts';
import { type ApiError, retryLater } from '../errors.ts';
import { OPEN_WINDOW_SECONDS } from '../execution/sign.ts';
import { lacksCalls, lacksSlots } from '../ledger/lostCalls.ts';
import type { Databases } from '../ledger/tables.ts';
import type { Now } from '../waiting.ts';

/** How long a key stays bound at least, and the longest timeout of a call. */
const SPAN_SECONDS = 86_400 + constants.maxTimeoutSecondsMax;
/** Slots in that time; a slot takes 200 ms or more. */
const SPAN_SLOTS = BigInt(SPAN_SECONDS * 5);

const RETRY_INDEX_SECONDS = 5;
const RETRY_CAUGHT_UP_SECONDS = 2;
const RETRY_GAP_SECONDS = 600;

export type LostCalls = ReturnType<typeof createLostCalls>;

/** A ledger that lacks calls. */
interface Loss {
  /** Unix seconds on the chain's clock: until then, opens that the ledger lacks can land. */
  opensUntil: bigint;
  /** When that had passed, unix milliseconds; null before. */
  passedMs: number | null;
  /** The index knows all of them. */
  isCaughtUp: boolean;
  /** Until then, unix seconds, the accounts of a key's calls are read as well. */
  until: bigint;
}

interface LostCallsDeps extends Pick<Databases, 'views'>, Now {
  /** The chain's clock now, unix seconds. */
  clock(): bigint;
  log: Logger;
}

export function createLostCalls({ views, clock, now, log }: LostCallsDeps) {
  /** Null if the ledger lacks nothing; undefined before that is known. */
  let loss: Loss | null | undefined;
  const start = clock();

  async function compare(): Promise<Loss | null> {
    if (!(await lacksCalls(views, start - BigInt(SPAN_SECONDS)))) return null;
    log.error(
      'the ledger lacks calls that the chain has, so it was lost or restored; requests with an unknown Idempotency-Key are refused until the index knows these calls',
    );
    return {
      opensUntil: start + OPEN_WINDOW_SECONDS,
      passedMs: null,
      isCaughtUp: false,
      until: start + BigInt(SPAN_SECONDS),
    };
  }

  async function catchUp(lost: Loss, progress: IndexProgress): Promise<void> {
    const left = Number(lost.opensUntil - clock());
    if (left >= 0) throw restored(left + 1);
    lost.passedMs ??= now();
    if (progress.checked_at <= BigInt(lost.passedMs)) throw restored(RETRY_CAUGHT_UP_SECONDS);
    if (await lacksSlots(views, progress.slot - SPAN_SLOTS)) throw restored(RETRY_GAP_SECONDS);
    lost.isCaughtUp = true;
    log.info('the index knows all calls that the ledger lacks; every Idempotency-Key is accepted again');
  }

  return {
    /**
     * Throws ApiError 503 while a call may exist that neither the ledger nor the index knows. The first request decides
     * if the ledger lacks calls, by a current index.
     */
    async requireKnown(): Promise<void> {
      if (loss === null || loss?.isCaughtUp) return;
      const progress = await readProgress(attachedIndex(views));
      if (!progress || isBehind(lagOf(progress, now()))) throw indexBehind();
      loss ??= await compare();
      if (loss && !loss.isCaughtUp) await catchUp(loss, progress);
    },
    /** True for a day and the longest timeout after a start with a ledger that lacks calls. */
    mayLack: (): boolean => !!loss && clock() < loss.until,
  };
}

const restored = (retryAfterSeconds: number): ApiError =>
  retryLater(
    'The service has lost its latest calls, and looks for them on the chain. Until then it accepts no new Idempotency-Key. Nothing was charged.',
    retryAfterSeconds,
  );

const indexBehind = (): ApiError =>
  retryLater(
    'The service has started, and its index of the chain is behind. Until it has caught up, no new Idempotency-Key is accepted. Nothing was charged.',
    RETRY_INDEX_SECONDS,
  );
