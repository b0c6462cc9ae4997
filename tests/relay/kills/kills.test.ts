/**
 * The kill matrix: a real relay process is killed by SIGKILL before and after every journal move of executions, and
 * before, during and after the sending of every transaction. It is restarted, or on PostgreSQL another relay on the ledger
 * takes over. In every case each execution ends in time, was charged at most once, left exactly the transactions of its
 * outcome, and can be read.
 */
import { expect } from 'chai';
import { LEASE_MS } from '../../../app/relay/ledger/leases.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  afterPaying,
  type Balances,
  failedAnswer,
  goodAnswer,
  type RelayHandle,
  useMarketplace,
} from '../../harness/node/marketplace.ts';
import { stopAt } from '../../harness/node/standstill.ts';
import { administer, onPostgres, sharedPostgres } from '../../harness/postgres.ts';
import { startWitness, type Witness } from './witness.ts';

/** Time limit for all executions to end, from the restart, or from the kill if another relay runs. */
const END_WITHIN_MS = 30_000;
/** Plus this many times the time until all stood at their points, because this computer can be busy. */
const STANDING_TIMES = 3;
/** On PostgreSQL a relay counts as dead when its connection has ended and it has missed two renewals of its lease. */
const SILENT_MS = onPostgres ? (2 * LEASE_MS) / 5 : 0;
const TIMEOUT_SECONDS = 1;
/** Relays that share a ledger have PostgreSQL. How a killed relay starts again does not depend on the database. */
const MODE = onPostgres ? 'taken over' : 'started again';

/** Waits until PostgreSQL has run long enough for a new relay to decide at once which relays are dead. */
async function outlastStart(): Promise<void> {
  const server = await sharedPostgres();
  const age = 'SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000 AS ms';
  const isOld = async () => {
    const [row] = (await administer(server, age)) as { ms: string }[];
    return Number(row?.ms) > LEASE_MS + SILENT_MS;
  };
  await until('PostgreSQL has run for a while', isOld);
}

const ENDINGS = ['completed', 'failed', 'timeout'] as const;
type Ending = (typeof ENDINGS)[number];

const sidesOf = (moves: string[]) => moves.flatMap((move) => [`${move}:before`, `${move}:after`]);
const sendsOf = (name: string) => ['before', 'sent', 'after'].map((side) => `send-${name}:${side}`);
const OPENING = [
  ...sidesOf(['claim', 'openSigned', 'openConfirmed', 'dispatched']),
  ...sendsOf('open'),
  'creator:during',
];
const REFUNDING = [...sidesOf(['refunding', 'refunded']), ...sendsOf('refund')];
const SETTLING = [...OPENING, ...sidesOf(['storeResult', 'verified', 'settled']), ...sendsOf('settle')];
/** From the creator's call until its refund is decided, it makes a difference that the call's time runs. */
const TIMING = [...sidesOf(['dispatched']), 'creator:during', 'refunding:before'];
/** All that can depend on the database: a relay that takes over finds the row as each move has left it. */
const isStored = (point: string) => /^(?!send-).*:after$/.test(point);
const POINTS: Record<Ending, string[]> = onPostgres
  ? { completed: SETTLING.filter(isStored), failed: REFUNDING.filter(isStored), timeout: [] }
  : { completed: SETTLING, failed: REFUNDING, timeout: TIMING };
const TRIED = ENDINGS.filter((ending) => POINTS[ending].length > 0);
/** A relay killed at these points has sent nothing, and nothing will be sent: the call ends at no cost. */
const NOTHING_SENT = ['claim:before', 'claim:after', 'openSigned:before'];
/** The creator's time runs out while no relay works, so the creator is not to blame. */
const INTERRUPTED = ['dispatched:after', 'refunding:before'];
const ERROR_CODES: Record<Ending, string | null> = {
  completed: null,
  failed: 'execution_failed',
  timeout: 'execution_timeout',
};

/** The outcome of one execution. */
interface End {
  /** Null if it never had a row. */
  id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of the API, asserted field by field
  body: any;
  /** Milliseconds from the restart, or the kill, until the API showed an end. */
  ms: number;
}

