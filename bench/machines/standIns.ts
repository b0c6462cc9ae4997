/**
 * Two relays, an indexer with its standby and a PostgreSQL, at the local node: what a call costs the database, and how long
 * it takes until another process has taken over from one that was killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Keypair } from '@solana/web3.js';
import { administer, type PostgresServer } from '../../app/local/postgres.ts';
import { changeRelayAuthorities } from '../../app/sdk/wallet/settings.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import {
  goodAnswer,
  type RelayHandle,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../tests/harness/node/marketplace.ts';
import { median } from '../program/table.ts';
import { many } from '../relay/fakeChain.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DATABASE = 'stand_ins';
/** Indexers have a role of their own, by which their statements are told from the relays'. */
const INDEXER = 'indexer';
const COST_CALLS = 100;
const COST_CALLERS = 16;
/** How long nobody calls, to know what is done all the same. */
const IDLE_MS = 10_000;
const POLL_MS = 10;
/** As systemd starts it again. */
const RESTART_MS = 100;

export interface Cost {
  calls: number;
  /** By statements of relays and indexers, a call, less what is done while nobody calls. */
  statements: { relay: number; indexer: number };
  wal_bytes: number;
  /** How often the log was flushed. */
  flushes: number;
  /** Statements a second of both while nobody calls. */
  idle_statements: number;
}

export interface StandIns {
  slot_ms: number;
  cost: Cost;
  /** From the kill on, ms, each the median of `rounds`. */
  relay: { creator_called_again: number; call_ended: number };
  /** From the kill, and from the end of the call that is made meanwhile, until its row is in the index. */
  indexer: { from_kill: number; from_event: number };
  /** From the kill, and from the moment that the database is back, until the end of the first call that succeeds. */
  database: { from_kill: number; from_back: number };
  rounds: number;
}

/** Needs a server with pg_stat_statements. */
export async function benchStandIns(
  server: PostgresServer,
  { rounds, slotTimeMs, report }: { rounds: number; slotTimeMs: number; report: (line: string) => void },
): Promise<StandIns> {
  await administer(server, `CREATE DATABASE ${DATABASE}`, `CREATE ROLE ${INDEXER} SUPERUSER LOGIN`);
  await administer({ url: () => server.url(DATABASE) }, 'CREATE EXTENSION pg_stat_statements');
  const databaseUrl = server.url(DATABASE);
  const market = await startMarketplace({ slotTimeMs, databaseUrl });
  await market.relay.kill();
  const indexers = [keepIndexer(market), keepIndexer(market)];
  const authorities = [join(market.dataDir, 'relay-authority.json'), await addAuthority(market)];
  const start = (which: number) =>
    market.startRelayProcess({ WITHOUT_INDEXER: '1', LOG_LEVEL: 'silent', RELAY_KEYPAIR: authorities[which] });
  const relays = [await start(0), await start(1)] as [RelayHandle, RelayHandle];
  try {
    const call = callAt(market);
    await until(() => call(relays[1]));
    report('what a call costs the database');
    const cost = await measureCost(server, () => call(relays[0]));
    const relay = [];
    for (let round = 0; round < rounds; round += 1) {
      report(`a relay is killed, ${round + 1} of ${rounds}`);
      relay.push(await killRelay(market, relays));
      relays[0] = await start(0);
    }
    const indexer = [];
    for (let round = 0; round < rounds; round += 1) {
      report(`the working indexer is killed, ${round + 1} of ${rounds}`);
      indexer.push(await killIndexer(market, indexers, () => call(relays[1])));
    }
    const database = [];
    for (let round = 0; round < rounds; round += 1) {
      report(`the database is killed, ${round + 1} of ${rounds}`);
      database.push(await killDatabase(server, () => call(relays[1])));
    }
    const of = <Key extends string>(all: Record<Key, number>[], key: Key) => median(all.map((one) => one[key]));
    return {
      slot_ms: slotTimeMs,
      cost,
      relay: { creator_called_again: of(relay, 'creator_called_again'), call_ended: of(relay, 'call_ended') },
      indexer: { from_kill: of(indexer, 'from_kill'), from_event: of(indexer, 'from_event') },
      database: { from_kill: of(database, 'from_kill'), from_back: of(database, 'from_back') },
      rounds,
    };
  } finally {
    await Promise.all([...relays, ...indexers].map((one) => one.kill()));
    await market.stop();
  }
}

/** A second one, its keypair's path. */
async function addAuthority(market: TestMarketplace): Promise<string> {
  const second = Keypair.generate();
  await market.node.fundSol(second.publicKey, 100e9);
  const both = [market.authority.publicKey, second.publicKey];
  await changeRelayAuthorities(market.marketplace, keypairSigner(market.node.payer), both);
  const path = join(market.dataDir, 'relay-authority-2.json');
  writeFileSync(path, JSON.stringify([...second.secretKey]), { mode: 0o600 });
  return path;
}

type Call = (relay: RelayHandle) => Promise<{ id: string } | null>;

/** One paid call; its execution's id, or null where it did not succeed. */
function callAt(market: TestMarketplace): Call {
  return async (relay) => {
    const apiKey = market.callers[0]!.apiKey;
    const path = `/v1/agents/${market.agentId}/execute`;
    const answer = await request(relay.url, path, { apiKey, body: { task: 'bench' } }).catch(() => null);
    return answer?.status === 200 ? { id: answer.body.execution_id } : null;
  };
}

async function until<Found extends object | string | true>(
  look: () => Promise<Found | null | undefined | false>,
): Promise<Found> {
  for (;;) {
    const found = await look();
    if (found) return found;
    await delay(POLL_MS);
  }
}

