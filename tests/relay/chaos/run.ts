/**
 * One chaos run: executions of a plan, against two relays behind a faulty node. The relays are killed and restarted, and
 * so are the database and the indexer. Clients repeat uncertain calls with their Idempotency-Key, as documented.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { idsOfDay, tailOf } from '../../../app/relay/calls/idempotency.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  type Behaviour,
  failedAnswer,
  goodAnswer,
  type RelayHandle,
  request,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';
import { type SeveralRelays, startSeveralRelays } from '../../harness/node/severalRelays.ts';
import { sharedPostgres } from '../../harness/postgres.ts';
import { endFault, FAULTS } from './faults.ts';
import { type Ended, findViolations, type Picture, pollOne } from './invariants.ts';
import { BEHAVIOURS, type BehaviourName, makePlan, type PlannedExecution, type Victim } from './plan.ts';

const RETRY_MS = 200;
const SLOW_MS = 400;
/** Milliseconds for which the database is away. */
const AWAY_MS = 500;
/**
 * If no row moves for this long, something hangs. An open that never lands keeps its row for its window of 60 s. A
 * killed relay can take long to restart on a busy machine.
 */
const QUIET_MS = 150_000;

/** Waits as long as the run makes progress. */
type Wait = (what: string, poll: () => Promise<boolean>) => Promise<void>;

export interface Chaos {
  /** Resolves with the violated invariants. */
  run(seed: number, executions: number): Promise<string[]>;
  stop(): Promise<void>;
}

/** Reports a violation that the creator sees. */
type Witness = (violation: string) => void;

/** The creator: plays the behaviour that the task begins with, and checks on the chain that each call is funded. */
function createCreator(market: TestMarketplace, witness: Witness): Behaviour {
  const calls = new Map<string, number>();
  const stranger = generateSigningKey();
  return async (body, response, reply) => {
    const id = body.execution_id;
    const call = (calls.get(id) ?? 0) + 1;
    calls.set(id, call);
    const record = await market.record(id);
    if (record === null) witness(`I11: ${id} was dispatched before its escrow was funded`);
    const name = body.task.split(':')[0] as BehaviourName;
    // A different result each time: at most one of them may count.
    const good = goodAnswer(market.signingKey, id, `${body.task}, answer ${call}`);
    switch (name) {
      case 'slow':
        await sleep(SLOW_MS);
        return reply(good);
      case 'unavailable at first':
        return call === 1 ? void response.writeHead(503).end() : reply(good);
      case 'cut at first':
        return call === 1 ? void response.destroy() : reply(good);
      case 'failed':
        return reply(failedAnswer(id));
      case 'status 500':
        return void response.writeHead(500).end();
      case 'garbage':
        return void response.end('{"execution_id":');
      case 'wrong hash':
        return reply({ ...good, result: 'another' });
      case 'wrong id':
        return reply({ ...good, execution_id: '00000000-0000-8000-8000-000000000000' });
      case 'wrong key':
        return reply({ ...good, signature: goodAnswer(stranger, id, 'x').signature });
      case 'hangs':
        return;
      case 'drips':
        return void response.write('{');
      default:
        return reply(good);
    }
  };
}

/** Two relays with a working and a standby indexer on PostgreSQL. */
interface Stage {
  several: SeveralRelays;
  proxy: RpcProxy;
  start(number: number, hear: (text: string) => void): Promise<RelayHandle>;
}

export async function startChaos(): Promise<Chaos> {
  const several = await startSeveralRelays({ slotTimeMs: 100 });
  const proxy = await startRpcProxy(several.market.node);
  const environment = { ...proxy.environment, LOG_LEVEL: 'debug' };
  const stage = {
    several,
    proxy,
    start: (number: number, hear: (text: string) => void) => several.startRelay(number, environment, hear),
  };
  return {
    run: (seed, executions) => runSeed(stage, seed, executions),
    async stop() {
      await proxy.close();
      await several.stop();
    },
  };
}

