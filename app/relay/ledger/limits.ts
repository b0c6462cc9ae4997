/**
 * Rate limits per client. The counters are in memory, so that no request waits for them. Relays on one PostgreSQL tell
 * each other twice a second which requests they admitted, and count those too. Together they admit as much as one
 * relay, plus the requests within that delay.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { connectPostgres, SCHEMAS } from '../../database/postgres.ts';
import { chunks } from '../../process/chunks.ts';

const TELL_MS = 500;
const CHANNEL = 'let_in';
/** Clients per notification, which must be shorter than 8,000 bytes. */
const TOLD_AT_ONCE = 80;
/** Interval of a query when there is nothing to tell: a dead connection reports no error on its own. */
const HEARTBEAT_MS = 2_000;
/** A connection without an answer for this long is replaced. */
const ANSWER_MS = 5_000;
/** Longer names are sent as their hash. */
const MAX_NAME = 64;
/** Most clients reported in one interval. This relay alone counts the others. */
const MAX_TOLD = 4_000;

export interface Limits {
  /** A named counter: `points` of a client within `duration` seconds. */
  counter(name: string, limit: { points: number; duration: number }): RateLimiterMemory;
  /** Stops sending and receiving. The counters still count. */
  end(): Promise<void>;
}

/** Counters of a relay that receives nothing from others. */
export const ownLimits = (): Limits => ({
  counter: (_name, limit) => new RateLimiterMemory(limit),
  end: async () => undefined,
});

/** Reports each admitted point. */
class ReportingCounter extends RateLimiterMemory {
  readonly report: (client: string, points: number) => void;

  constructor(limit: { points: number; duration: number }, report: ReportingCounter['report']) {
    super(limit);
    this.report = report;
  }

  override async consume(key: string | number, points = 1): Promise<RateLimiterRes> {
    const client = nameOf(String(key));
    const left = await super.consume(client, points);
    this.report(client, points);
    return left;
  }
}

const nameOf = (client: string) =>
  client.length <= MAX_NAME ? client : createHash('sha256').update(client).digest('base64url');

/** Counters of all relays on the PostgreSQL at `url`. While it is unreachable, each relay counts alone. */
export function createSharedLimits(url: string, owner: string, log: Logger): Limits {
  const counters = new Map<string, RateLimiterMemory>();
  const given = new Map<string, [counter: string, client: string, points: number]>();
  let session: pg.Client | null = null;
  let answeredMs = 0;
  let isOver = false;

  function hear({ payload = '' }: { payload?: string | undefined }): void {
    const { from, counts } = JSON.parse(payload) as { from: string; counts: [string, string, number][] };
    if (from === owner) return;
    for (const [counter, client, points] of counts) void counters.get(counter)?.penalty(client, points);
  }

  async function connect(): Promise<pg.Client> {
    const made = await connectPostgres(url, SCHEMAS.ledger);
    made.once('end', () => {
      if (session === made) session = null;
    });
    made.on('notification', hear);
    session = made;
    // These messages need not be durable.
    await ask(made, `SET synchronous_commit TO off; LISTEN ${CHANNEL}`);
    return made;
  }

  async function ask(on: pg.Client, text: string, values?: unknown[]): Promise<void> {
    try {
      await on.query({ text, values, query_timeout: ANSWER_MS } as pg.QueryConfig);
      answeredMs = performance.now();
    } catch (error) {
      if (session === on) session = null;
      on.end().catch(() => {});
      throw error;
    }
  }

  async function report(): Promise<void> {
    const on = session ?? (await connect());
    const counts = [...given.values()];
    given.clear();
    const told = chunks(counts, TOLD_AT_ONCE).map((part) => JSON.stringify({ from: owner, counts: part }));
    if (told.length > 0)
      await ask(on, 'SELECT pg_notify($1, told) FROM unnest(CAST($2 AS text[])) AS told', [CHANNEL, told]);
    else if (performance.now() - answeredMs >= HEARTBEAT_MS) await ask(on, 'SELECT 1');
  }

  let reporting = Promise.resolve();
  let isReporting = false;
  const timer = setInterval(() => {
    if (isReporting) return;
    isReporting = true;
    reporting = report()
      .catch((error) => {
        if (!isOver) log.warn({ error }, 'cannot report admitted requests to the other relays');
      })
      .finally(() => {
        isReporting = false;
      });
  }, TELL_MS);
  timer.unref();

  return {
    counter(name, limit) {
      const counter = new ReportingCounter(limit, (client, points) => {
        const key = `${name} ${client}`;
        const before = given.get(key);
        if (before) before[2] += points;
        else if (given.size < MAX_TOLD) given.set(key, [name, client, points]);
      });
      counters.set(name, counter);
      return counter;
    },
    async end() {
      isOver = true;
      clearInterval(timer);
      await reporting;
      await session?.end().catch(() => undefined);
    },
  };
}
