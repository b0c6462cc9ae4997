/**
 * Runs work on strangers' bytes in threads, if it would block the event loop. Small work runs in the main thread,
 * because a transfer takes a tenth of a millisecond. There are two pools, so that no stranger's request delays a paid
 * answer. The threads start when they are first needed, and do not keep the process alive.
 */
import { concatBytes } from '@noble/hashes/utils.js';
import { Piscina } from 'piscina';
import { ApiError } from './errors.ts';
import { type Body, createQueue, inOwnTurn, piecesOf } from './longBytes.ts';

/** The purpose of a pool: requests, or creators' answers of paid executions. */
type Purpose = 'requests' | 'answers';

/** Maximum waiting inputs. A request is at most 1 MiB, an answer at most 5 MiB. */
const MAX_WAITING: Record<Purpose, number> = { requests: 64, answers: 256 };
/** Maximum time of waiting and working together. The hardest work takes about half a second. */
const PATIENCE_MS: Record<Purpose, number> = { requests: 30_000, answers: 60_000 };
/** Heap limit, so that work in a thread cannot use up the relay's memory. */
const MAX_HEAP_MB = 512;
/** An idle thread ends after this time, and frees its memory. */
const IDLE_MS = 300_000;
/** Long inputs copied for a thread: the current one and the next. */
const PREPARED = 2;
/** Retry delay for a request that found no room. */
const RETRY_SECONDS = 2;

const pools = new Map<Purpose, Piscina>();

/** Starts the threads before the first use: loading their code takes a second or two. */
export function warmThreads(): void {
  const moduleUrl = import.meta.url;
  for (const purpose of ['requests', 'answers'] as const) {
    void poolOf(purpose)
      .run({ moduleUrl, name: nothing.name })
      .catch(() => undefined);
  }
}

export function nothing(): void {}

function poolOf(purpose: Purpose): Piscina {
  const known = pools.get(purpose);
  if (known) return known;
  const pool = new Piscina({
    filename: new URL('./workerThread.mjs', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: MAX_WAITING[purpose],
    idleTimeout: IDLE_MS,
    execArgv: [],
    // A thread needs none of the settings, which contain secrets.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  // The caller gets every error; a dead thread is replaced.
  pool.on('error', () => undefined);
  pools.set(purpose, pool);
  return pool;
}

/**
 * Makes a function of a module runnable in a thread. The module must export it by its own name, without relevant state,
 * and its input and output must be copyable. Rejects with ApiError 503 if a request's work cannot be done now. An
 * answer is not lost in that case, because its owner asks again.
 */
export function inThread<Input, Output>(
  purpose: Purpose,
  moduleUrl: string,
  run: (input: Input) => Output,
): (input: Input) => Promise<Output> {
  return async (input) => {
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS[purpose]);
      return (await poolOf(purpose).run({ moduleUrl, name: run.name, input }, { signal })) as Output;
    } catch (error) {
      if (purpose === 'answers' || !isOurs(error as NodeJS.ErrnoException)) throw error;
      throw new ApiError('service_unavailable', `Too many large requests at once. Retry in ${RETRY_SECONDS} s.`, {
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
  };
}

const inPreparation = createQueue(PREPARED);

/**
 * The same for answers: their bytes, of any length, are the first argument and arrive joined. They are copied for the
 * thread piece by piece, each in its own turn of the event loop. The caller keeps its bytes.
 */
export function bytesInThread<Input, Output>(
  moduleUrl: string,
  run: (bytes: Uint8Array, input: Input) => Output,
): (body: Body, input: Input) => Promise<Output> {
  return (body, input) =>
    inPreparation(async () => {
      const { port1, port2 } = new MessageChannel();
      try {
        for (const piece of piecesOf(body)) {
          await inOwnTurn(() => {
            // Posting a view would send its whole buffer.
            const copy = concatBytes(...piece);
            port1.postMessage(copy, [copy.buffer]);
          });
        }
        const signal = AbortSignal.timeout(PATIENCE_MS.answers);
        const task = { moduleUrl, name: run.name, input, bytes: port2 };
        return (await poolOf('answers').run(task, { signal, transferList: [port2] })) as Output;
      } finally {
        port1.close();
      }
    });
}

/** The pool's messages for a full queue and an ended thread. */
const GIVEN_UP = /^(Task queue is at limit|Terminating worker thread|worker exited with code: \d+)$/;

/** True if the pool failed, not the function. */
function isOurs({ name, code, message }: NodeJS.ErrnoException): boolean {
  return name === 'AbortError' || code === 'ERR_WORKER_OUT_OF_MEMORY' || GIVEN_UP.test(message);
}