function isEnded(body: End['body']): boolean {
  return body.status === 'completed' || (body.status === 'failed' && body.cost_usdc === 0);
}

describe('kill -9', () => {
  let witness: Witness;
  /** Executions whose creator was called and does not answer before the relay is killed. */
  const held = new Set<string>();
  /** Tasks of which the creator was asked. */
  const asked = new Set<string>();

  // Blockhashes live 150 slots, longer than a restart takes on a busy machine. Expiry has separate tests.
  const market = useMarketplace({ here: true, slotTimeMs: 300 });
  before(async () => {
    witness = await startWitness(market);
    await market.relay.kill();
    market.setBehaviour((body, _response, reply) => {
      asked.add(body.task);
      if (body.task.includes('creator:during') && !held.has(body.task)) return void held.add(body.task);
      if (body.task.includes('timeout')) return;
      if (body.task.includes('completed'))
        reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`));
      else reply(failedAnswer(body.execution_id));
    });
  });
  after(() => witness.stop());

  function execute(relay: RelayHandle, task: string) {
    const body = { task, timeout_seconds: task.includes('timeout') ? TIMEOUT_SECONDS : 60 };
    return market.execute(relay.url, body, { headers: { 'idempotency-key': task.replace(/\W+/g, '-') } });
  }

  /** Stops one execution of each task at its point, and kills the process. */
  async function killAll(doomed: RelayHandle, tasks: string[]): Promise<void> {
    const calls = tasks.map((task) => execute(doomed, task).catch(() => undefined));
    await until('every execution stands at its point', async () =>
      tasks.every((task) => doomed.standing.has(task) || held.has(task)),
    );
    await doomed.kill();
    await Promise.all(calls);
  }

  /** Waits until all tasks with a row have ended, as shown by this relay's API. */
  async function followAll(relay: RelayHandle, tasks: string[], since: number): Promise<Map<string, End>> {
    const ids = await market.executionsByTask();
    const ends = new Map<string, End>();
    await until('every execution ends', async () => {
      for (const task of tasks) {
        if (ends.has(task)) continue;
        const id = ids.get(task) ?? null;
        const { body } = id ? await market.read(relay.url, id) : { body: { status: 'failed', cost_usdc: 0 } };
        if (body?.status && isEnded(body)) ends.set(task, { id, body, ms: Date.now() - since });
      }
      return ends.size === tasks.length;
    });
    return ends;
  }

  /** Checks an opened execution: its answer, its record, and exactly one opening and one ending transaction. */
  async function assertEnded(point: string, ending: Ending, { id, body }: End): Promise<void> {
    const task = taskOf(ending, point);
    const record = await market.record(id!);
    expect(await market.escrowExists(id!)).to.equal(false);
    const transactions = await market.transactionsOf(id!);
    expect(transactions.map(({ err }) => err)).to.deep.equal([null, null]);
    if (ending === 'completed') {
      expect(record?.status).to.equal('completed');
      expect(body).to.include({ status: 'completed', cost_usdc: 0.25, result: `done: ${task}` });
      expect(body.result_hash).to.equal(`sha256:${Buffer.from(record!.resultHash).toString('hex')}`);
    } else {
      expect(record?.status).to.equal('refunded');
      expect(body).to.include({ status: 'failed', cost_usdc: 0, result: null, refund: 'done' });
      const code = ERROR_CODES[ending];
      const isTimeout = ending === 'timeout';
      if (isTimeout && INTERRUPTED.includes(point)) expect(body.error.code).to.equal('service_unavailable');
      // At `creator:during` the relay may see the timeout before it is killed. A busy one may come too late to ask.
      else if (isTimeout && (point === 'creator:during' || !asked.has(task)))
        expect(body.error.code).to.be.oneOf([code, 'service_unavailable']);
      else expect(body.error.code).to.equal(code);
    }
  }

  async function assertNeverOpened({ id, body }: End): Promise<void> {
    expect(body).to.include({ status: 'failed', cost_usdc: 0 });
    if (id === null) return;
    expect(body.error.code).to.equal('service_unavailable');
    expect(await market.record(id)).to.equal(null);
    expect(await market.transactionsOf(id)).to.deep.equal([]);
  }

  const eventsOf = (point: string, ending: Ending) => {
    if (NOTHING_SENT.includes(point)) return ['failed'];
    return ['pending', 'running', ending === 'completed' ? 'completed' : 'failed'];
  };

  /**
   * Waits for all final events. Another relay repeats a delivery in progress at the kill once its attempt has timed
   * out.
   */
  async function untilTold(ends: Map<string, End>, taskOf: (ending: Ending, point: string) => string): Promise<void> {
    const wanted = TRIED.flatMap((ending) =>
      POINTS[ending].map((point) => ({
        id: ends.get(taskOf(ending, point))!.id,
        end: eventsOf(point, ending).at(-1)!,
      })),
    );
    await until('every end is reported', async () =>
      wanted.every(({ id, end }) => id === null || witness.heardOf(id).includes(end)),
    );
  }

  const taskOf = (ending: Ending, point: string) => stopAt(point, `${ending}, ${MODE}`);
  const tasks = TRIED.flatMap((ending) => POINTS[ending].map((point) => taskOf(ending, point)));
  let ends: Map<string, End>;
  let balances: { before: Balances; after: Balances };
  let standingMs: number;
  /** Answers to the calls that were opened and completed, repeated with their keys. */
  const repeats = new Map<string, Answer>();

  before(async () => {
    const [doomed, neighbour] = await Promise.all([
      market.startRelayProcess({ STANDSTILL: '1', ...(onPostgres && { WITHOUT_INDEXER: '1' }) }),
      onPostgres ? market.startRelayProcess() : null,
    ]);
    const before = await market.balances();
    if (onPostgres) await outlastStart();
    const begun = Date.now();
    await killAll(doomed, tasks);
    const killed = Date.now();
    standingMs = killed - begun;
    const relay = neighbour ?? (await market.startRelayProcess());
    ends = await followAll(relay, tasks, onPostgres ? killed : Date.now());
    for (const point of POINTS.completed.filter((one) => !NOTHING_SENT.includes(one)))
      repeats.set(point, await execute(relay, taskOf('completed', point)));
    balances = { before, after: await market.balances() };
    await untilTold(ends, taskOf);
    await relay.kill();
  });

  for (const ending of TRIED) {
    describe(`${ending}, ${MODE}`, () => {
      it('reports every event of each execution to its webhook, in order', () => {
        for (const point of POINTS[ending]) {
          const { id } = ends.get(taskOf(ending, point))!;
          if (id !== null) expect(witness.heardOf(id), point).to.deep.equal(eventsOf(point, ending));
        }
        expect(witness.faults).to.deep.equal([]);
      });

      for (const point of POINTS[ending]) {
        it(`ends the call exactly once, or never charges for it, after a kill at ${point}`, async () => {
          const end = ends.get(taskOf(ending, point))!;
          if (NOTHING_SENT.includes(point)) await assertNeverOpened(end);
          else await assertEnded(point, ending, end);
          expect(end.id === null).to.equal(point === 'claim:before');
        });
      }
    });
  }

  it('answers repeats with the one execution of their key', () => {
    for (const [point, { status, body, text }] of repeats) {
      const task = taskOf('completed', point);
      expect([status, body.result], `${point}: ${text}`).to.deep.equal([200, `done: ${task}`]);
      expect(body.execution_id, point).to.equal(ends.get(task)!.id);
    }
  });

  it('ends all of them in time, with every balance exact to the base unit', () => {
    for (const ending of TRIED) {
      const slowest = Math.max(...POINTS[ending].map((point) => ends.get(taskOf(ending, point))!.ms));
      const deadlineMs = ending === 'timeout' ? TIMEOUT_SECONDS * 1_000 : 0;
      expect(slowest, ending).to.be.at.most(END_WITHIN_MS + SILENT_MS + deadlineMs + STANDING_TIMES * standingMs);
    }
    expect(balances.after).to.deep.equal(afterPaying(balances.before, BigInt(repeats.size)));
  });
});
