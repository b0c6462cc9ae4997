/** The queue of one wallet: its order, and calls that are refused before they have waited long. */
import { expect } from 'chai';
import type { ApiError } from '../../../app/relay/errors.ts';
import { createOpenQueue, type Ticket, type Verdict } from '../../../app/relay/execution/begin/openQueue.ts';

const WALLET = 'a wallet';
const LISTING = 'an agent';

describe('the queue of a wallet', () => {
  /** A queue whose ledger gives this verdict, and calls that enter it one after another. */
  function stand(first: Verdict) {
    const state = { verdict: first };
    const queue = createOpenQueue(async () => state.verdict, { ms: 1_500 });
    const went: number[] = [];
    const refused: { place: number; code: string; retryAfter: number | undefined }[] = [];
    async function call(place: number): Promise<void> {
      const ticket: Ticket = await queue.enter(WALLET, LISTING, place);
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
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(refused.map(({ place, code, retryAfter }) => [place, code, retryAfter])).to.deep.equal(
      [17, 18, 19, 20, 21].map((place) => [place, 'service_unavailable', 5]),
    );
    state.verdict = true;
    queue.wake(WALLET);
    await Promise.all(calls);
    expect(went).to.deep.equal(Array.from({ length: 17 }, (_, place) => place));
  });
});