async function runSeed(stage: Stage, seed: number, executions: number): Promise<string[]> {
  const { several, proxy } = stage;
  const { market, authorities } = several;
  const plan = makePlan(seed, executions);
  const violations: string[] = [];
  let log = '';
  market.setBehaviour(createCreator(market, (violation) => violations.push(violation)));
  const start = (number: number) =>
    stage.start(number, (text) => {
      log += text;
    });
  const running: (RelayHandle | null)[] = await Promise.all([start(0), start(1)]);
  const urls = () => running.flatMap((relay) => relay?.url ?? []);
  const before: Picture = await pollOne(market, urls()[0]!, authorities);

  // A faulty node or database can prevent a start, so the relay is started again, as an operator would do.
  async function restart(number: number): Promise<void> {
    await running[number]?.kill();
    running[number] = null;
    while (!running[number]) running[number] = await start(number).catch(() => null);
  }
  async function kill(victim: Victim): Promise<void> {
    if (victim === 'indexer') return several.indexers.killWorking();
    if (victim === 'relay 0' || victim === 'relay 1') return restart(Number(victim.at(-1)));
    const database = await sharedPostgres();
    await (victim === 'database killed' ? database.kill() : database.stop());
    await sleep(AWAY_MS);
    await database.start();
  }
  async function makeTrouble(): Promise<void> {
    const started = Date.now();
    const waitFor = (atMs: number) => sleep(Math.max(0, started + atMs - Date.now()));
    const faults = (async () => {
      for (const { name, atMs, lastsMs } of plan.faults) {
        await waitFor(atMs);
        FAULTS[name](proxy);
        await waitFor(atMs + lastsMs);
        endFault(proxy);
      }
    })();
    for (const { victim, atMs } of plan.kills) {
      await waitFor(atMs);
      await kill(victim);
    }
    await faults;
  }
  const progress = async () =>
    JSON.stringify([
      urls().length,
      ...(await market.journal().catch(() => [])).map(({ execution_id, state }) => [execution_id, state]),
    ]);
  const wait: Wait = (what, poll) => until(what, poll, QUIET_MS, progress);
  const trouble = makeTrouble();
  try {
    const ended = await Promise.all(
      plan.executions.map(async (planned, n) => {
        await sleep(planned.atMs);
        return execute(market, urls, wait, planned, { seed, n });
      }),
    );
    await trouble;
    const isOver = ({ state }: { state: string }) => ['settled', 'refunded', 'void'].includes(state);
    await wait('every row ends', async () => (await market.journal().catch(() => null))?.every(isOver) ?? false);
    for (const url of urls()) {
      const after = await pollOne(market, url, authorities);
      violations.push(...(await findViolations(market, url, { ended, before, after, log }, authorities)));
    }
  } catch (error) {
    violations.push(`the run did not end: ${(error as Error).message}`);
  } finally {
    await trouble;
    await Promise.all(running.map((relay) => relay?.kill()));
  }
  return violations;
}

/** Repeats the call until its answer is final. For an asynchronous call, then polls until it has ended. */
async function execute(
  market: TestMarketplace,
  urls: () => string[],
  wait: Wait,
  planned: PlannedExecution,
  { seed, n }: { seed: number; n: number },
): Promise<Ended> {
  const { apiKey, wallet } = market.callers[planned.caller]!;
  const key = `chaos-${seed}-${n}`;
  const task = `${planned.behaviour}: canary-task-${seed}-${n}`;
  const timeout = BEHAVIOURS[planned.behaviour] === 'timeout' ? { timeout_seconds: 1 } : {};
  const body = { task, ...timeout, ...(planned.async && { async: true }) };
  let answer: Answer | null = null;
  let asked = n;
  // Alternates between the relays, as behind a proxy.
  const ask = async (path: string, options: object): Promise<Answer | null> => {
    const among = urls();
    asked += 1;
    const at = among[asked % among.length];
    return at === undefined ? null : request(at, path, { apiKey, ...options }).catch(() => null);
  };
  await wait(`${task} has a last answer`, async () => {
    answer = await ask(`/v1/agents/${market.agentId}/execute`, { body, headers: { 'idempotency-key': key } });
    const code = answer?.body?.error?.code;
    const isOpenQuestion = !answer || code === 'request_in_progress' || code === 'service_unavailable';
    if (isOpenQuestion) await sleep(RETRY_MS);
    return !isOpenQuestion;
  });
  const first: Answer = answer!;
  if (first.status < 300 && first.body.status !== 'completed') {
    await wait(`${task} ends`, async () => {
      answer = await ask(`/v1/executions/${first.body.execution_id}`, {});
      const status = answer?.body?.status;
      return status === 'completed' || (status === 'failed' && answer?.body.cost_usdc === 0);
    });
  }
  // A void row keeps its id when the key's next call gets one of a later half-hour.
  const ids = idsOfDay(wallet.publicKey.toString(), tailOf(key), BigInt(await market.node.now()));
  let rows: { execution_id: string; state: string }[] = [];
  // The database may be away.
  await wait('the journal is read', async () => {
    const journal = await market.journal().catch(() => null);
    rows = (journal ?? []).filter(({ execution_id }) => ids.includes(execution_id));
    return journal !== null;
  });
  const id = (rows.find(({ state }) => state !== 'void') ?? rows[0])?.execution_id ?? ids[0]!;
  return { planned, task, id, answer: answer! };
}
