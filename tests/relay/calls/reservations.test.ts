/** Calls that wait for money which earlier ones may still take, against a real node. */

import { expect } from 'chai';
import pino from 'pino';
import { createRelayChain } from '../../../app/relay/chain/relayChain.ts';
import { createReservations } from '../../../app/relay/execution/reservations.ts';
import { reserveFunds } from '../../../app/relay/execution/reserve.ts';
import { keyIdOf } from '../../../app/sdk/receipt/apiKey.ts';
import { until } from '../../harness/edge/until.ts';
import { PRICE, startMarketplace, type TestMarketplace } from '../../harness/node/marketplace.ts';

const CALLS = 300;

describe('reservations', function () {
  this.timeout(60_000);
  let market: TestMarketplace;
  before(async () => {
    market = await startMarketplace();
  });
  after(() => market.stop());

  it('what is given back wakes the calls of its own wallet, and they read its accounts once', async () => {
    const { node, authority, usdcMint, callers } = market;
    const chain = createRelayChain({
      rpcUrl: node.rpcUrl,
      wsUrl: node.wsUrl,
      authority,
      log: pino({ level: 'silent' }),
    });
    let readings = 0;
    const counted = {
      ...chain,
      async read(keys: Parameters<typeof chain.read>[0]) {
        const read = await chain.read(keys);
        readings += 1;
        return read;
      },
    };
    const payers = callers.map(({ wallet, apiKey }) => ({
      wallet: wallet.publicKey.toBase58(),
      keyId: Buffer.from(keyIdOf(apiKey)).toString('hex'),
    }));
    const reservations = createReservations();
    // Nothing is left for anyone until something is given back.
    const held = await Promise.all(callers.map(({ usdc }) => market.amountOf(usdc)));
    const [mine, theirs] = payers.map((payer, index) => [
      reservations.reserve(payer, PRICE),
      reservations.reserve(payer, PRICE),
      reservations.reserve(payer, held[index]! - 2n * PRICE),
    ]);
    let paid = 0;
    const calls = Array.from({ length: CALLS }, () =>
      reserveFunds(
        counted,
        reservations,
        payers[0]!,
        usdcMint,
        { price: PRICE, fees: 10_000n, mayOwnRent: false },
        null,
      ).then(
        () => (paid += 1),
        () => 0,
      ),
    );
    try {
      await until('all of them have looked', async () => readings === CALLS);
      theirs![0]!();
      mine![0]!();
      await until('one is served', async () => paid === 1);
      theirs![1]!();
      mine![1]!();
      await until('another is served', async () => paid === 2);
      // Two for each give-back at most: what overtakes a reading has it done again.
      expect(readings - CALLS).to.be.within(2, 4);
      await Promise.all(calls);
      expect(paid).to.equal(2);
    } finally {
      chain.close();
    }
  });
});
