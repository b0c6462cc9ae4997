/**
 * Tracks which relay processes live when they share a PostgreSQL and no disk, on the database's clock. Each also holds
 * an advisory lock, which PostgreSQL frees with the connection. The rows of a killed process therefore need not wait
 * for its lease to end.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { POSTGRES_NOW_MS } from '../../database/portable.ts';
import { connectPostgres, lockNumber, SCHEMAS } from '../../database/postgres.ts';
import { LEASE_MS, type Leases } from './leases.ts';

const RENEW = `INSERT INTO relays (owner, alive_until_ms) VALUES ($1, ${POSTGRES_NOW_MS} + $2)
  ON CONFLICT (owner) DO UPDATE SET alive_until_ms = excluded.alive_until_ms`;
/** Relays with a valid lease, and the time since their renewal. */
const OTHERS = `SELECT owner, $2 - (alive_until_ms - ${POSTGRES_NOW_MS}) AS silent_ms FROM relays
  WHERE owner <> $1 AND alive_until_ms > ${POSTGRES_NOW_MS}`;
/** True if the server has run for this many milliseconds, and has not taken over from another server. */
const LASTED = `SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000 > $1
  AND pg_last_xact_replay_timestamp() IS NULL AS lasted`;
const KNOWN = 'SELECT owner FROM relays WHERE owner <> $1';
/** Deletes our own row at the end. Rows of dead relays are useless after a while. */
const CLEAR = `DELETE FROM relays WHERE owner = $1 OR alive_until_ms < ${POSTGRES_NOW_MS} - 60000`;

/** The leases of the ledger at `url`, seen from the process `owner`. */
export function createSharedLeases(url: string, pool: pg.Pool, owner: string, leaseMs = LEASE_MS): Leases {
  const beatMs = leaseMs / 5;
  const answerMs = 2 * beatMs;
  const lockOf = (name: string) => lockNumber(`relay ${name}`);
  // No relay could renew while the database was unreachable. The relay that returns or starts first must not take the
  // rows of all others.
  let judgesFromMs = 0;

  return {
    async keep(log: Logger) {
      let session: pg.Client | null = null;
      let isLocked = false;
      let isOver = false;
      const { rows } = await pool.query<{ lasted: boolean }>(LASTED, [leaseMs + 2 * beatMs]);
      if (!rows[0]?.lasted) judgesFromMs = Number.POSITIVE_INFINITY;

      async function open(): Promise<pg.Client> {
        const made = await connectPostgres(url, SCHEMAS.ledger);
        made.once('end', () => {
          judgesFromMs = Number.POSITIVE_INFINITY;
          if (session === made) session = null;
        });
        session = made;
        isLocked = false;
        return made;
      }
      /** Our own lost connection may hold the lock until PostgreSQL notices. The lease must not wait for that. */
      async function beat(): Promise<void> {
        const on = session ?? (await open());
        const ask = (text: string, values: unknown[]) =>
          on.query({ text, values, query_timeout: answerMs } as pg.QueryConfig);
        try {
          await ask(RENEW, [owner, BigInt(leaseMs)]);
          if (judgesFromMs === Number.POSITIVE_INFINITY) judgesFromMs = performance.now() + 2 * beatMs;
          if (isLocked) return;
          isLocked = (await ask('SELECT pg_try_advisory_lock($1) AS locked', [lockOf(owner)])).rows[0].locked;
        } catch (error) {
          // A connection without an answer is replaced, before the lease expires.
          if (session === on) session = null;
          on.end().catch(() => {});
          throw error;
        }
      }
      await beat();
      let beating: Promise<void> | null = null;
      const timer = setInterval(() => {
        beating ??= beat()
          .catch((error) => {
            if (!isOver) log.error({ error }, 'the lease was not renewed');
          })
          .finally(() => {
            beating = null;
          });
      }, beatMs);
      timer.unref();

      return async () => {
        isOver = true;
        clearInterval(timer);
        await beating;
        // Freeing the lock and deleting the row ends the lease. If the database is unreachable, the lease expires.
        await pool.query(CLEAR, [owner]).catch(() => {});
        await session?.end().catch(() => {});
      };
    },
    async alive() {
      if (performance.now() < judgesFromMs) {
        const { rows } = await pool.query<{ owner: string }>(KNOWN, [owner]);
        return rows.map((row) => row.owner);
      }
      const { rows } = await pool.query<{ owner: string; silent_ms: bigint }>(OTHERS, [owner, BigInt(leaseMs)]);
      const alive: string[] = [];
      for (const { owner: other, silent_ms } of rows) {
        // A live process may lose its connection and make a new one. Only a process that is also silent is dead.
        if (silent_ms < 2 * beatMs || !(await isFree(pool, lockOf(other)))) alive.push(other);
      }
      return alive;
    },
  };
}

/** True if nobody holds the lock. The statement frees it at its end. */
async function isFree(pool: pg.Pool, lock: bigint): Promise<boolean> {
  const { rows } = await pool.query<{ free: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS free', [lock]);
  return rows[0]?.free === true;
}
