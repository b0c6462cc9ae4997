/** The limit on x402 payments of one network that do not arrive, without a chain. */
import { expect } from 'chai';
import { createUnpaidLimit } from '../../../app/relay/calls/x402/unpaid.ts';
import type { ApiError } from '../../../app/relay/errors.ts';

const MOST = 10;

describe('the limit on payments that do not arrive', () => {
  let limited: ReturnType<typeof createUnpaidLimit>;
  beforeEach(() => {
    limited = createUnpaidLimit();
  });

  /** Starts a payment that is answered at once, like a 202. Returns the function that decides it. */
  async function start(hasPaid = false, network = 'a network'): Promise<(isUnpaid: boolean) => Promise<void>> {
    let decide: (isUnpaid: boolean) => void = () => undefined;
    const isUnpaid = new Promise<boolean>((resolve) => {
      decide = resolve;
    });
    await limited.limit(network, hasPaid, async (follow) => follow(isUnpaid));
    return async (outcome) => {
      decide(outcome);
      await new Promise((resolve) => setImmediate(resolve));
    };
  }
  const refusal = (hasPaid = false, network?: string): Promise<{ code: string; retryAfterSeconds?: number } | null> =>
    start(hasPaid, network).then(
      () => null,
      ({ code, retryAfterSeconds }: ApiError) => ({ code, retryAfterSeconds: retryAfterSeconds! }),
    );
  const startAll = () => Promise.all(Array.from({ length: MOST }, () => start()));

  it('lets ten of new wallets be on their way at once, and more when these have arrived', async () => {
    const decisions = await startAll();
    expect(await refusal()).to.deep.equal({ code: 'service_unavailable', retryAfterSeconds: 5 });
    expect(await refusal(false, 'another network')).to.equal(null);
    for (const decide of decisions) await decide(false);
    await startAll();
  });

  it('counts a payment that turns out unpaid long after its answer', async () => {
    for (const decide of await startAll()) await decide(true);
    const refused = await refusal();
    expect(refused?.code).to.equal('service_unavailable');
    expect(refused?.retryAfterSeconds).to.be.within(500, 600);
  });

  it('counts one that did not arrive against those on their way', async () => {
    const decisions = await startAll();
    await decisions[0]!(true);
    expect((await refusal())?.retryAfterSeconds).to.equal(5);
    await decisions[1]!(false);
    expect(await refusal()).to.equal(null);
  });

  it('counts those of wallets that have paid apart from those of strangers, and not while they are on their way', async () => {
    for (const decide of await startAll()) await decide(true);
    expect((await refusal())?.code).to.equal('service_unavailable');
    const decisions = [];
    for (let n = 0; n <= MOST; n += 1) decisions.push(await start(true));
    for (const decide of decisions.slice(1)) await decide(true);
    expect((await refusal(true))?.retryAfterSeconds).to.be.within(500, 600);
    expect(await refusal(true, 'another network')).to.equal(null);
  });

  it('does not count payments that were refused before they could cost a fee', async () => {
    const refused = async () => {
      throw new Error('refused');
    };
    for (let n = 0; n <= MOST; n += 1) {
      const failure = await limited.limit('a network', false, refused).catch(({ message }: Error) => message);
      expect(failure).to.equal('refused');
    }
    await startAll();
  });
});
