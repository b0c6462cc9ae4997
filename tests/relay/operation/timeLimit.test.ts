/** The time limit of a small check counts only its own work, not that of other threads and processes. */
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { OutOfTime, withinWork } from '../../../app/relay/agents/schemas/timeLimit.ts';

const LIMIT_MS = 50;

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
