/**
 * `npm run bench -- --only neighbours`: whether a creator that misbehaves troubles the others. Calls of an honest agent, beside
 * an agent that answers well and beside one that does everything wrong in turn, under the same load, in alternating
 * blocks; p50 and p99 of both and their ratios. A figure and no test: on a busy machine a p99 is whatever else runs.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { TYPESCRIPT_ARGS } from '../app/process/typescript.ts';
import { generateSigningKey } from '../app/sdk/creator/creator.ts';
import { request, startMarketplace, type TestMarketplace } from '../tests/harness/node/marketplace.ts';
import { misbehaviours } from '../tests/relay/misbehaviour/cases.ts';
import { type Percentiles, percentiles } from './relay/percentiles.ts';

/** Calls at once to the agent beside, blocks of each kind, and measured calls in each. */
const BESIDE = 4;
const BLOCKS = 3;
const CALLS = 20;
/** Compressing a hundred megabytes is work for the creator's own processor, which here is the relay's too. */
const COSTLY_FOR_ITSELF = /bomb/;

export interface NeighbourFigures {
  calls: number;
  misbehaviours: number;
  /** Milliseconds of calls beside an honest agent, and beside one that misbehaves. */
  normal_ms: Percentiles;
  disturbed_ms: Percentiles;
}

export async function benchNeighbours(report: (line: string) => void): Promise<NeighbourFigures> {
  const [key, stranger] = [generateSigningKey(), generateSigningKey()];
  const bad = Object.entries(misbehaviours(key, stranger))
    .flatMap(([kind, cases]) => cases.map(({ name, end }) => ({ task: `${kind}: ${name}`, end })))
    .filter(({ task, end }) => 'status' in end && !COSTLY_FOR_ITSELF.test(task))
    .map(({ task }) => task);
  const market = await startMarketplace({ slotTimeMs: 400 });
  const child = fork(
    join(import.meta.dirname, '..', 'tests', 'relay', 'misbehaviour', 'badServer.ts'),
    [key, stranger].map((bytes) => Buffer.from(bytes).toString('hex')),
    { execArgv: TYPESCRIPT_ARGS },
  );
  try {
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    const badAgent = await market.list({ name: 'bad', endpoint: `http://127.0.0.1:${port}/execute`, signingKey: key });
    await block(market, badAgent, ['honest']);
    const [normal, disturbed]: [number[], number[]] = [[], []];
    for (let i = 0; i < BLOCKS; i += 1) {
      normal.push(...(await block(market, badAgent, ['honest'])));
      disturbed.push(...(await block(market, badAgent, bad)));
      report(`neighbours: ${i + 1} of ${BLOCKS} blocks`);
    }
    return {
      calls: normal.length,
      misbehaviours: bad.length,
      normal_ms: percentiles(normal),
      disturbed_ms: percentiles(disturbed),
    };
  } finally {
    child.kill();
    await market.stop();
  }
}

/** Milliseconds of calls to the honest agent while the other one is given these tasks, over and over. */
async function block(market: TestMarketplace, badAgent: string, tasks: string[]): Promise<number[]> {
  const execute = (agentId: string, caller: 0 | 1, task: string, timeout_seconds: number) =>
    request(market.relay.url, `/v1/agents/${agentId}/execute`, {
      apiKey: market.callers[caller]!.apiKey,
      body: { task, timeout_seconds },
    });
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
