/** Work on strangers' bytes in threads: none of it ends the relay or holds it up, and what cannot be done is said. */
import { MessagePort } from 'node:worker_threads';
import { expect } from 'chai';
import { ApiError } from '../../../app/relay/errors.ts';
import { type Body, PIECE_BYTES } from '../../../app/relay/longBytes.ts';
import { bytesInThread, inThread } from '../../../app/relay/workers.ts';
import * as work from './threadWork.ts';

const MODULE = new URL('./threadWork.ts', import.meta.url).href;

describe('work in threads', function () {
  this.timeout(600_000);
  const double = inThread('requests', MODULE, work.double);
  const outcome = (running: Promise<unknown>) =>
    running.then(
      () => 'done',
      (error) => (error instanceof ApiError ? error.code : `${error.name}: ${error.message}`),
    );

  it('completes, and reports its errors as errors', async () => {
    expect(await double(21)).to.equal(42);
    expect(await outcome(inThread('requests', MODULE, work.fail)(undefined))).to.equal('RangeError: a fault of ours');
  });

  it('rejects: a request with 503 when its thread dies, and continues with another thread', async () => {
    expect(await outcome(inThread('requests', MODULE, work.die)(undefined))).to.equal('service_unavailable');
    expect(await double(2)).to.equal(4);
    expect(await outcome(inThread('requests', MODULE, work.devour)(undefined))).to.equal('service_unavailable');
    expect(await double(3)).to.equal(6);
  });

  it('rejects: an answer whose thread dies, with an error that reveals nothing of the answer', async () => {
    expect(await outcome(inThread('answers', MODULE, work.die)(undefined))).to.match(/^Error: /);
    expect(await inThread('answers', MODULE, work.double)(4)).to.equal(8);
  });

  it("passes long bytes complete, with event-loop turns between pieces, and leaves the sender's copy intact", async () => {
    const ends = bytesInThread(MODULE, work.ends);
    const bytes = Buffer.concat([Buffer.from([1]), Buffer.alloc(10 * PIECE_BYTES, 7), Buffer.from([9])]);
    // In parts of no particular length, as a connection brings them.
    const body: Body = [bytes.subarray(0, 5), bytes.subarray(5, PIECE_BYTES + 9), bytes.subarray(PIECE_BYTES + 9)];
    let turn = 0;
    let counting = setImmediate(function count() {
      turn += 1;
      counting = setImmediate(count);
    });
    const { postMessage } = MessagePort.prototype;
    const posted: number[] = [];
    MessagePort.prototype.postMessage = function (this: MessagePort, ...message: Parameters<typeof postMessage>) {
      if (message[0] instanceof Uint8Array) posted.push(turn);
      postMessage.apply(this, message);
    };
    const all = `${bytes.length}, 1 to 9`;
    try {
      const running = [ends(body, 'one'), ends(body, 'two'), ends(body, 'three')];
      expect(await Promise.all(running)).to.deep.equal([`one: ${all}`, `two: ${all}`, `three: ${all}`]);
    } finally {
      MessagePort.prototype.postMessage = postMessage;
      clearImmediate(counting);
    }
    // No turn has two pieces, whosever they are.
    expect(posted).to.have.length.of.at.least(3 * 10);
    expect(new Set(posted).size).to.equal(posted.length);
    expect(Buffer.concat(body).equals(bytes)).to.equal(true);
    expect(await outcome(bytesInThread(MODULE, work.die)(body, undefined))).to.match(/^Error: /);
    expect(await ends(body, 'again')).to.equal(`again: ${all}`);
  });

  it('rejects: work that takes too long, and new work while too much waits, but still reads answers', async () => {
    const busy = inThread('requests', MODULE, work.busy);
    const stuck = outcome(busy(3_600_000));
    const crowd = Array.from({ length: 80 }, () => outcome(busy(1)));
    expect(await inThread('answers', MODULE, work.double)(5)).to.equal(10);
    const outcomes = await Promise.all(crowd);
    expect(outcomes.filter((one) => one === 'service_unavailable')).to.have.length.of.at.least(15);
    expect(await stuck).to.equal('service_unavailable');
    expect(await double(6)).to.equal(12);
  });
});
