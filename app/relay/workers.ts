/**
 * Runs work on untrusted bytes in threads, if it would block the event loop. Small work runs in the main thread,
 * because a transfer takes a tenth of a millisecond. Each lane has its own thread and queue, so paid work never waits
 * for unpaid work. The threads start when they are first needed, and do not keep the process alive.
 */
import { tmpdir } from 'node:os';
import { concatBytes } from '@noble/hashes/utils.js';
import { Piscina } from 'piscina';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { type ApiError, retryLater, tooOften } from './errors.ts';
import { createLane, type Lane, LaneFull, type LaneLimits } from './lanes.ts';
import { type Body, createQueue } from './longBytes.ts';

/**
 * Calls of wallets that have paid before; calls with a key of any other wallet; everybody else's requests; and creators'
 * answers of paid executions.
 */
type LaneName = 'paid' | 'newcomers' | 'strangers' | 'answers';

interface LaneSettings extends LaneLimits {
  /** Timeout of one piece of work. The work's own limits end it long before. */
  runMs: number;
}

/** A request is at most 1 MiB, an answer at most 5 MiB. */
const LANES: Record<LaneName, LaneSettings> = {
  // Body and parameters of a call may each wait, so a paying caller learns within a second that it must retry.
  paid: { waiting: 256, ofOne: 128, waitMs: 500, runMs: 10_000 },
  newcomers: { waiting: 256, ofOne: 128, waitMs: 500, runMs: 10_000 },
  strangers: { waiting: 128, ofOne: 64, waitMs: 1_000, runMs: 10_000 },
  // After this time the relay asks the creator again.
  answers: { waiting: 256, ofOne: 256, waitMs: 60_000, runMs: 60_000 },
};
/** Processor milliseconds per `duration` seconds: half of the time for a wallet, a tenth for an IP address. */
const SHARES = {
  paid: { points: 15_000, duration: 30 },
  newcomers: { points: 15_000, duration: 30 },
  strangers: { points: 3_000, duration: 30 },
};
/** Heap limit, so that work in a thread cannot use up the relay's memory. */
const MAX_HEAP_MB = 512;
/** An idle thread ends after this time, and frees its memory. */
const IDLE_MS = 300_000;
/** Long inputs copied for a thread: the current one and the next. */
const PREPARED = 2;
/** Retry delay for a request that its lane refused. */
const RETRY_SECONDS = 2;

/** The party that work is done for. */
export interface Asker {
  lane: keyof typeof SHARES;
  /** Name of the asker in the lane's queue. */
  name: string;
  /** The wallet or address whose time is limited; null if nobody's is. */
  limited: string | null;
}

/** Called only if a thread is needed. */
export type Ask = () => Promise<Asker>;

/** The service's own work on untrusted input. */
export const ownWork: Ask = async () => ({ lane: 'strangers', name: '', limited: null });

interface Pool {
  threads: Piscina;
  queue: Lane;
  /** Resolves when its thread has started for the first time. */
  ready: Promise<unknown>;
}

const pools = new Map<LaneName, Pool>();
const refused: Record<Asker['lane'], number> = { paid: 0, newcomers: 0, strangers: 0 };

/** Requests that were refused by their lane, or whose thread failed, since this process started. */
export const refusedRequests = (): Readonly<typeof refused> => refused;

/** Number of waiting pieces of work in each lane. */
export const waitingWork = (): [lane: string, count: number][] =>
  Object.keys(LANES).map((lane) => [lane, pools.get(lane as LaneName)?.queue.waiting() ?? 0]);

/** Starts the threads before the first use: loading their code takes a second or two. */
export function warmThreads(): void {
  for (const lane of Object.keys(LANES) as LaneName[]) poolOf(lane);
}

/** Ends the threads once their code is loaded: Node 20 crashes if the process exits while a thread loads modules. */
export async function endThreads(): Promise<void> {
  await Promise.all([...pools.values()].map(({ ready }) => ready));
  await Promise.all([...pools.values()].map(({ threads }) => threads.destroy()));
}

