import { expect } from 'chai';
import { createClock } from '../../../app/solana/clock.ts';
import { createRpcFetch } from '../../../app/solana/rpc.ts';
import { useServers } from '../../harness/edge/listen.ts';

const WRONG_BY_MS = 90_000;

describe('the clock of this machine', () => {
  const serve = useServers();

  /** A node whose clock shows this time, or that does not say. */
  const nodeAt = (date: () => number | null) =>
    serve((_, response) => {
      response.sendDate = false;
      const time = date();
      if (time !== null) response.setHeader('Date', new Date(time).toUTCString());
      response.end('{"result":1}');
    });
  /** How far the clock is ahead after these nodes have answered. */
  async function aheadOf(aheadMs: number, ...nodes: ((realMs: number) => number | null)[]): Promise<number> {
    // The nodes' clocks stand still in the middle of a second.
    const realMs = 1_700_000_000_500;
    const clock = createClock(() => realMs + aheadMs);
    const send = clock.watch(createRpcFetch());
    for (const node of nodes) await send(await nodeAt(() => node(realMs)), { body: '{"method":"getSlot"}' });
    return clock.aheadMs();
  }
  const right = (realMs: number) => realMs;

  it('is compared with the Date of the nodes’ answers in whole seconds, and is right if one of them says so', async () => {
    const late = (realMs: number) => realMs - WRONG_BY_MS;
    expect([await aheadOf(0, right), await aheadOf(400, right)]).to.deep.equal([0, 0]);
    expect(await aheadOf(WRONG_BY_MS, right)).to.equal(WRONG_BY_MS - 500);
    expect(await aheadOf(-WRONG_BY_MS, right)).to.equal(500 - WRONG_BY_MS);
    expect([await aheadOf(0, late, right), await aheadOf(0, right, late)]).to.deep.equal([0, 0]);
    expect([await aheadOf(WRONG_BY_MS, () => null), await aheadOf(WRONG_BY_MS)]).to.deep.equal([0, 0]);
  });
});
