/**
 * One run of chaos: executions of a plan against a relay behind a faulty node, which is killed and started again
 * meanwhile. Clients repeat what they are unsure of under its Idempotency-Key, as the documentation tells them to.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PublicKey } from '@solana/web3.js';
import { nonceOf } from '../../../app/relay/calls/idempotency.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import { deriveExecutionId, formatUuid, nonceDay } from '../../../app/sdk/receipt/receipt.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  type Behaviour,
  failedAnswer,
  goodAnswer,
  type RelayHandle,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';
import { beginFault, endFault } from './faults.ts';
import { type Ended, findViolations, lookAt, type Picture } from './invariants.ts';
import { BEHAVIOURS, type BehaviourName, makePlan, type Plan, type PlannedExecution } from './plan.ts';

const RETRY_MS = 200;
const SLOW_MS = 400;
/**
 * No row moves for so long: something hangs. An open that never lands stands still for its window of 60 s, and a relay
 * that is killed then may take long to start on a busy machine.
 */
const QUIET_MS = 150_000;

/** Waits as long as the run makes progress. */
type Wait = (what: string, look: () => Promise<boolean>) => Promise<void>;

export interface ChaosRun {
  seed: number;
  plan: Plan;
  violations: string[];
  completed: number;
  failed: number;
  ms: number;
  /** What the relays printed. */
  log: string;
}

export interface Chaos {
  run(seed: number, executions: number): Promise<ChaosRun>;
  stop(): Promise<void>;
}

/** What the creator saw that must never be. */
type Witness = (violation: string) => void;

/** The creator, who plays the behaviour that the task begins with, and looks on the chain whether it is paid for. */
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
    // Another result each time: only one of them may ever count.
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

export async function startChaos(): Promise<Chaos> {
  const market = await startMarketplace({ slotTimeMs: 100 });
  await market.relay.kill();
  const proxy = await startRpcProxy(market.node);
  const environment = {
    SOLANA_RPC_URL: proxy.rpcUrl,
    SOLANA_WS_URL: proxy.wsUrl,
    INDEXER_RPC_URL: market.node.rpcUrl,
    INDEXER_WS_URL: market.node.wsUrl,
    LOG_LEVEL: 'debug',
  };
  return {
    run: (seed, executions) => runSeed(market, proxy, environment, seed, executions),
    async stop() {
      await proxy.close();
      await market.stop();
    },
  };
}

async function runSeed(
  market: TestMarketplace,
  proxy: RpcProxy,
  environment: NodeJS.ProcessEnv,
  seed: number,
  executions: number,
): Promise<ChaosRun> {
  const begun = Date.now();
  const plan = makePlan(seed, executions);
  const violations: string[] = [];
  let log = '';
  market.setBehaviour(createCreator(market, (violation) => violations.push(violation)));
  const start = () =>
    market.startRelayProcess(environment, (text) => {
      log += text;
    });
  let relay: RelayHandle | null = await start();
  const before: Picture = await lookAt(market, relay.url);
  const day = nonceDay(BigInt(await market.node.now()));

  // A node that is out of order while the relay starts keeps it from starting; an operator starts it again.
  async function restart(): Promise<void> {
    await relay?.kill();
    relay = null;
    while (!relay) relay = await start().catch(() => null);
  }
  async function makeTrouble(): Promise<void> {
    const started = Date.now();
    const waitFor = (atMs: number) => sleep(Math.max(0, started + atMs - Date.now()));
    const faults = (async () => {
      for (const { name, atMs, lastsMs } of plan.faults) {
        await waitFor(atMs);
        beginFault(proxy, name);
        await waitFor(atMs + lastsMs);
        endFault(proxy);
      }
    })();
    for (const atMs of plan.kills) {
      await waitFor(atMs);
      await restart();
    }
    await faults;
  }
  const progress = async () =>
    JSON.stringify([
      relay !== null,
      ...(await market.journal()).map(({ execution_id, state }) => [execution_id, state]),
    ]);
  const wait: Wait = (what, look) => until(what, look, QUIET_MS, progress);
  const trouble = makeTrouble();
  let completed = 0;
  try {
    const ended = await Promise.all(
      plan.executions.map(async (planned, n) => {
        await sleep(planned.atMs);
        return execute(market, () => relay?.url ?? null, wait, planned, { seed, n, day });
      }),
    );
    completed = ended.filter(({ answer }) => answer.body?.status === 'completed').length;
    await trouble;
    const isOver = ({ state }: { state: string }) => ['settled', 'refunded', 'void'].includes(state);
    await wait('every row ends', async () => (await market.journal()).every(isOver));
    const after = await lookAt(market, relay!.url);
    violations.push(...(await findViolations(market, relay!.url, { ended, before, after, log })));
  } catch (error) {
    violations.push(`the run did not end: ${(error as Error).message}`);
  } finally {
    await trouble;
    await relay!.kill();
  }
  return { seed, plan, violations, completed, failed: executions - completed, ms: Date.now() - begun, log };
}

/** Send until there is an answer that will not change; then, for an asynchronous call, ask until it has ended. */
async function execute(
  market: TestMarketplace,
  url: () => string | null,
  wait: Wait,
  planned: PlannedExecution,
  { seed, n, day }: { seed: number; n: number; day: number },
): Promise<Ended> {
  const { apiKey, wallet } = market.callers[planned.caller]!;
  const key = `chaos-${seed}-${n}`;
  const id = formatUuid(deriveExecutionId(new PublicKey(wallet.publicKey).toBytes(), nonceOf(key, day)));
  const task = `${planned.behaviour}: canary-task-${seed}-${n}`;
  const timeout = BEHAVIOURS[planned.behaviour] === 'timeout' ? { timeout_seconds: 1 } : {};
  const body = { task, ...timeout, ...(planned.async && { async: true }) };
  let answer: Answer | null = null;
  const ask = async (path: string, options: object): Promise<Answer | null> => {
    const at = url();
    return at === null ? null : request(at, path, { apiKey, ...options }).catch(() => null);
  };
  await wait(`${task} has a last answer`, async () => {
    answer = await ask(`/v1/agents/${market.agentId}/execute`, { body, headers: { 'idempotency-key': key } });
    const code = answer?.body?.error?.code;
    const isOpenQuestion = !answer || code === 'request_in_progress' || code === 'service_unavailable';
    if (isOpenQuestion) await sleep(RETRY_MS);
    return !isOpenQuestion;
  });
  if (answer!.status < 300 && answer!.body.status !== 'completed') {
    await wait(`${task} ends`, async () => {
      answer = await ask(`/v1/executions/${id}`, {});
      const status = answer?.body?.status;
      return status === 'completed' || (status === 'failed' && answer?.body.cost_usdc === 0);
    });
  }
  return { planned, task, id, answer: answer! };
}
