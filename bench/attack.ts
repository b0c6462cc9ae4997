/**
 * Times paid calls with large bodies while strangers send agent descriptions with patterns that are slow to check. Each
 * description comes from a different address. Rounds with and without the attack alternate, under the same conditions.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { metadataOf } from '../tests/harness/edge/rows.ts';
import { request, startMarketplace, type TestMarketplace } from '../tests/harness/node/marketplace.ts';
import { atMost, type Percentiles, percentiles, round, spread, toTable } from './figures.ts';
import type { Part, Settings } from './part.ts';
import { many } from './relay.ts';

/** Descriptions that strangers send per second. */
const PER_SECOND = 25;
/** Paid calls in parallel. */
const CALLERS = 4;
/** Calls in a round, with or without the attack. */
const CALLS = 50;
const BODY_BYTES = 25_000;
/** Properties of a description, each with a pattern that is slow to compile. */
const PATTERNS = 100;
const GOAL = 2;

export interface AttackFigures {
  slot_ms: number;
  calm_ms: Percentiles;
  attacked_ms: Percentiles;
  /** p99 under attack divided by p99 undisturbed. */
  ratio: number;
  /** Number of strangers' requests by status of the answer. */
  strangers: Record<string, number>;
  /** Number of paid calls not answered with 200. */
  failures: number;
}

export const attackPart: Part = {
  about: 'paid calls while other clients send requests that are slow to check',
  async run(settings) {
    const figures = await benchAttack(settings);
    const goals = [atMost('p99 of paid calls under attack, times the undisturbed one', GOAL, figures.ratio)];
    return { figures, table: describe(figures), goals };
  },
};

async function benchAttack({ quick, slotMs, report }: Settings): Promise<AttackFigures> {
  const market = await startMarketplace({ slotTimeMs: slotMs, price: '0.01', environment: { TRUST_PROXY: '1' } });
  const task = 'x'.repeat(BODY_BYTES);
  let failures = 0;
  async function call(): Promise<number> {
    const { apiKey } = market.callers[0]!;
    const started = performance.now();
    const answer = await request(market.relay.url, `/v1/agents/${market.agentId}/execute`, { apiKey, body: { task } });
    if (answer.status !== 200) {
      failures += 1;
      report(`a call was answered ${answer.status}: ${answer.text}`);
    }
    return performance.now() - started;
  }
  const calm: number[] = [];
  const attacked: number[] = [];
  const attack = createAttack(market);
  try {
    await many(call, CALLERS, CALLS);
    for (let turn = 0; turn < (quick ? 2 : 4); turn += 1) {
      report(`attack: ${2 * CALLS} calls, half of them under attack`);
      calm.push(...(await many(call, CALLERS, CALLS)));
      attack.begin();
      attacked.push(...(await many(call, CALLERS, CALLS)));
      await attack.end();
    }
  } finally {
    await attack.end();
    await market.stop();
  }
  const [calm_ms, attacked_ms] = [percentiles(calm), percentiles(attacked)];
  const ratio = attacked_ms.p99 / calm_ms.p99;
  return { slot_ms: slotMs, calm_ms, attacked_ms, ratio, strangers: attack.answers, failures };
}

/** Sends descriptions at PER_SECOND from `begin` to `end`. `end` waits for their answers. */
function createAttack({ relay }: TestMarketplace) {
  const answers: Record<string, number> = {};
  const open = new Set<Promise<void>>();
  let sent = 0;
  let timer: NodeJS.Timeout | undefined;

  async function post(): Promise<void> {
    sent += 1;
    const headers = { 'x-forwarded-for': `198.18.${(sent >> 8) & 255}.${sent & 255}` };
    const { status } = await request(relay.url, '/v1/metadata', { body: describeSlowly(sent), headers });
    answers[status] = (answers[status] ?? 0) + 1;
  }

  return {
    answers,
    begin(): void {
      timer = setInterval(() => {
        const posted = post().finally(() => open.delete(posted));
        open.add(posted);
      }, 1_000 / PER_SECOND);
    },
    async end(): Promise<void> {
      clearInterval(timer);
      await Promise.all(open);
      // The worker thread may still be checking the last one.
      await sleep(1_000);
    },
  };
}

/** A description that is slow to check and differs for each `number`. */
function describeSlowly(number: number) {
  const names = Array.from({ length: PATTERNS }, (_, index) => `p${index}`);
  const pattern = (name: string) => `(\\pL|\\pN|\\pM|\\pS){1,999}${number}${name}`;
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', pattern: pattern(name) }]));
  return metadataOf({ input_schema: { type: 'object', properties } });
}

function describe({ slot_ms, calm_ms, attacked_ms, ratio, strangers, failures }: AttackFigures): string {
  const answered = Object.entries(strangers).map(([status, count]) => `${count} times ${status}`);
  return toTable(
    [`paid calls of ${BODY_BYTES / 1_000} KB, ${CALLERS} at once, slots of ${slot_ms} ms`, ''],
    [
      ['undisturbed, ms p50 / p99', spread(calm_ms)],
      [`with ${PER_SECOND} slow descriptions a second, ms p50 / p99`, spread(attacked_ms)],
      ['p99 under attack, times the undisturbed one', round(ratio, 2)],
      ["strangers' requests by answer", answered.join(', ')],
      ['calls that failed', failures],
    ],
  );
}
