/**
 * `npx tsx bench/neighbours.ts`: whether a creator that misbehaves troubles the others. Calls of an honest agent, beside
 * an agent that answers well and beside one that does everything wrong in turn, under the same load, in alternating
 * blocks; p50 and p99 of both and their ratios. A figure and no test: on a busy machine a p99 is whatever else runs.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { generateSigningKey } from '../app/sdk/creator.ts';
import { request, startMarketplace } from '../tests/harness/marketplace.ts';
import { misbehaviours } from '../tests/relay/creators/cases.ts';

/** Calls at once to the agent beside, blocks of each kind, and measured calls in each. */
const BESIDE = 4;
const BLOCKS = 3;
const CALLS = 20;
/** Compressing a hundred megabytes is work for the creator's own processor, which here is the relay's too. */
const COSTLY_FOR_ITSELF = /bomb/;

const [key, stranger] = [generateSigningKey(), generateSigningKey()];
const bad = Object.entries(misbehaviours(key, stranger))
  .flatMap(([kind, cases]) => cases.map(({ name, end }) => ({ task: `${kind}: ${name}`, end })))
  .filter(({ task, end }) => 'status' in end && !COSTLY_FOR_ITSELF.test(task))
  .map(({ task }) => task);

const market = await startMarketplace({ slotTimeMs: 400 });
const child = fork(
  join(import.meta.dirname, '..', 'tests', 'relay', 'creators', 'badServer.ts'),
  [key, stranger].map((bytes) => Buffer.from(bytes).toString('hex')),
  { execArgv: ['--import', import.meta.resolve('tsx')] },
);
const [{ port }] = (await once(child, 'message')) as [{ port: number }];
const badAgent = await market.list({ name: 'bad', endpoint: `http://127.0.0.1:${port}/execute`, signingKey: key });

const execute = (agentId: string, caller: 0 | 1, task: string, timeout_seconds: number) =>
  request(market.relay.url, `/v1/agents/${agentId}/execute`, {
    apiKey: market.callers[caller]!.apiKey,
    body: { task, timeout_seconds },
  });

/** Milliseconds of calls to the honest agent while the other one is given these tasks, over and over. */
async function block(tasks: string[]): Promise<number[]> {
  let isOver = false;
  let next = Math.floor(Math.random() * tasks.length);
  const beside = Array.from({ length: BESIDE }, async () => {
    while (!isOver) {
      next += 1;
      await execute(badAgent, 1, tasks[next % tasks.length]!, 1);
    }
  });
  const times: number[] = [];
  for (let i = 0; i < CALLS; i += 1) {
    const begun = performance.now();
    const { status, text } = await execute(market.agentId, 0, 'honest', 60);
    if (status !== 200) throw new Error(`an honest call failed: ${text}`);
    times.push(performance.now() - begun);
  }
  isOver = true;
  await Promise.all(beside);
  return times;
}

function quantile(times: number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}

try {
  await block(['honest']);
  const [normal, disturbed]: [number[], number[]] = [[], []];
  for (let i = 0; i < BLOCKS; i += 1) {
    normal.push(...(await block(['honest'])));
    disturbed.push(...(await block(bad)));
    console.error(`${i + 1} of ${BLOCKS} blocks`);
  }
  console.log(`| ms of ${normal.length} honest calls | p50 | p99 |\n|---|---|---|`);
  const row = (name: string, times: number[]) =>
    console.log(`| ${name} | ${quantile(times, 0.5).toFixed(0)} | ${quantile(times, 0.99).toFixed(0)} |`);
  row('beside an honest agent', normal);
  row(`beside ${bad.length} misbehaviours in turn`, disturbed);
  const ratio = (share: number) => (quantile(disturbed, share) / quantile(normal, share)).toFixed(2);
  console.log(`| ratio (goal: p99 below 2) | ${ratio(0.5)} | ${ratio(0.99)} |`);
} finally {
  child.kill();
  await market.stop();
}
