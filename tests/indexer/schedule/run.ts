/**
 * A seeded schedule of faults. The chain grows, forks and joins. The node omits, repeats, reorders and truncates its
 * answers, and calls fail. Connections to PostgreSQL are cut. The indexer crashes at any call or statement and restarts
 * on the same tables. In the end the tables equal those of an undisturbed indexer.
 */
import type { Kysely, KyselyPlugin } from 'kysely';
import pino from 'pino';
import { PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { ApplyError } from '../../../indexer/apply.ts';
import { hashIndex } from '../../../indexer/hash.ts';
import { createKeeper, type Keeper } from '../../../indexer/keeper.ts';
import { createNotices } from '../../../indexer/notices.ts';
import { rebuild } from '../../../indexer/rebuild.ts';
import type { IndexDatabase } from '../../../indexer/tables.ts';
import { ReplayedChain } from './chain.ts';
import { type Databases, type Ground, makeGround } from './ground.ts';
import type { Recorded } from './record.ts';

/** Simulates the end of the process. */
class Crash extends Error {}

/** Counts of what happened in a run. */
export interface ScheduleRun {
  seed: number;
  slotsApart: number;
  hash: string;
  crashes: number;
  forks: number;
  faults: number;
}

/** Numbers in [0, 1) from a seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type ListedEntry = { signature: string; slot: number };

async function runSchedule(history: readonly Recorded[], ground: Ground, seed: number): Promise<ScheduleRun> {
  const random = createRandom(seed);
  const whole = (most: number) => Math.floor(random() * most);
  const { place: path } = ground;
  const chain = new ReplayedChain(history, random() < 0.5 ? 1 : 6);
  const run: ScheduleRun = { seed, slotsApart: chain.slotsApart, hash: '', crashes: 0, forks: 0, faults: 0 };
  const signaturePage = [3, 10, 1_000][whole(3)]!;
  const batchSize = [2, 100][whole(2)]!;
  const log = pino({ level: process.env.LOG_LEVEL ?? 'silent' });
  let clock = 0;
  let troubled = true;
  /** Transactions that the node's lists omit, each with the number of lists until it reappears. */
  const hidden = new Map<string, number>();
  /** Statements and calls left until the process crashes. */
  let fuse = Number.POSITIVE_INFINITY;
  /** Statements left until the connections to the database are cut. */
  let hold = Number.POSITIVE_INFINITY;

  const burn = () => {
    fuse -= 1;
    if (fuse === 0) throw new Crash('the process ended');
  };

  chain.fault = (method, result) => {
    burn();
    if (!troubled) return result;
    let answer = result;
    if (method === 'getSignaturesForAddress') {
      answer = (answer as ListedEntry[]).filter(({ signature }) => !hidden.has(signature));
    }
    if (random() > 0.12) return answer;
    run.faults += 1;
    const listed = answer as ListedEntry[];
    const at = method === 'getSignaturesForAddress' && listed.length > 1 ? whole(listed.length - 1) : -1;
    const kind = whole(5);
    if (kind === 0 || at < 0) throw new Error('429 Too Many Requests');
    if (kind === 1) return listed.slice(0, at + 1);
    if (kind === 2) return [...listed.slice(0, at + 1), ...listed.slice(at)];
    if (kind === 3) {
      const other = [...listed];
      [other[at], other[at + 1]] = [other[at + 1]!, other[at]!];
      // The order within a slot cannot be detected, so it is not changed.
      return listed[at]!.slot === listed[at + 1]!.slot ? listed : other;
    }
    return listed.slice(at);
  };

  const crashing: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      burn();
      hold -= 1;
      if (hold === 0) {
        run.faults += 1;
        await ground.cut?.();
      }
      return result;
    },
  };
  await ground.clear();
  let opened = await ground.open();
  let notices = createNotices();
  let keeper: Keeper;
  const begin = () => {
    notices = createNotices();
    const source = { connection: chain.connection(), programId: PROGRAM_ID, notices, signaturePage, batchSize };
    const db = opened.db.withPlugin(crashing) as Kysely<IndexDatabase>;
    keeper = createKeeper({
      ingest: { ...source, db },
      log,
      rebuild: () => rebuild({ path, ingest: source, log }),
      rescanMs: 5,
      compareMs: 2,
      now: () => clock,
    });
  };
  const look = async () => {
    clock += 1;
    try {
      await keeper.look();
    } catch (error) {
      if (!(error instanceof Crash)) {
        // An ApplyError stops the indexer permanently; any other error is retried.
        if (error instanceof ApplyError) throw error;
        return;
      }
      run.crashes += 1;
      fuse = Number.POSITIVE_INFINITY;
      await opened.close();
      opened = await ground.open();
      begin();
    }
  };
  const hear = () => {
    for (const { at, slot } of chain.entries().slice(-3)) {
      const { signature, hasFailed, logs } = history[at]!;
      const heard = random() < 0.3 ? [...logs.slice(0, whole(logs.length)), 'Log truncated'] : logs;
      if (random() < 0.7)
        notices.add({ signature, slot: BigInt(slot), error: hasFailed ? {} : null, logs: heard } as never);
    }
  };

  try {
    begin();
    chain.grow(whole(history.length));
    while (chain.length < history.length || chain.hasFork) {
      if (chain.hasFork && random() < 0.5) chain.join();
      else if (!chain.hasFork && random() < 0.2) {
        chain.forkBy(1 + whole(4), () => random() < 0.7);
        run.forks += 1;
      } else if (!chain.hasFork) chain.grow(whole(7));
      for (const [signature, looks] of hidden) {
        if (looks === 0) hidden.delete(signature);
        else hidden.set(signature, looks - 1);
      }
      const last = history[chain.length - 1];
      if (last && random() < 0.15) hidden.set(last.signature, 1 + whole(6));
      if (random() < 0.35) fuse = 1 + whole(60);
      if (ground.cut && random() < 0.15) hold = 1 + whole(60);
      hear();
      await look();
    }
    troubled = false;
    fuse = Number.POSITIVE_INFINITY;
    hold = Number.POSITIVE_INFINITY;
    hidden.clear();
    for (let times = 0; times < 12; times += 1) {
      clock += 10;
      await look();
    }
    run.hash = await hashIndex(opened.db);
    return run;
  } finally {
    await opened.close();
  }
}