function poolOf(lane: LaneName): Pool {
  const known = pools.get(lane);
  if (known) return known;
  const threads = new Piscina({
    filename: new URL('./workerThread.mjs', import.meta.url).href,
    // After a quiet time, a call must not wait for a thread to start.
    minThreads: lane === 'paid' ? 1 : 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    execArgv: [],
    // A thread needs none of the settings, which contain secrets. Bundles are in the folder for temporary files.
    env: { TMPDIR: tmpdir() },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  // The caller gets every error; a dead thread is replaced.
  threads.on('error', () => undefined);
  const ready = threads.run({ moduleUrl: import.meta.url }).catch(() => undefined);
  const pool = { threads, queue: createLane(LANES[lane]), ready };
  pools.set(lane, pool);
  return pool;
}

type RunOptions = NonNullable<Parameters<Piscina['run']>[1]>;

/** What a thread does: it calls a function of a module; without `name` it only loads the module. */
interface Task {
  moduleUrl: string;
  name: string;
  input: unknown;
  bytes?: Uint8Array;
}

/** Queues the task and runs it. `spend` receives the processor milliseconds that it took. */
async function runIn<Output>(
  lane: LaneName,
  asker: string,
  task: Task,
  options: RunOptions = {},
  spend = async (_milliseconds: number): Promise<unknown> => undefined,
): Promise<Output> {
  const { threads, queue, ready } = poolOf(lane);
  await ready;
  return queue(asker, async () => {
    // Neither limited nor the asker's: a busy machine starts a thread and loads its code in seconds.
    await threads.run({ moduleUrl: task.moduleUrl });
    const begun = performance.now();
    const before = process.cpuUsage();
    try {
      return await threads.run(task, { ...options, signal: AbortSignal.timeout(LANES[lane].runMs) });
    } finally {
      // Not the time on the clock alone, in which a busy machine runs others; nor the process's, whose other threads run too.
      const { user, system } = process.cpuUsage(before);
      await spend(Math.ceil(Math.min(performance.now() - begun, (user + system) / 1_000)));
    }
  });
}

/** Runs the task for the asker. Rejects with ApiError: 503 if it cannot be done now, 429 if the asker's time is used up. */
async function runFor<Output>({ lane, name, limited }: Asker, task: Task, options?: RunOptions): Promise<Output> {
  if (limited !== null) await requireTime(lane, limited);
  const spend = async (ms: number) => limited !== null && spendTime(lane, limited, ms);
  try {
    return await runIn<Output>(lane, name, task, options, spend);
  } catch (error) {
    if (!isOurs(error as NodeJS.ErrnoException)) throw error;
    refused[lane] += 1;
    throw tooManyLarge();
  }
}

/** The 503 for large requests that cannot be taken now. */
export const tooManyLarge = (): ApiError => retryLater('Too many large requests at once.', RETRY_SECONDS);

/**
 * Makes a function of a module runnable in a thread. The module must export it by its own name, without relevant state,
 * and its input and output must be copyable. Rejects with ApiError 503 if the work cannot be done now, and with 429 if
 * the wallet or address has used up its time.
 */
export function inThread<Input, Output>(
  moduleUrl: string,
  run: (input: Input) => Output,
): (ask: Ask, input: Input) => Promise<Output> {
  return async (ask, input) => runFor(await ask(), { moduleUrl, name: run.name, input });
}

const spentTime = {
  paid: new RateLimiterMemory(SHARES.paid),
  newcomers: new RateLimiterMemory(SHARES.newcomers),
  strangers: new RateLimiterMemory(SHARES.strangers),
};

/** Takes processor milliseconds from the time of a wallet or an address. */
export const spendTime = (lane: Asker['lane'], limited: string, ms: number): Promise<unknown> =>
  spentTime[lane].penalty(limited, ms);

async function requireTime(lane: Asker['lane'], limited: string): Promise<void> {
  const spent = await spentTime[lane].get(limited);
  if (!spent || spent.consumedPoints < SHARES[lane].points) return;
  const who = lane === 'strangers' ? 'This IP address' : 'This wallet';
  throw tooOften(`${who} sent too many large requests.`, spent.msBeforeNext);
}

const inPreparation = createQueue(PREPARED);
/** A separate queue, so that unpaid answers never delay paid ones. */
const inUnpaidPreparation = createQueue(1);
/** Those who read stored answers, one at a time, so that a paid answer waits for one of them at most. */
const readings = createLane({ waiting: 256, ofOne: 256, waitMs: 60_000 });

/** Runs this in turn with other readings. Rejects with ApiError 503 if there are too many. */
function inReading<Output>(reader: string, run: () => Promise<Output>): Promise<Output> {
  return readings(reader, run).catch((error: unknown) => {
    throw error instanceof LaneFull ? tooManyLarge() : error;
  });
}

/**
 * Like `inThread`, for answers: their bytes, of any length, are the first argument and arrive joined. The caller keeps
 * its bytes. `who` asks for the work, or reads an answer that is stored; without it the answer is that of a paid
 * execution.
 */
export function bytesInThread<Input, Output>(
  moduleUrl: string,
  run: (bytes: Uint8Array, input: Input) => Output,
): (body: Body, input: Input, who?: Ask | { reader: string }) => Promise<Output> {
  return (body, input, who) => {
    const work = async (ask?: Ask) => {
      // Always a copy with a buffer of its own, because the transfer takes the whole buffer from this thread.
      const bytes = concatBytes(...body);
      const task = { moduleUrl, name: run.name, input, bytes };
      const options = { transferList: [bytes.buffer] };
      return ask ? runFor<Output>(await ask(), task, options) : runIn<Output>('answers', '', task, options);
    };
    if (typeof who === 'function') return inUnpaidPreparation(() => work(who));
    return who ? inReading(who.reader, work) : inPreparation(work);
  };
}

/** The message of an ended thread. */
const GIVEN_UP = /^(Terminating worker thread|worker exited with code: \d+)$/;

/** True if the lane or its thread failed, not the function. */
function isOurs(error: NodeJS.ErrnoException): boolean {
  const { name, code, message } = error;
  const isLane = error instanceof LaneFull || name === 'AbortError';
  return isLane || code === 'ERR_WORKER_OUT_OF_MEMORY' || GIVEN_UP.test(message);
}
