/** Chain reads for strangers have a separate budget. Paid calls continue when it is used up. */
import { randomUUID } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { createEdgeBudget, type TakeReading } from '../../../app/relay/chain/edgeBudget.ts';
import type { ApiError } from '../../../app/relay/errors.ts';
import { until } from '../../harness/edge/until.ts';
import { createBuyers } from '../../harness/node/buyers.ts';
import { afterPaying, type RelayHandle, request, useMarketplace } from '../../harness/node/marketplace.ts';
import type { PaymentChange } from '../../harness/node/x402.ts';

describe("the edge's budget of readings", () => {
  const payers = { hasPaid: async (wallet: string) => wallet.startsWith('paying') };
  const refusalOf = (take: TakeReading, wallet?: string) =>
    take(wallet).then(
      () => null,
      ({ code, retryAfterSeconds }: ApiError) => ({ code, retryAfterSeconds }),
    );
  /** Readings until one is refused. */
  async function countReadings(take: TakeReading, wallet?: string): Promise<number> {
    for (let taken = 0; taken < 10_000; taken += 1) {
      if (await refusalOf(take, wallet)) return taken;
    }
    throw new Error('no reading was refused');
  }

  it('names the time to retry', async () => {
    const take = createEdgeBudget(2, payers);
    expect(await countReadings(take)).to.equal(10);
    expect(await refusalOf(take)).to.include({ code: 'service_unavailable', retryAfterSeconds: 5 });
  });

  it('is separate for each wallet that has paid, which strangers and other wallets cannot use up', async () => {
    const take = createEdgeBudget(4, payers);
    expect(await countReadings(take)).to.equal(20);
    expect(await countReadings(take, 'paying one')).to.equal(20);
    expect(await countReadings(take, 'paying two')).to.equal(20);
    expect(await countReadings(take, 'new')).to.equal(5);
  });

  it('is one for all wallets with a key that have never paid, and each has a quarter of it', async () => {
    const take = createEdgeBudget(4, payers);
    let taken = 0;
    for (let wallet = 0; wallet < 100; wallet += 1) taken += await countReadings(take, `new ${wallet}`);
    expect(taken).to.equal(20);
    expect(await countReadings(take)).to.equal(20);
    expect(await countReadings(take, 'paying')).to.equal(20);
  });

  describe('when it is used up', () => {
    const market = useMarketplace({ here: true, feePayer: Keypair.generate() });
    before(() => market.relay.kill());
    let relay: RelayHandle;
    before(async () => {
      relay = await market.startHere({ EDGE_RPC_PER_SECOND: '1' });
    });
    after(() => relay.kill());

    const start = (wallet: object = {}) =>
      request(relay.url, `/v1/executions/${randomUUID()}/start`, { body: { task: 'none' }, ...wallet });
    async function exhaustByStarts(): Promise<void> {
      const signed = { body: { task: 'none', wallet_signature: `ed25519:${'1'.repeat(64)}` } };
      let other = await start(signed);
      for (let asked = 1; other.status === 404; asked += 1) {
        expect(asked).to.be.lessThan(10_000);
        other = await start(signed);
      }
      expect([other.status, other.body.error.code], other.text).to.deep.equal([503, 'service_unavailable']);
    }

    it('answers 503 with Retry-After to a start of a missing execution, while calls are paid and /ready passes', async () => {
      const before = await market.balances();
      const { apiKey } = market.callers[0]!;
      await exhaustByStarts();
      const withKey = () => start({ apiKey });
      let refused = await withKey();
      expect(refused.status, refused.text).to.equal(404);
      for (let asked = 1; refused.status === 404; asked += 1) {
        expect(asked).to.be.lessThan(10_000);
        refused = await withKey();
      }
      expect([refused.status, refused.body.error.code]).to.deep.equal([503, 'service_unavailable']);
      expect(Number(refused.headers.get('retry-after'))).to.be.at.least(1);
      const paid = await market.execute(relay.url, { task: 'pay' });
      expect(paid.status, paid.text).to.equal(200);
      expect((await request(relay.url, '/ready')).body.problems).to.not.include('chain_unreachable');
      const after = await market.balances();
      expect(after).to.deep.equal(afterPaying(before));
    });

    it('answers 503 to x402 payments of new wallets, which other requests cannot cause, and to no others', async () => {
      const { sign, rich } = createBuyers(market, undefined, () => relay.url);
      const pay = async (by: Keypair, change: PaymentChange = {}, before = async () => {}) => {
        const { send } = await sign({ task: 'sold' }, { by, ...change });
        await before();
        return send();
      };
      const never = () => ({ blockhash: Keypair.generate().publicKey.toBase58() });
      const empty = Keypair.generate();
      const exhaust = async () => {
        let refused = await pay(empty, never());
        for (let asked = 1; refused.status === 402; asked += 1) {
          expect(asked).to.be.lessThan(1_000);
          refused = await pay(empty, never());
        }
        return [refused.status, refused.body.error.code, Number(refused.headers.get('retry-after')) > 0];
      };
      const payer = await rich(10_000_000n);
      const first = await pay(payer, {}, exhaustByStarts);
      expect(first.status, first.text).to.equal(200);
      await until('the index knows it, and no budget is needed', async () => {
        expect(await exhaust()).to.deep.equal([503, 'service_unavailable', true]);
        return (await pay(payer)).status === 200;
      });
    });
  });
});
