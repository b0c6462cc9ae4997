import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { type CreatorPool, callCreator, createCreatorPool } from '../../../app/relay/outbound/dispatch.ts';
import { createTurnsByServer } from '../../../app/relay/outbound/turns.ts';
import { useServers } from '../../harness/edge/listen.ts';
import { until } from '../../harness/edge/until.ts';

const MEBIBYTE = 1024 * 1024;

describe('long answers', () => {
  let pool: CreatorPool;
  const start = useServers();

  beforeEach(() => {
    pool = createCreatorPool({ allowPrivate: true, sign: async () => ({}) });
  });
  afterEach(() => pool.destroy());

  const serve = async (answer: RequestListener) => `${await start(answer)}/execute`;

  const call = (endpoint: string, ms = 50_000, stop?: AbortSignal) =>
    callCreator(pool, {
      endpoint,
      request: { execution_id: 'x', task: 'x', parameters: '{}', user_pubkey: 'x', timeout_seconds: 20 },
      signingKey: 'x',
      deadlineMs: performance.now() + ms,
      ...(stop && { stop }),
    });

  it('hold only a few of sixty endless answers in memory, while another server is read', async () => {
    let written = 0;
    const piece = Buffer.alloc(65_536, 0x20);
    const bad = await serve((_request, response) => {
      // Sends four of its five mebibytes, and then nothing.
      for (let i = 0; i < 64; i += 1) response.write(piece, () => (written += piece.length));
    });
    const good = await serve((_request, response) => void response.end(JSON.stringify('x'.repeat(4 * MEBIBYTE))));
    const before = process.memoryUsage().arrayBuffers;
    const leaving = new AbortController();
    const held = Array.from({ length: 60 }, () => call(bad, 600_000, leaving.signal));
    await until('the server has written much', () => written >= 24 * MEBIBYTE);
    expect((await call(good)).kind).to.equal('body');
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 20);
    // Another call waits for its turn until its deadline.
    expect((await call(bad, 2_000)).kind).to.equal('timeout');
    clearInterval(watch);
    expect(most / MEBIBYTE).to.be.lessThan(80);
    leaving.abort();
    expect((await Promise.allSettled(held)).map(({ status }) => status)).to.deep.equal(Array(60).fill('rejected'));
  });

  it('forget servers that no call waits for', async () => {
    const turnsOf = createTurnsByServer(1);
    const before = process.memoryUsage().heapUsed;
    for (let server = 0; server < 200_000; server += 1) turnsOf(`http://server-${server}.example/execute`);
    global.gc?.();
    expect((process.memoryUsage().heapUsed - before) / MEBIBYTE).to.be.lessThan(40);
  });

  it('give up a waiting turn with its call, and pass turns on in order', async () => {
    const turns = createTurnsByServer(1)('http://a.example/execute');
    const never = new AbortController().signal;
    const order: string[] = [];
    const first = await turns.take(never);
    const leaving = new AbortController();
    const left = turns.take(leaving.signal).catch((error: Error) => error.message);
    const second = turns.take(never).then((release) => {
      order.push('second');
      return release;
    });
    const third = turns.take(never).then((release) => {
      order.push('third');
      return release;
    });
    leaving.abort(new Error('gone'));
    expect(await left).to.equal('gone');
    expect(order).to.deep.equal([]);
    first();
    (await second)();
    (await third)();
    expect(order).to.deep.equal(['second', 'third']);
    (await turns.take(never))();
  });
});