/** The hash of an indexer that reads the same chain at once, undisturbed. */
async function hashUndisturbed(history: readonly Recorded[], ground: Ground, slotsApart: number): Promise<string> {
  const { place: path } = ground;
  const chain = new ReplayedChain(history, slotsApart);
  chain.grow(history.length);
  await ground.clear();
  const { db, close } = await ground.open();
  try {
    const source = {
      connection: chain.connection(),
      programId: PROGRAM_ID,
      notices: createNotices(),
      signaturePage: 1_000,
    };
    const log = pino({ level: 'silent' });
    await createKeeper({
      ingest: { ...source, db },
      log,
      rebuild: () => rebuild({ path, ingest: source, log }),
    }).look();
    return await hashIndex(db);
  } finally {
    await close();
  }
}

/** Schedules that run in parallel. On PostgreSQL most of the time is spent waiting for the database. */
const LANES = { sqlite: 1, postgres: 4 };

export interface Schedules {
  /** Hashes of an undisturbed indexer on this database and on SQLite, by the distance between slots. */
  whole: Map<number, { here: string; sqlite: string }>;
  crashes: number;
  forks: number;
  faults: number;
  /** Seeds that ended with different tables, in order. */
  wrong: number[];
}

/**
 * Runs the schedules of `count` seeds, starting with `first`. Throws, with its seed, if one of them stops the indexer.
 */
export async function runSchedules(
  history: readonly Recorded[],
  { database, first, count }: { database: Databases; first: number; count: number },
): Promise<Schedules> {
  const made: Ground[] = [];
  const make = async (kind: Databases) => {
    const ground = await makeGround(kind);
    made.push(ground);
    return ground;
  };
  const total: Schedules = { whole: new Map(), crashes: 0, forks: 0, faults: 0, wrong: [] };
  try {
    const grounds: Ground[] = [];
    for (let lane = 0; lane < LANES[database]; lane += 1) grounds.push(await make(database));
    const file = await make('sqlite');
    for (const apart of [1, 6]) {
      const here = await hashUndisturbed(history, grounds[0]!, apart);
      total.whole.set(apart, { here, sqlite: await hashUndisturbed(history, file, apart) });
    }
    let next = first;
    const lane = async (ground: Ground) => {
      while (next < first + count) {
        const seed = next;
        next += 1;
        const run = await runSchedule(history, ground, seed).catch((cause) => {
          next = Number.POSITIVE_INFINITY;
          throw new Error(`seed ${seed}: ${cause.message}`, { cause });
        });
        if (run.hash !== total.whole.get(run.slotsApart)!.here) total.wrong.push(seed);
        for (const kind of ['crashes', 'forks', 'faults'] as const) total[kind] += run[kind];
      }
    };
    const ended = await Promise.allSettled(grounds.map(lane));
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
    total.wrong.sort((one, other) => one - other);
    return total;
  } finally {
    for (const ground of made) await ground.remove();
  }
}
