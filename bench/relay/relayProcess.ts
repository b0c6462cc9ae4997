/**
 * The relay in a process of its own, measured: `node relayProcess.ts group|single [LATENCY_MS]`, settings as always from
 * the environment. `single` gives every move of the journal a durable commit of its own, for comparison. With a latency
 * the chain is in this process too. Each message is answered with what has happened since the last one.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { CompiledQuery } from 'kysely';
import pino from 'pino';
import { createRun } from '../../app/database/groupCommit.ts';
import { openDatabase } from '../../app/database/open.ts';
import { ledgerPath, readConfig } from '../../app/relay/config.ts';
import { createJournal, type Journal } from '../../app/relay/ledger/journal.ts';
import type { LedgerTables } from '../../app/relay/ledger/tables.ts';
import { startRelay } from '../../app/relay/start.ts';
import { type Hold, watchHolds } from './holdWatch.ts';
import { inProcess } from './inProcessChain.ts';

export interface RelayTimes {
  /**
   * Of each request by itself, in milliseconds: from its head to the last byte of its answer, less what was waited for
   * chain and creator. Means something only where one request comes after the other.
   */
  ownMs: number[];
  /** Of this process, milliseconds. */
  cpuMs: number;
  /** The longest that its event loop was held, if it was started with WATCH_HOLDS. */
  hold: Hold;
  rss: number;
}

const config = readConfig(process.env);
const holds = process.env.WATCH_HOLDS ? watchHolds() : null;
let ownMs: number[] = [];
/** Waited for chain and creator since the last answer. */
let waitedMs = 0;
let cpu = process.cpuUsage();

const begun = new WeakMap<object, number>();
subscribe('http.server.request.start', (message) => {
  begun.set((message as { response: object }).response, performance.now());
});
subscribe('http.server.response.finish', (message) => {
  ownMs.push(performance.now() - begun.get((message as { response: object }).response)! - waitedMs);
  waitedMs = 0;
});

/** A journal on one durable connection, each of whose writes is a transaction by itself. */
function commitEach(journal: Journal): Journal {
  const { sqlite, db } = openDatabase<LedgerTables>(ledgerPath(config.dataDir), { synchronous: 'full' });
  const run = createRun(sqlite);
  const write = async (query: CompiledQuery) => run(query);
  const alone = async (_locks: readonly string[], queries: readonly CompiledQuery[]) => queries.map(run);
  return createJournal(
    { intend: write, note: write, alone, room: async () => {}, commits: () => 0 },
    db,
    journal.owner,
  );
}

const relay = await startRelay({
  config,
  log: pino({ level: config.logLevel }),
  observe: (stage, ms) => {
    if (stage === 'chain' || stage === 'creator') waitedMs += ms;
  },
  ...(process.argv[2] === 'single' && { wrapJournal: commitEach }),
  ...(process.argv[3] && { wrapChain: (chain) => inProcess(chain, Number(process.argv[3])) }),
});
process.on('message', () => {
  const { user, system } = process.cpuUsage(cpu);
  const rss = process.memoryUsage.rss();
  process.send?.({
    ownMs,
    cpuMs: (user + system) / 1_000,
    rss,
    hold: holds?.take() ?? { ms: 0, cpuMs: 0 },
  } satisfies RelayTimes);
  ownMs = [];
  cpu = process.cpuUsage();
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url: relay.url });
