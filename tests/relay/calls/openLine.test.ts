/** The queue of one wallet: its order, and calls that are refused before they have waited long. */
import { expect } from 'chai';
import type { ApiError } from '../../../app/relay/errors.ts';
import { createOpenLine, type Ticket, type Verdict } from '../../../app/relay/execution/openLine.ts';

const WALLET = 'a wallet';
const LISTING = 'an agent';

describe('the queue of a wallet', () => {
  /** A queue whose ledger gives this verdict, and calls that enter it one after another. */
  function stand(first: Verdict) {
    const state = { verdict: first };
    const line = createOpenLine(async () => state.verdict);
    const went: number[] = [];
    const refused: { place: number; code: string; retryAfter: number | undefined; afterMs: number }[] = [];
    const came = performance.now();
    async function call(place: number): Promise<void> {
      const ticket: Ticket = await line.enter(WALLET, LISTING, place);
      try {
        // Like a call that the ledger did not accept.
        if (state.verdict !== true) await ticket.again();
        went.push(place);
      } catch (error) {
        const { code, retryAfterSeconds: retryAfter } = error as ApiError;
        refused.push({ place, code, retryAfter, afterMs: performance.now() - came });
      } finally {
        ticket.leave();
      }
    }
    return { state, line, went, refused, call };
  }

  it('refuses at once the calls that its opens cannot serve in time, and serves the others in order', async () => {
    const { state, line, went, refused, call } = stand(1);
    const calls = Array.from({ length: 20 }, (_, place) => call(place));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(refused.map(({ place, code, retryAfter }) => [place, code, retryAfter])).to.deep.equal(
      [15, 16, 17, 18, 19].map((place) => [place, 'service_unavailable', 5]),
    );
    state.verdict = true;
    line.wake(WALLET);
    await Promise.all(calls);
    expect(went).to.deep.equal(Array.from({ length: 15 }, (_, place) => place));
  });

  it('refuses, after a second, a call that waits for agents to answer', async () => {
    const { went, refused, call } = stand('soon');
    await call(0);
    expect(went).to.deep.equal([]);
    expect(refused.map(({ code, retryAfter }) => [code, retryAfter])).to.deep.equal([['service_unavailable', 5]]);
    expect(refused[0]!.afterMs).to.be.within(990, 15_000);
  });
});