interface KeptIndexer {
  /** `away`: it is being started. */
  state(): 'away' | 'standing by' | 'working';
  /** Ends it as a crash does; it comes back. */
  crash(): void;
  /** Ends it for good. */
  kill(): Promise<void>;
}

/** An indexer that is started again whenever it has ended, as systemd does it. */
function keepIndexer(market: TestMarketplace): KeptIndexer {
  const url = new URL(market.databaseUrl!);
  url.username = INDEXER;
  const { rpcUrl, wsUrl } = market.node;
  const env = {
    ...process.env,
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: wsUrl,
    DATABASE_URL: url.href,
    LOG_LEVEL: 'info',
  };
  let child: ChildProcess | null = null;
  let state: ReturnType<KeptIndexer['state']> = 'away';
  let isOver = false;
  const start = () => {
    if (isOver) return;
    child = spawn(process.execPath, ['scripts/run.mjs', 'indexer/main.ts'], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    // Its log is the only place where it says which of both it is.
    createInterface(child.stdout!).on('line', (line) => {
      if (line.includes('this one stands by')) state = 'standing by';
      if (line.includes('subscribed to the program')) state = 'working';
    });
    child.once('exit', () => {
      child = null;
      state = 'away';
      setTimeout(start, RESTART_MS);
    });
  };
  start();
  return {
    state: () => state,
    crash: () => void child?.kill('SIGKILL'),
    async kill() {
      isOver = true;
      if (!child) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

interface Counters {
  relay: number;
  indexer: number;
  bytes: number;
  flushes: number;
}

async function readCounters(server: PostgresServer): Promise<Counters> {
  const [row] = (await administer(
    { url: () => server.url(DATABASE) },
    `SELECT coalesce(sum(s.calls) FILTER (WHERE r.rolname = '${INDEXER}'), 0)::float8 AS indexer,
       coalesce(sum(s.calls) FILTER (WHERE r.rolname <> '${INDEXER}'), 0)::float8 AS relay,
       (SELECT wal_bytes FROM pg_stat_wal)::float8 AS bytes, (SELECT wal_sync FROM pg_stat_wal)::float8 AS flushes
       FROM pg_stat_statements AS s JOIN pg_roles AS r ON r.oid = s.userid
       WHERE s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )) as [Counters];
  return row;
}

async function measureCost(server: PostgresServer, call: () => Promise<unknown>): Promise<Cost> {
  const during = async (run: () => Promise<unknown>) => {
    const [before, begun] = [await readCounters(server), performance.now()];
    await run();
    const [after, seconds] = [await readCounters(server), (performance.now() - begun) / 1_000];
    const since = (key: keyof Counters) => after[key] - before[key];
    return {
      seconds,
      relay: since('relay'),
      indexer: since('indexer'),
      bytes: since('bytes'),
      flushes: since('flushes'),
    };
  };
  // What ended is still proved for a while.
  await delay(IDLE_MS);
  const idle = await during(() => delay(IDLE_MS));
  const busy = await during(async () => {
    const one = async () => {
      if (!(await call())) throw new Error('a call did not succeed');
      return 0;
    };
    await many(one, COST_CALLERS, COST_CALLS);
    // The indexer and the statistics of PostgreSQL are a moment behind.
    await delay(IDLE_MS);
  });
  const perCall = (key: keyof Counters) => (busy[key] - (idle[key] / idle.seconds) * busy.seconds) / COST_CALLS;
  return {
    calls: COST_CALLS,
    statements: { relay: perCall('relay'), indexer: perCall('indexer') },
    wal_bytes: perCall('bytes'),
    flushes: perCall('flushes'),
    idle_statements: (idle.relay + idle.indexer) / idle.seconds,
  };
}

/** The one that has called the creator is killed; the other ends the call. */
async function killRelay(market: TestMarketplace, [first, second]: [RelayHandle, RelayHandle]) {
  let asked: string | null = null;
  let askedAgain = 0;
  market.setBehaviour(({ execution_id }, _response, reply) => {
    if (asked === null) asked = execution_id;
    else {
      if (execution_id === asked) askedAgain = performance.now();
      reply(goodAnswer(market.signingKey, execution_id, 'done'));
    }
  });
  const lost = callAt(market)(first);
  const id = await until(async () => asked);
  await first.kill();
  const killed = performance.now();
  const { apiKey } = market.callers[0]!;
  await until(async () => (await request(second.url, `/v1/executions/${id}`, { apiKey })).body.status === 'completed');
  const ended = performance.now();
  await lost;
  market.setBehaviour(null);
  return { creator_called_again: askedAgain - killed, call_ended: ended - killed };
}

async function killIndexer(market: TestMarketplace, indexers: KeptIndexer[], call: () => ReturnType<Call>) {
  const working = await until(async () => {
    const isReady = indexers.some((one) => one.state() === 'standing by');
    return isReady && indexers.find((one) => one.state() === 'working');
  });
  working.crash();
  const killed = performance.now();
  const { id } = await until(call);
  const happened = performance.now();
  const row = `SELECT 1 FROM executions WHERE execution_id = '${id}' AND status = 'completed'`;
  await until(async () => (await market.query('index', row)).length > 0);
  return { from_kill: performance.now() - killed, from_event: performance.now() - happened };
}

async function killDatabase(server: PostgresServer, call: () => ReturnType<Call>) {
  await until(call);
  await server.kill();
  const killed = performance.now();
  await server.start();
  const back = performance.now();
  await until(call);
  return { from_kill: performance.now() - killed, from_back: performance.now() - back };
}
