/** Megabytes of data are cut into pieces without a copy. Each event-loop turn handles one piece in total. */
import { expect } from 'chai';
import { createQueue, inOwnTurn, lengthOf, PIECE_BYTES, piecesOf } from '../../../app/relay/longBytes.ts';

describe('long bytes', () => {
  it('arrive in pieces, and no piece or copy exceeds the maximum', () => {
    const parts = [3, 0, PIECE_BYTES - 1, 2 * PIECE_BYTES, 1].map((length, index) => Buffer.alloc(length, index + 1));
    const pieces = [...piecesOf(parts)];
    expect(pieces.map(lengthOf)).to.deep.equal([PIECE_BYTES, PIECE_BYTES, PIECE_BYTES, 3]);
    expect(Buffer.concat(pieces.flat()).equals(Buffer.concat(parts))).to.equal(true);
    parts[3]![0] = 99;
    expect(Buffer.concat(pieces.flat()).equals(Buffer.concat(parts))).to.equal(true);
    expect([...piecesOf([])]).to.deep.equal([]);
  });

  it('are handled in separate event-loop turns, also when other work runs', async () => {
    let turn = 0;
    let isOver = false;
    const count = () => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const turns = await Promise.all(Array.from({ length: 12 }, () => inOwnTurn(() => turn)));
    isOver = true;
    expect(new Set(turns).size).to.equal(12);
  });

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
