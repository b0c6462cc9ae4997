/** The queue that limits how many long bytes are copied at once. */
import { expect } from 'chai';
import { createQueue } from '../../../app/relay/longBytes.ts';

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
