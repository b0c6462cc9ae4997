/**
 * What keeps strangers' work from delaying paid calls: queues with limits, time limits, and the load of the process. And
 * the queue of one wallet: its order, and calls that are refused before they have waited long.
 */
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { OutOfTime, withinWork } from '../../../app/relay/agents/schemas/timeLimit.ts';
import type { ApiError } from '../../../app/relay/errors.ts';
import { createOpenQueue, type Ticket, type Verdict } from '../../../app/relay/execution/begin/openQueue.ts';
import { createLane, LaneFull } from '../../../app/relay/lanes.ts';
import { createQueue } from '../../../app/relay/longBytes.ts';
import { watchLoad } from '../../../app/relay/operation/load.ts';
import { until } from '../../harness/edge/until.ts';

const PATIENT = { waiting: 100, ofOne: 100, waitMs: 600_000 };
const LIMIT_MS = 50;

describe('a lane', () => {
  /** A lane with work that ends on request. */
  function stand(limits: Partial<typeof PATIENT> = {}) {
    let now = 0;
    const lane = createLane({ ...PATIENT, ...limits }, () => now);
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const ask = (asker: string, name = asker) =>
      lane(asker, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
        return name;
      });
    const endNext = async (ms = 0) => {
      now += ms;
      ends.shift()!();
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { ask, begun, endNext };
  }
  const refusal = (asked: Promise<unknown>) => asked.catch((error) => error instanceof LaneFull);

  it('does one piece of work at a time, first for those who have used the least time', async () => {
    const { ask, begun, endNext } = stand();
    const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => ask(name[0]!, name));
    for (const [done, ms] of [10, 30, 5, 15, 1, 1].entries()) {
      expect(begun).to.have.length(done + 1);
      await endNext(ms);
    }
    // After 10 ms of a, 30 of b and 5 of c.
    expect(begun).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'a3', 'b2']);
    expect(await Promise.all(all)).to.deep.equal(['a1', 'a2', 'a3', 'b1', 'c1', 'b2']);
  });

  it('continues after work that failed', async () => {
    const lane = createLane(PATIENT);
    const failing = lane('a', () => Promise.reject(new RangeError('a fault')));
    const next = lane('b', async () => 'done');
    expect(await failing.catch((error) => error.name)).to.equal('RangeError');
    expect(await next).to.equal('done');
  });

  it('refuses work beyond the queue limits at once, for one asker and in total: that of whoever has the most waiting', async () => {
    const { ask, begun, endNext } = stand({ waiting: 3, ofOne: 2 });
    const working = ask('a');
    const waiting = [ask('a'), ask('b')];
    const last = refusal(ask('a', 'a3'));
    expect(await refusal(ask('a'))).to.equal(true);
    waiting.push(ask('c'));
    expect(await last).to.equal(true);
    // Nobody has two any more.
    expect(await refusal(ask('d'))).to.equal(true);
    for (let work = 0; work < 4; work++) await endNext(1);
    await Promise.all([working, ...waiting]);
    expect(begun).to.deep.equal(['a', 'b', 'c', 'a']);
  });

  it('refuses work that has waited too long, and never begins it', async () => {
    const { ask, begun, endNext } = stand({ waitMs: 5 });
    const working = ask('a');
    expect(await refusal(ask('b'))).to.equal(true);
    expect(await refusal(ask('a'))).to.equal(true);
    await endNext();
    await working;
    expect(begun).to.deep.equal(['a']);
  });
});

describe('the queue of a wallet', () => {
  /** A queue whose ledger gives this verdict, and calls that enter it one after another. */
  function stand(first: Verdict) {
    const state = { verdict: first };
    const queue = createOpenQueue(async () => state.verdict, { ms: 1_500 });
    const went: number[] = [];
    const refused: { place: number; code: string; retryAfter: number | undefined }[] = [];
    async function call(place: number): Promise<void> {
      const ticket: Ticket = await queue.enter('a wallet', 'an agent', place);
      try {
        // Like a call that the ledger did not accept.
        if (state.verdict !== true) await ticket.again();
        went.push(place);
      } catch (error) {
        const { code, retryAfterSeconds: retryAfter } = error as ApiError;
        refused.push({ place, code, retryAfter });
      } finally {
        ticket.leave();
      }
    }
    return { state, queue, went, refused, call };
  }

  it('refuses at once the calls that its opens cannot serve in time, and serves the others in order', async () => {
    const { state, queue, went, refused, call } = stand(1);
    // An open takes 1.75 s, and a call waits for 30 s.
    const calls = Array.from({ length: 22 }, (_, place) => call(place));
    await until('the last call is refused', () => refused.length >= 5);
    expect(refused.map(({ place, code, retryAfter }) => [place, code, retryAfter])).to.deep.equal(
      [17, 18, 19, 20, 21].map((place) => [place, 'service_unavailable', 5]),
    );
    state.verdict = true;
    queue.wake('a wallet');
    await Promise.all(calls);
    expect(went).to.deep.equal(Array.from({ length: 17 }, (_, place) => place));
  });
});

describe('long bytes', () => {
  it('run through a queue with a fixed number of places, in order, which continues after a failure', async () => {
    const queue = createQueue(2);
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const run = (name: number) =>
      queue(async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (name === 0) throw new RangeError('failed');
      });
    const running = [0, 1, 2, 3].map(run);
    const failed = running[0]!.catch((error) => error);
    await new Promise(setImmediate);
    expect(begun).to.deep.equal([0, 1]);
    ends[0]!();
    expect(await failed).to.be.instanceOf(RangeError);
    expect(begun).to.deep.equal([0, 1, 2]);
    for (const end of ends) end();
    await running[1];
    await new Promise(setImmediate);
    expect(begun).to.deep.equal([0, 1, 2, 3]);
    ends[3]!();
    await Promise.all(running.slice(1));
  });
});

describe('the load of a process', () => {
  it('is high while the event loop works without a pause, and not while it waits', async () => {
    const load = watchLoad();
    expect(load.isBusy()).to.equal(false);
    await until('it is busy', async () => {
      for (const end = performance.now() + 300; performance.now() < end; );
      return load.isBusy();
    });
    await until('it is idle again', async () => !load.isBusy());
    load.end();
  });
});

describe('the time limit of a check', () => {
  // A thread of this process that keeps a processor busy.
  let busy: Worker;
  before(async () => {
    busy = new Worker("require('worker_threads').parentPort.postMessage(0); for (;;);", { eval: true });
    await new Promise((resolve) => busy.once('message', resolve));
  });
  after(() => busy.terminate());

  it('runs a check again that waited for the processor, however busy other threads are', function () {
    // On other platforms Node 20 only measures the whole process.
    if (process.platform !== 'linux') this.skip();
    const nobody = new Int32Array(new SharedArrayBuffer(4));
    let runs = 0;
    const check = () => {
      runs += 1;
      if (runs <= 3) Atomics.wait(nobody, 0, 0, 4 * LIMIT_MS);
      return 'checked';
    };
    expect(withinWork(LIMIT_MS, check)).to.equal('checked');
    expect(runs).to.equal(4);
  });

  it('ends a check that works for too long', () => {
    expect(() =>
      withinWork(LIMIT_MS, () => {
        for (;;);
      }),
    ).to.throw(OutOfTime);
  });
});
