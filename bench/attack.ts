/**
 * Times paid calls with large bodies while strangers attack: with agent descriptions whose patterns are slow to check,
 * each from a different address, and with anonymous requests to /mcp from five addresses at the limit of an address.
 * Rounds with and without an attack alternate, under the same conditions.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair } from '@solana/web3.js';
import { metadataOf } from '../tests/harness/edge/rows.ts';
import { request, startMarketplace, type TestMarketplace } from '../tests/harness/node/marketplace.ts';
import { atMost, type Percentiles, percentiles, round, spread, toTable } from './figures.ts';
import type { Part, Settings } from './part.ts';
import { many } from './relay.ts';

/** Requests per second of an address, the limit by default. */
const LIMIT = 50;
/** Addresses that send as much as the limit admits. */
const ADDRESSES = 5;
/** Callers in parallel. */
const CALLERS = 4;
/** Calls in a round, with or without an attack. */
const CALLS = 50;
const BODY_BYTES = 25_000;
/** Properties of a description, each with a pattern that is slow to compile. */
const PATTERNS = 100;
const GOAL = 2;

/** The requests of strangers, and how many they send per second. `send` gets the number of the request. */
const ATTACKS: Record<string, { perSecond: number; send: (number: number) => Sent }> = {
  'slow descriptions': {
    perSecond: 25,
    send: (number) => ({
      path: '/v1/metadata',
      body: describeSlowly(number),
      headers: { 'x-forwarded-for': `198.18.${(number >> 8) & 255}.${number & 255}` },
    }),
  },
  'lists of tools': {
    perSecond: ADDRESSES * LIMIT,
    send: (number) => ({
      path: '/mcp',
      body: { jsonrpc: '2.0', id: number, method: 'tools/list' },
      headers: {
        accept: 'application/json, text/event-stream',
        'x-forwarded-for': `198.19.0.${1 + (number % ADDRESSES)}`,
      },
    }),
  },
};

interface Sent {
  path: string;
  body: unknown;
  headers: Record<string, string>;
}

interface Attacked {
  attacked_ms: Percentiles;
  /** p99 under attack divided by p99 undisturbed. */
  ratio: number;
  /** Number of strangers' requests by status of the answer. */
  strangers: Record<string, number>;
}

export interface AttackFigures {
  slot_ms: number;
  calm_ms: Percentiles;
  attacks: Record<string, Attacked>;
  /** Number of paid calls not answered with 200. */
  failures: number;
}

export const attackPart: Part = {
  about: 'paid calls while other clients send requests that are slow to answer',
  async run(settings) {
    const figures = await benchAttack(settings);
    const goals = Object.entries(figures.attacks).map(([name, { ratio }]) =>
      atMost(`p99 of paid calls under ${name}, times the undisturbed one`, GOAL, ratio),
    );
    return { figures, table: describe(figures), goals };
  },
};

async function benchAttack({ quick, slotMs, report }: Settings): Promise<AttackFigures> {
  const market = await startMarketplace({
    slotTimeMs: slotMs,
    price: '0.01',
    // With x402, /mcp needs no key.
    feePayer: Keypair.generate(),
    environment: { TRUST_PROXY: '1', PUBLIC_RATE_PER_SECOND: String(LIMIT) },
  });
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
  const attacks = Object.entries(ATTACKS).map(([name, { perSecond, send }]) => ({
    name,
    attacked: [] as number[],
    ...createAttack(market, perSecond, send),
  }));
  try {
    await many(call, CALLERS, CALLS);
    for (let turn = 0; turn < (quick ? 2 : 4); turn += 1) {
      report(`attack: ${CALLS} calls undisturbed`);
      calm.push(...(await many(call, CALLERS, CALLS)));
      for (const { name, attacked, begin, end } of attacks) {
        report(`attack: ${CALLS} calls under ${name}`);
        begin();
        attacked.push(...(await many(call, CALLERS, CALLS)));
        await end();
      }
    }
  } finally {
    for (const { end } of attacks) await end();
    await market.stop();
  }
  const calm_ms = percentiles(calm);
  const figuresOf = ({ attacked, answers }: (typeof attacks)[number]): Attacked => {
    const attacked_ms = percentiles(attacked);
    return { attacked_ms, ratio: attacked_ms.p99 / calm_ms.p99, strangers: answers };
  };
  return {
    slot_ms: slotMs,
    calm_ms,
    attacks: Object.fromEntries(attacks.map((attack) => [attack.name, figuresOf(attack)])),
    failures,
  };
}

/** Sends `perSecond` requests from `begin` to `end`. `end` waits for their answers. */
function createAttack({ relay }: TestMarketplace, perSecond: number, send: (number: number) => Sent) {
  const answers: Record<string, number> = {};
  const open = new Set<Promise<void>>();
  let sent = 0;
  let timer: NodeJS.Timeout | undefined;

  async function post(): Promise<void> {
    sent += 1;
    const { path, body, headers } = send(sent);
    const response = await fetch(`${relay.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    answers[response.status] = (answers[response.status] ?? 0) + 1;
  }

  return {
    answers,
    begin(): void {
      timer = setInterval(() => {
        const posted = post().finally(() => open.delete(posted));
        open.add(posted);
      }, 1_000 / perSecond);
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

function describe({ slot_ms, calm_ms, attacks, failures }: AttackFigures): string {
  const rows = Object.entries(attacks).flatMap(([name, { attacked_ms, ratio, strangers }]) => {
    const answered = Object.entries(strangers).map(([status, count]) => `${count} times ${status}`);
    return [
      [`under ${ATTACKS[name]!.perSecond} ${name} a second, ms p50 / p99`, spread(attacked_ms)],
      ['p99 under attack, times the undisturbed one', round(ratio, 2)],
      ["strangers' requests by answer", answered.join(', ')],
    ];
  });
  return toTable(
    [`paid calls of ${BODY_BYTES / 1_000} KB, ${CALLERS} at once, slots of ${slot_ms} ms`, ''],
    [['undisturbed, ms p50 / p99', spread(calm_ms)], ...rows, ['calls that failed', failures]],
  );
}
