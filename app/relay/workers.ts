/**
 * Work on strangers' bytes that would hold the event loop, done in threads: what is small is done at once, because handing
 * it over takes a tenth of a millisecond. There are two pools, so that no stranger's request delays a paid answer. The
 * threads belong to the process, are started when they are first needed, and keep nobody from ending it.
 */
import { concatBytes } from '@noble/hashes/utils.js';
import { Piscina } from 'piscina';
import { ApiError } from './errors.ts';
import { type Body, createQueue, inOwnTurn, piecesOf } from './longBytes.ts';

/** Who waits: somebody who asks, or a paid execution for what its creator has answered. */
type Purpose = 'requests' | 'answers';

/** Inputs that wait. One of a request is 1 MiB at the most, one of an answer 5 MiB. */
const MAX_WAITING: Record<Purpose, number> = { requests: 64, answers: 256 };
/** Waiting and working together. The hardest work takes about half a second. */
const PATIENCE_MS: Record<Purpose, number> = { requests: 30_000, answers: 60_000 };
/** So that nothing that is read in a thread makes the whole relay run out of memory. */
const MAX_HEAP_MB = 512;
/** A thread that has nothing to do for so long ends, and gives its memory back. */
const IDLE_MS = 300_000;
/** Long inputs that are copied for a thread: the one that it works on, and the next. */
const PREPARED = 2;
/** When a request that found no room may come again. */
const RETRY_SECONDS = 2;

const pools = new Map<Purpose, Piscina>();

/** Starts the threads before anybody needs them: reading what they run takes a second or two. */
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
    // A thread needs none of the settings, which hold secrets.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  // What goes wrong is told to whoever asked; a thread that dies is replaced.
  pool.on('error', () => undefined);
  pools.set(purpose, pool);
  return pool;
}

/**
 * A function of a module as one that can be run in a thread: exported there by its own name, without state that matters,
 * and with an input and output that can be copied. Rejects with ApiError 503 where a request's work cannot be done
 * now; an answer's is not lost by that, because whoever has the answer asks again.
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
      throw new ApiError('service_unavailable', 'The service has too much to read at the moment', {
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
  };
}

const inPreparation = createQueue(PREPARED);

/**
 * A function of answers like these whose bytes, of any length, are its first argument and come in one: they are copied for the
 * thread a piece at a time, each in a turn of the event loop of its own. Whoever gives them keeps them.
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
            // A view would be sent with all that it is a view of.
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

/** What the pool says of a full queue, and of a thread that has ended. */
const GIVEN_UP = /^(Task queue is at limit|Terminating worker thread|worker exited with code: \d+)$/;

/** Whether the pool gave up, and not the function. */
function isOurs({ name, code, message }: NodeJS.ErrnoException): boolean {
  return name === 'AbortError' || code === 'ERR_WORKER_OUT_OF_MEMORY' || GIVEN_UP.test(message);
}
