/** A relay that lies to the clients of x402: the program's refusals, and the balances of all parties. */
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { AgentMarketplace } from '../../../app/sdk/client/caller.ts';
import { checkQuote, payWithX402, QuoteRefusedError } from '../../../app/sdk/client/x402.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import { PAYMENT_LAMPORTS, SERVICE_FEE, TOTAL } from '../../harness/node/buyers.ts';
import { goodAnswer, PRICE, useMarketplace } from '../../harness/node/marketplace.ts';
import type { Accepted } from '../../harness/node/x402.ts';
import { type LyingRelay, type Paid, startLyingRelay, watchBalances } from './lyingRelay.ts';

/** Lamports of a signature. */
const FEE = 5_000;
const PAID = { payer: { usdc: -TOTAL }, feePayer: { lamports: -PAYMENT_LAMPORTS } };
/** Anchor's error of a wrong address, and the system program's of an account that exists. */
const [CONSTRAINT_SEEDS, ALREADY_IN_USE] = ['0x7d6', '0x0'];
/** The thief's gain if the relay refunds the deposit at once. */
const STOLEN = { ...PAID, thief: { usdc: PRICE }, treasury: { usdc: SERVICE_FEE } };

describe('a relay that lies about x402 payments', function () {
  this.timeout(300_000);
  const [payer, thief, stranger] = [Keypair.generate(), Keypair.generate(), Keypair.generate()] as const;
  const feePayer = Keypair.generate();
  const thiefKey = generateSigningKey();
  let relay: LyingRelay;
  let thiefAgent: PublicKey;
  let moves: ReturnType<typeof watchBalances>;
  let rent: LyingRelay['rent'];

  const market = useMarketplace({ feePayer, slotTimeMs: 200 });
  before(async () => {
    for (const { publicKey } of [thief, stranger]) await market.node.fundSol(publicKey, 10e9);
    for (const { publicKey } of [payer, thief]) await market.mintTo(publicKey, 1_000_000_000n);
    market.setBehaviour(({ execution_id }, _, reply) => reply(goodAnswer(thiefKey, execution_id, 'of the thief')));
    const listing = { name: 'thief', endpoint: market.endpoint, signingKey: thiefKey, creator: thief };
    thiefAgent = new PublicKey(await market.list(listing));
    await market.relay.kill();
    relay = await startLyingRelay(market, feePayer);
    rent = relay.rent;
    moves = watchBalances(market, { payer, thief, stranger, feePayer, relay: market.authority });
  });
  after(async () => {
    relay?.stop();
  });

  const named = () => `?payer=${payer.publicKey}`;
  const network = () => ({ network: 'devnet', asset: market.usdcMint.toBase58() }) as const;
  /** A stranger returns an expired deposit: everything to its payer, and the rent to its lender. */
  async function returnsAll(paid: Paid): Promise<void> {
    await relay.expire(paid);
    const expected = { payer: { usdc: TOTAL }, relay: { lamports: rent }, stranger: { lamports: -FEE } };
    await moves(expected, () => relay.send([relay.refund(paid, payer, stranger)], stranger));
  }

  it('cannot take a payment whose quote named the payer; once it is dead, a stranger returns all of it', async () => {
    const paid = await relay.sell(payer, 'named', named());
    const call = { agentId: market.agentId, task: 'named', payer: payer.publicKey.toBase58(), maxCostUsdc: '0.255' };
    const { deposit } = checkQuote(paid.accepted, { ...call, ...network() });
    expect(paid.accepted.payTo).to.equal(deposit);
    await moves({}, async () => {
      expect(await relay.refusal(relay.prepare(paid, thief))).to.equal('DepositCallerMismatch');
      // At the same address, for a quote that names the thief, and for one that names nobody.
      for (const other of [thief.publicKey, null]) {
        const forged = relay.prepare(paid, thief, { payer: other });
        forged.keys.splice(4, 2, ...relay.prepare(paid, payer).keys.slice(4, 6));
        expect(await relay.refusal(forged)).to.equal(CONSTRAINT_SEEDS);
      }
    });
    await moves({ ...PAID, relay: { lamports: -rent - FEE } }, () => relay.take(paid, payer));
    await moves({}, async () => {
      for (const change of [{ listing: thiefAgent }, { requestHash: Buffer.alloc(32, 7) }, { timeoutSeconds: 1 }]) {
        expect(await relay.refusal(await relay.open(paid, payer, change))).to.equal('DepositTermsMismatch');
      }
      expect(await relay.refusal(relay.refund(paid, thief))).to.equal('WrongRefundDestination');
      expect(await relay.refusal(relay.refund(paid, payer, stranger), stranger)).to.equal('DepositNotExpired');
    });
    await returnsAll(paid);
  });

  it('takes one payment whose quote named nobody, by naming a thief in public, and no other payment', async () => {
    const other = await relay.sell(payer, 'another payment');
    await moves({ ...PAID, relay: { lamports: -rent - FEE } }, () => relay.take(other, payer));
    const paid = await relay.sell(payer, 'nobody named');
    expect(paid.accepted.extra.payer).to.equal(null);
    await moves({ relay: { lamports: -rent - FEE } }, () => relay.send([relay.prepare(paid, thief)]));
    // Anybody can read the lie before the money moves.
    expect((await relay.readDeposit(paid))!.caller.toBase58()).to.equal(thief.publicKey.toBase58());
    expect(await relay.heldBy(paid)).to.equal(0n);
    await moves({ ...STOLEN, relay: { lamports: rent - FEE } }, async () => {
      await relay.land(paid);
      await relay.send([relay.refund(paid, thief)]);
    });
    await moves({}, async () => {
      const again = await relay.land(paid).then(String, ({ message }: Error) => message);
      expect(again).to.match(/already been processed/i);
      expect(await relay.refusal(relay.prepare(other, thief))).to.equal(ALREADY_IN_USE);
      expect(await relay.refusal(relay.refund(other, thief))).to.equal('WrongRefundDestination');
    });
    await returnsAll(other);
  });

  const forThief = (quote: Accepted) => relay.addressFor(quote, thief.publicKey);
  /** Lies of a quote, with the field that our client refuses. Standard clients check none of them (SECURITY.md). */
  const LIES: Record<string, { field: string; payTo(quote: Accepted): string; extra?: object }> = {
    'the wallet of a thief': { field: 'payTo', payTo: () => thief.publicKey.toBase58() },
    'a deposit of a thief': { field: 'payTo', payTo: forThief },
    'a deposit of a thief, whom it names as the payer': {
      field: 'extra.payer',
      payTo: forThief,
      extra: { payer: thief.publicKey.toBase58() },
    },
  };
  for (const [name, { field, payTo, extra }] of Object.entries(LIES)) {
    it(`quotes ${name}: our client signs nothing, and a standard client pays`, async () => {
      relay.setLie((quote) => ({ ...quote, payTo: payTo(quote), extra: { ...quote.extra, ...extra } }));
      relay.payments.length = 0;
      const wallet = await createKeyPairSignerFromBytes(payer.secretKey);
      const payment = payWithX402({ wallet, rpcUrl: market.node.rpcUrl, ...network() });
      const { agents } = new AgentMarketplace({ baseUrl: relay.url, payment });
      const bought = agents.run(market.agentId, { task: 'lie' }, { maxCostUsdc: '0.255' });
      const error = await bought.catch((thrown) => thrown);
      expect(error).to.be.instanceOf(QuoteRefusedError).and.include({ field });
      expect(relay.payments).to.deep.equal([]);

      const paid = await relay.sell(payer, 'lie', named());
      if (name === 'the wallet of a thief') return moves({ ...PAID, thief: { usdc: TOTAL } }, () => relay.land(paid));
      await moves({ ...STOLEN, relay: { lamports: -2 * FEE } }, async () => {
        await relay.send([relay.prepare(paid, thief, { payer: thief.publicKey })]);
        await relay.land(paid);
        await relay.send([relay.refund(paid, thief)]);
      });
    });
  }
  afterEach(() => relay?.setLie((quote) => quote));
});
