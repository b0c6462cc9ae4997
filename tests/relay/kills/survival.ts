/**
 * Runs calls at two relays during a disturbance, and then checks them against the chain. Every execution ends once,
 * with exactly two transactions. All balances are exact, both relays show the outcome, and no caller was told a
 * different one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  FEE,
  failedAnswer,
  goodAnswer,
  PRICE,
  type RelayHandle,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';

/** Calls that wait at the creator when the disturbance begins. */
const CALLS = 16;
/** Calls that begin during the disturbance, with an Idempotency-Key, by clients that retry as documented. */
const LATE_CALLS = 4;
/** One of four calls fails. */
const REFUNDED = CALLS / 4;
const TIMEOUT_SECONDS = 600;
const RETRY_MS = 250;
/** Executions that are checked in parallel. */
const AT_ONCE = 20;
/** If no row moves for this long, something hangs. An open that never lands keeps its row for its window of 60 s. */
const QUIET_MS = 120_000;

export interface Disturbance {
  name: string;
  /** Takes something away and restores it. The creator has started to answer by then. */
  disturb(): Promise<void>;
  /** The relay whose calls another relay can finish, with a second call of the creator; null if there is none. */
  loses: number | null;
}

export interface Survivors {
  market: TestMarketplace;
  /** The running relays. */
  relays: () => [RelayHandle, RelayHandle];
}

/** One execution from its caller's view. */
interface Reported {
  task: string;
  /** The relay that got the request. */
  relay: number;
  answer: Answer | Error;
}

const isFailure = (task: string) => task.includes('failure');

/** Runs the calls during the disturbance; throws if any check fails. */
export async function survive({ market, relays }: Survivors, disturbance: Disturbance): Promise<void> {
  const held: (() => void)[] = [];
  let holds = true;
  market.setBehaviour((body, _response, reply) => {
    const good = goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`);
    const answer = () => reply(isFailure(body.task) ? failedAnswer(body.execution_id) : good);
    if (holds) held.push(answer);
    else answer();
  });
  const before = await market.balances();
  const tasks = Array.from(
    { length: CALLS },
    (_, n) => `${n % 4 === 0 ? 'failure' : 'success'} ${n}, ${disturbance.name}`,
  );
  let early: Reported | null = null;
  const calls = tasks.map((task, n) =>
    report(task, n % 2, execute(market, relays()[n % 2]!, task)).then((told) => {
      if (holds) early ??= told;
      return told;
    }),
  );
  const moved = async () =>
    JSON.stringify(
      await market.query(
        'ledger',
        'SELECT state, CAST(count(*) AS TEXT) AS rows FROM executions GROUP BY state ORDER BY state',
      ),
    );
  await until(
    'every call is at the creator',
    async () => {
      if (early) throw new Error(`answered before its creator: ${describe(early)}`);
      return held.length === CALLS;
    },
    QUIET_MS,
    () => held.length,
  );
  const ids = await market.executionsByTask();

  const late = Array.from({ length: LATE_CALLS }, (_, n) => `late ${n}, ${disturbance.name}`);
  for (const answer of held.splice(0, CALLS / 2)) answer();
  holds = false;
  const disturbing = disturbance.disturb();
  const lateCalls = late.map((task, n) => report(task, n % 2, persist(market, relays, task, n)));
  for (const answer of held.splice(0)) answer();
  await disturbing;
  await until('every execution ends', () => isAllOver(market), QUIET_MS, moved);
  const told = await Promise.all([...calls, ...lateCalls]);
  const all = await market.executionsByTask();
  for (const task of late) ids.set(task, all.get(task)!);

  const paid = CALLS - REFUNDED + LATE_CALLS;
  const after = await market.balances();
  expect(after, 'balances').to.deep.equal({
    callers: [before.callers[0]! - PRICE * BigInt(paid), before.callers[1]],
    creator: before.creator + (PRICE - FEE) * BigInt(paid),
    treasury: before.treasury + FEE * BigInt(paid),
  });
  for (let start = 0; start < told.length; start += AT_ONCE) {
    const some = told.slice(start, start + AT_ONCE);
    await Promise.all(some.map((one) => requireEnded(market, relays(), ids.get(one.task)!, one, disturbance)));
  }
}

async function report(task: string, relay: number, answer: Promise<Answer>): Promise<Reported> {
  return { task, relay, answer: await answer.catch((error: Error) => error) };
}

const describe = ({ task, answer }: Reported) =>
  `${task}: ${answer instanceof Error ? `${answer.message}: ${answer.cause}` : answer.text}`;

function execute(market: TestMarketplace, relay: RelayHandle, task: string, headers = {}): Promise<Answer> {
  return market.execute(relay.url, { task, timeout_seconds: TIMEOUT_SECONDS }, { headers });
}

/** Repeats the call at alternating relays until an answer is final. */
async function persist(market: TestMarketplace, relays: Survivors['relays'], task: string, n: number): Promise<Answer> {
  for (let attempt = n; ; attempt += 1) {
    const answer = await execute(market, relays()[attempt % 2]!, task, {
      'idempotency-key': task.replace(/\W+/g, '-'),
    }).catch(() => null);
    const isOpen =
      answer === null ||
      answer.status === 202 ||
      answer.body.error?.code === 'request_in_progress' ||
      answer.status === 503;
    if (!isOpen) return answer;
    await sleep(RETRY_MS);
  }
}

async function isAllOver(market: TestMarketplace): Promise<boolean> {
  const [{ open }] = await market.query(
    'ledger',
    "SELECT count(*) AS open FROM executions WHERE state NOT IN ('settled', 'refunded', 'void')",
  );
  return open === 0n;
}

/** Checks an execution on the chain, at both relays, and by its caller's answer and the calls of its creator. */
async function requireEnded(
  market: TestMarketplace,
  relays: RelayHandle[],
  id: string,
  told: Reported,
  how: Disturbance,
) {
  const { task } = told;
  expect(id, task).to.be.a('string');
  expect((await market.record(id))?.status, task).to.equal(isFailure(task) ? 'refunded' : 'completed');
  expect(await market.escrowExists(id), task).to.equal(false);
  const named = await market.transactionsOf(id);
  expect(named.filter(({ err }) => err === null).length, `transactions of ${task}`).to.equal(2);
  for (const relay of relays) {
    const { body } = await market.read(relay.url, id);
    expect([body.status, body.cost_usdc, body.result], task).to.deep.equal(
      isFailure(task) ? ['failed', 0, null] : ['completed', 0.25, `done: ${task}`],
    );
  }
  const isHandedOver = how.loses !== null && (told.relay === how.loses || task.startsWith('late'));
  expect(market.calls.get(id), `calls of the creator for ${task}`).to.be.within(1, isHandedOver ? 2 : 1);
  requireTrue(told, id);
}

/**
 * Checks the answer that the caller got: the outcome or "not known yet", never a different outcome and never no answer.
 */
function requireTrue({ task, answer }: Reported, id: string): void {
  if (answer instanceof Error) throw answer;
  const { status, body, text } = answer;
  if (status === 202) expect(body, text).to.deep.equal({ execution_id: id, status: 'running' });
  else if (isFailure(task)) {
    expect([status, body.error?.code, body.error?.execution_id], text).to.deep.equal([500, 'execution_failed', id]);
  } else
    expect([status, body.execution_id, body.status, body.result], text).to.deep.equal([
      200,
      id,
      'completed',
      `done: ${task}`,
    ]);
}
