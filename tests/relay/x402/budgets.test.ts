/**
 * Limits of the operator's costs for x402 calls: unpaid fees of a day and lent rent, by wallet, by agent and in total.
 * Up to a limit calls are sold; beyond it the answer is 503, before anything is signed.
 */
import { join } from 'node:path';
import { createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import { findTokenAccount } from '../../../app/sdk/program/program.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  goodAnswer,
  PRICE,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { readRents } from '../../harness/node/purses.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { stopAt } from '../../harness/node/standstill.ts';
import { type Accepted, decodeHeader, makePayment, paymentHeader } from '../../harness/node/x402.ts';

const TOTAL = PRICE + 5_000n;
const FEE = 5_000n;
/**
 * Lamports that a call of an unproven wallet can burn. As with a key, its open and two failed ends; plus its deposit,
 * its payment, and its return with two signatures.
 */
const RISK = 3n * FEE + 12_000n + 3n * FEE;

type Scope = 'wallet' | 'listing' | 'total';
const BURNT: Record<Scope, string> = {
  wallet: 'BURNT_LAMPORTS_PER_WALLET_DAY',
  listing: 'BURNT_LAMPORTS_PER_LISTING_DAY',
  total: 'BURNT_LAMPORTS_PER_DAY',
};
const LENT: Record<Scope, string> = {
  wallet: 'SPONSOR_LAMPORTS_PER_WALLET',
  listing: 'SPONSOR_LAMPORTS_PER_LISTING',
  total: 'SPONSOR_LAMPORTS_TOTAL',
};

describe('the budgets of the x402 API', function () {
  this.timeout(300_000);
  let market: TestMarketplace;
  let elsewhere: string;
  let payer: Keypair;
  let rent: bigint;
  let tasks = 0;
  const feePayer = Keypair.generate();

  before(async () => {
    market = await startMarketplace({ feePayer, slotTimeMs: 200 });
    const signingKey = generateSigningKey();
    let isListed = false;
    market.setBehaviour(({ execution_id: id, task }, _response, reply) => {
      const isOther = !isListed || task.endsWith(elsewhere);
      reply(goodAnswer(isOther ? signingKey : market.signingKey, id, `done: ${task}`));
    });
    elsewhere = await market.list({ name: 'another', endpoint: market.endpoint, signingKey });
    isListed = true;
    payer = await rich(10n * TOTAL);
    const { record, escrow } = await readRents(market);
    rent = record + escrow;
  });
  after(() => market.stop());

  async function rich(usdc = TOTAL): Promise<Keypair> {
    const wallet = Keypair.generate();
    await market.mintTo(wallet.publicKey, usdc);
    return wallet;
  }
  async function withRelay(limits: NodeJS.ProcessEnv, run: (relay: RunningRelay) => Promise<unknown>): Promise<void> {
    const key = { X402_FEE_PAYER_KEYPAIR: join(market.dataDir, 'x402-fee-payer.json') };
    const relay = await startRelayHere(market, { SPONSOR: 'budgets', ...key, ...limits });
    await run(relay).finally(() => relay.stop());
  }
  const lamports = async ({ publicKey }: Keypair) =>
    BigInt(await market.node.connection.getBalance(publicKey, 'confirmed'));
  const balances = async () => ({
    relay: await lamports(market.authority),
    feePayer: await lamports(feePayer),
    payer: await market.amountOf(findTokenAccount(payer.publicKey, market.usdcMint)),
  });

  interface Bought {
    task: string;
    accepted: Accepted;
    answer: Answer;
  }
  async function buy(
    to: Pick<RunningRelay, 'url'>,
    by = payer,
    agent = market.agentId,
    task = `budget ${++tasks} of ${agent}`,
  ): Promise<Bought> {
    const path = `/v1/x402/agents/${agent}/execute`;
    const [accepted] = decodeHeader(await request(to.url, path, { body: { task } }), 'payment-required').accepts;
    const headers = {
      'payment-signature': paymentHeader(accepted, await makePayment(market.node, accepted, by)),
    };
    return { task, accepted, answer: await request(to.url, path, { body: { task }, headers }) };
  }
  async function sells(...call: Parameters<typeof buy>): Promise<void> {
    const { answer } = await buy(...call);
    expect(answer.status, answer.text).to.equal(200);
  }
  async function refuses({ says, retryAfter }: Refusal, ...call: Parameters<typeof buy>): Promise<void> {
    const before = await balances();
    const { task, accepted, answer } = await buy(...call);
    expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([503, 'service_unavailable']);
    expect(answer.body.error.message).to.match(says);
    expect(answer.body.error.execution_id).to.equal(null);
    expect(answer.headers.get('retry-after')).to.equal(retryAfter);
    expect(await balances()).to.deep.equal(before);
    expect(await market.node.connection.getAccountInfo(new PublicKey(accepted.payTo), 'confirmed')).to.equal(null);
    expect((await market.executionsByTask()).has(task)).to.equal(false);
  }

  interface Refusal {
    says: RegExp;
    retryAfter: string;
  }
  /** `least`: the lowest limit at which one more call of the payer is sold. */
  async function holdsTo(setting: string, scope: Scope, least: bigint, refusal: Refusal): Promise<void> {
    await withRelay({ [setting]: String(least - 1n) }, async (relay) => {
      await refuses(refusal, relay);
      const stranger = scope === 'listing' ? payer : await rich();
      const agent = scope === 'wallet' ? market.agentId : elsewhere;
      if (scope === 'total') await refuses(refusal, relay, stranger, agent);
      else await sells(relay, stranger, agent);
    });
    await withRelay({ [setting]: String(least) }, (relay) => sells(relay));
  }

  describe('after a payment whose payer moved the money away', () => {
    let burnt: bigint;

    before(async () => {
      await market.node.fundSol(payer.publicKey, 1e9);
      const before = await balances();
      const relay = await market.startRelayProcess({
        ...{ WITHOUT_INDEXER: '1', STANDSTILL: '1', SPONSOR: 'budgets' },
      });
      const task = stopAt('depositConfirmed:before');
      const answering = buy(relay, payer, market.agentId, task);
      await until('the deposit is prepared', async () => relay.standing.has(task));
      const [own, other] = [payer, await rich(1n)].map((one) => findTokenAccount(one.publicKey, market.usdcMint));
      const away = createTransferInstruction(own!, other!, payer.publicKey, before.payer);
      await sendTransaction(market.node.connection, [away], keypairSigner(payer));
      relay.process.send({ release: task });
      const { answer } = await answering;
      expect([answer.status, answer.body.error.details.reason], answer.text).to.deep.equal([402, 'payment_failed']);
      await relay.kill();
      await market.mintTo(payer.publicKey, before.payer);
      const after = await balances();
      burnt = before.relay - after.relay;
      expect(after).to.deep.equal({ ...before, relay: after.relay });
    });

    it('count the cost of the payment for the operator', async () => {
      const [row] = await market.query('ledger', 'SELECT lost_fees, may_burn_lamports FROM executions');
      expect(row).to.deep.equal({ lost_fees: burnt, may_burn_lamports: RISK });
    });

    const WHOSE: Record<Scope, RegExp> = {
      wallet: /^Calls of this wallet have cost the marketplace \d+ lamports of unpaid network fees/,
      listing: /^Calls of this agent have cost/,
      total: /^Failed calls have cost/,
    };
    for (const scope of ['wallet', 'listing', 'total'] as const) {
      it(`allow calls until the unpaid fees of a day could exceed ${BURNT[scope]}`, async () => {
        // Half of the other two limits is reserved for wallets that have paid for calls.
        const share = scope === 'wallet' ? 1n : 2n;
        await holdsTo(BURNT[scope], scope, share * (burnt + RISK), { says: WHOSE[scope], retryAfter: '900' });
      });
    }
  });

  describe('after calls whose records still hold lent deposits', () => {
    const WHOSE: Record<Scope, string> = {
      wallet:
        'Calls of this wallet hold LENT lamports of refundable deposits lent by the marketplace; one more call would exceed the limit for a wallet.',
      listing:
        'Calls of this agent hold LENT lamports of refundable deposits lent by the marketplace; one more call would exceed the limit for an agent.',
      total:
        'Calls hold LENT lamports of refundable deposits lent by the marketplace; one more call would exceed the limit for all calls.',
    };
    for (const scope of ['wallet', 'listing', 'total'] as const) {
      it(`allow calls until the lent deposits could exceed ${LENT[scope]}, and then give this reason`, async () => {
        const names = { wallet: payer.publicKey.toBase58(), listing: market.agentId, total: '' };
        // PostgreSQL keeps each sum in several rows.
        const sum = `SELECT CAST(coalesce(sum(lamports), 0) AS BIGINT) AS lamports FROM lent_sums
          WHERE scope = '${scope}' AND name = '${names[scope]}'`;
        const [{ lamports: lent }] = (await market.query('ledger', sum)) as [{ lamports: bigint }];
        const says = new RegExp(`^${WHOSE[scope].replace('LENT', String(lent))} Nothing was paid\\. Retry later\\.$`);
        await holdsTo(LENT[scope], scope, lent + rent, { says, retryAfter: '60' });
      });
    }
  });
});
