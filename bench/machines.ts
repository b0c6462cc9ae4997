/**
 * One relay and two, on SQLite and on PostgreSQL with durable commits; what a call costs the database; how long failing over
 * takes. Everything is on this one machine, whose processors they share.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../app/local/postgres.ts';
import { benchStandIns, type StandIns } from './machines/standIns.ts';
import { benchRates, CALLERS, LATENCY_MS, type Rate } from './machines/throughput.ts';
import { toTable } from './program/table.ts';

export interface MachineFigures {
  rates: Rate[];
  standIns: StandIns;
}

/** Of two relays, an indexer, its standby, and this process. */
const SETTINGS = ['max_connections=200', 'shared_preload_libraries=pg_stat_statements'];

export async function benchMachines(
  quick: boolean,
  slotTimeMs: number,
  report: (line: string) => void,
): Promise<MachineFigures> {
  const parent = mkdtempSync(join(tmpdir(), 'bench-postgres-'));
  const server = await startPostgres({ folder: join(parent, 'postgres'), settings: SETTINGS });
  try {
    const rates = await benchRates(server, { calls: quick ? 400 : 3_000, rounds: quick ? 1 : 3, report });
    const standIns = await benchStandIns(server, { rounds: quick ? 1 : 5, slotTimeMs, report });
    return { rates, standIns };
  } finally {
    await server.stop();
    rmSync(parent, { recursive: true, force: true });
  }
}

export function describeMachines({ rates, standIns }: MachineFigures): string {
  const { cost, relay, indexer, database, slot_ms, rounds } = standIns;
  const whole = (value: number) => Math.round(value);
  const one = (value: number) => Number(value.toFixed(1));
  return [
    toTable(
      [
        `${CALLERS} callers at once, a chain of ${LATENCY_MS} ms`,
        'calls/s',
        'ms, p50 / p99',
        "relays' processor, ms a call",
        'refused with 503',
      ],
      rates.map(({ database: name, relays, per_second, call_ms, cpu_ms, refused }) => [
        `${relays === 1 ? 'one relay' : 'two relays'} on ${name}`,
        one(per_second),
        `${whole(call_ms.p50)} / ${whole(call_ms.p99)}`,
        one(cpu_ms),
        refused,
      ]),
    ),
    toTable(
      [`what a call costs PostgreSQL, over ${cost.calls} calls, 16 at once`, ''],
      [
        ['statements of the relay', one(cost.statements.relay)],
        ['statements of the indexer', one(cost.statements.indexer)],
        ['bytes of the log (WAL)', whole(cost.wal_bytes)],
        ['flushes of the log', one(cost.flushes)],
        ['statements a second of two relays and two indexers while nobody calls', one(cost.idle_statements)],
      ],
    ),
    toTable(
      [`failing over, ms, slots of ${slot_ms} ms, median of ${rounds}`, ''],
      [
        ['a relay is killed: the other calls the creator', whole(relay.creator_called_again)],
        ['the same: the call has ended', whole(relay.call_ended)],
        ['the working indexer is killed: its standby has applied a call made since', whole(indexer.from_kill)],
        ["the same, from that call's end", whole(indexer.from_event)],
        ['PostgreSQL is killed and started: the first call has succeeded', whole(database.from_kill)],
        ['the same, from when it answers again', whole(database.from_back)],
      ],
    ),
  ].join('\n\n');
}
