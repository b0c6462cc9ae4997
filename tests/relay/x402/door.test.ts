/** Stock x402 clients buy calls through the door: what they get, and where each amount goes. */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { findTokenAccount, findTreasury } from '../../../app/sdk/program/program.ts';
import { FEE, failedAnswer, PRICE, startMarketplace, type TestMarketplace } from '../../harness/node/marketplace.ts';
import { createX402Fetch, decodeHeader } from '../../harness/node/x402.ts';

const SERVICE_FEE = 5_000n;

describe('the x402 door', () => {
  let market: TestMarketplace;
  const feePayer = Keypair.generate();
  const wallet = Keypair.generate();
  let pay: typeof fetch;

  before(async () => {
    market = await startMarketplace({ feePayer });
    await market.mintTo(wallet.publicKey, 10_000_000n);
    pay = await createX402Fetch(wallet, market.node.rpcUrl);
  });
  after(() => market.stop());
  afterEach(() => market.setBehaviour(null));

  const post = (task: string, by: typeof fetch = pay, query = '', more: Record<string, unknown> = {}) =>
    by(`${market.relay.url}/v1/x402/agents/${market.agentId}/execute${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ task, ...more }),
    });
  const usdcOf = (owner: Keypair) => market.amountOf(findTokenAccount(owner.publicKey, market.usdcMint));
  const balances = async () => ({
    wallet: await usdcOf(wallet),
    creator: await market.amountOf(market.creatorUsdc),
    treasury: await market.amountOf(findTreasury()),
    feePayer: await market.node.connection.getBalance(feePayer.publicKey, 'confirmed'),
  });

  it('sells a call to an unchanged client without a key, an account or SOL', async () => {
    const before = await balances();
    const response = await post('buy me');
    const body = await response.json();
    expect(response.status, JSON.stringify(body)).to.equal(200);
    expect(body.status).to.equal('completed');
    expect(body.result).to.equal('done: buy me');
    const after = await balances();
    expect(before.wallet - after.wallet).to.equal(PRICE + SERVICE_FEE);
    expect(after.creator - before.creator).to.equal(PRICE - FEE);
    expect(after.treasury - before.treasury).to.equal(FEE + SERVICE_FEE);
    const receipt = decodeHeader(response, 'payment-response');
    expect(receipt.success).to.equal(true);
    expect(receipt.payer).to.equal(wallet.publicKey.toBase58());
    expect(receipt.amount).to.equal(String(PRICE + SERVICE_FEE));
    expect(receipt.extensions.execution.execution_id).to.equal(body.execution_id);
    expect((await market.record(body.execution_id))?.caller.toBase58()).to.equal(wallet.publicKey.toBase58());
    expect(await market.node.connection.getBalance(wallet.publicKey)).to.equal(0);
    expect(before.feePayer - after.feePayer).to.equal(10_001);
  });

  it('returns the price if the agent fails, and says so', async () => {
    market.setBehaviour(({ execution_id }, _response, reply) => reply(failedAnswer(execution_id)));
    const before = await balances();
    const response = await post('fail me');
    expect(response.status).to.equal(500);
    const after = await balances();
    expect(before.wallet - after.wallet).to.equal(SERVICE_FEE);
    expect(after.creator).to.equal(before.creator);
    const receipt = decodeHeader(response, 'payment-response');
    expect(receipt.success).to.equal(false);
    expect(receipt.extensions.execution.refund_transaction).to.be.a('string');
  });
});
