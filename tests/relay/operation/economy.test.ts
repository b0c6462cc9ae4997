/**
 * Attacks on the operator's SOL by a hundred wallets, on the real node: after each, what the operator holds is no less than
 * before minus the budgets that it chose, and an honest caller is served all along.
 */
import { Keypair, PublicKey, sendAndConfirmTransaction, Transaction, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { findSpender, findTokenAccount, refundExecution } from '../../../app/sdk/program/program.ts';
import { parseUuid, requestHash } from '../../../app/sdk/receipt/receipt.ts';
import { createKey } from '../../../app/sdk/wallet/apiKeys.ts';
import { openByWallet } from '../../../app/sdk/wallet/executions.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  failedAnswer,
  goodAnswer,
  request,
  startMarketplace,
  type TestCaller,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { readRents } from '../../harness/node/purses.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';

const WALLETS = 100;
/** As many set up at once. */
const BATCH = 20;
const SOL = 1e9;
/** The operator's budgets, lamports. */
const BURNT = 2_400_000;
const LENT_CALLS = 20;

describe("the operator's SOL under attack by a hundred wallets", function () {
  this.timeout(240_000);
  let market: TestMarketplace;
  let proxy: RpcProxy;
  let relay: RunningRelay;
  let lent: number;
  let attackers: TestCaller[];
  const cold = Keypair.generate().publicKey;
  /** Opens of attackers stand before the node; null while they pass. */
  let held: (() => void)[] | null = null;
  /** What others pay for priority, micro-lamports for a unit. */
  let price = 0;

  before(async () => {
    market = await startMarketplace({ environment: { LOG_LEVEL: 'silent' } });
    proxy = await startRpcProxy(market.node);
    const honest = findSpender(market.callers[1]!.wallet.publicKey);
    proxy.onCall(async ({ method, kind, params }) => {
      if (method === 'getRecentPrioritizationFees') {
        return { json: { jsonrpc: '2.0', id: 1, result: [{ slot: 1, prioritizationFee: price }] } };
      }
      const holding = held;
      if (kind !== 'open' || !holding) return null;
      const { message } = VersionedTransaction.deserialize(Buffer.from(params[0] as string, 'base64'));
      if (message.staticAccountKeys.some((key) => key.equals(honest))) return null;
      await new Promise<void>((resolve) => holding.push(resolve));
      return null;
    });
    const rents = await readRents(market);
    lent = LENT_CALLS * Number(rents.record + rents.escrow);
    attackers = [];
    for (let begun = 0; begun < WALLETS; begun += BATCH) {
      attackers.push(...(await Promise.all(Array.from({ length: BATCH }, makeAttacker))));
    }
    await market.node.fundSol(findSpender(market.callers[1]!.wallet.publicKey), SOL);
  });
  after(async () => {
    await proxy.close();
    await market.stop();
  });

  async function makeAttacker(): Promise<TestCaller> {
    const wallet = Keypair.generate();
    const { publicKey } = wallet;
    await Promise.all([market.node.fundSol(publicKey, SOL), market.node.fundSol(findSpender(publicKey), SOL)]);
    await market.mintTo(publicKey, 10_000_000n);
    const { limits } = market;
    const key = await createKey(market.marketplace, { wallet: keypairSigner(wallet), name: 'attacker', limits });
    return { wallet, apiKey: key.api_key, usdc: findTokenAccount(publicKey, market.usdcMint) };
  }

  const serve = () =>
    market.setBehaviour((body, _response, reply) => reply(goodAnswer(market.signingKey, body.execution_id, 'x')));
  /** Fails the attackers' calls and serves the honest one's. */
  const failAttackers = () =>
    market.setBehaviour(({ execution_id, task }, _response, reply) =>
      reply(task === 'honest' ? goodAnswer(market.signingKey, execution_id, 'x') : failedAnswer(execution_id)),
    );
  const call = (caller: TestCaller, task = 'x'): Promise<Answer> =>
    request(relay.url, `/v1/agents/${market.agentId}/execute`, { apiKey: caller.apiKey, body: { task } });
  const operatorHas = async () =>
    (await market.node.connection.getBalance(market.authority.publicKey, 'confirmed')) +
    (await market.node.connection.getBalance(cold, 'confirmed'));

  /**
   * What the operator has lost by an attack on a fresh ledger, while an honest caller calls again and again. `later` is what
   * follows when much time has passed, which would pass for the honest calls under way too.
   */
  async function lossBy(attack: () => Promise<void>, later = async () => {}): Promise<number> {
    market.forgetExecutions();
    relay = await startRelayHere(market, {
      SOLANA_RPC_URL: proxy.rpcUrl,
      SOLANA_WS_URL: proxy.wsUrl,
      SPONSOR: 'budgets',
      TRIAL_CALLS_PER_WALLET: '0',
      RENT_RETURN_ADDRESS: cold.toBase58(),
      SPONSOR_LAMPORTS_TOTAL: String(lent),
      LOG_LEVEL: 'silent',
      BURNT_LAMPORTS_PER_WALLET_DAY: '100000',
      BURNT_LAMPORTS_PER_LISTING_DAY: String(BURNT),
      BURNT_LAMPORTS_PER_DAY: String(BURNT),
    });
    try {
      serve();
      const before = await operatorHas();
      const honest = market.callers[1]!;
      for (let paid = 0; paid < 4; paid += 1) expect((await call(honest, 'honest')).status).to.equal(200);
      let isOver = false;
      const statuses: number[] = [];
      const calling = (async () => {
        while (!isOver) statuses.push((await call(honest, 'honest')).status);
      })();
      await attack().finally(() => {
        isOver = true;
      });
      await calling;
      await later();
      expect((await call(honest, 'honest')).status).to.equal(200);
      expect(statuses.filter((status) => status !== 200)).to.deep.equal([]);
      return before - (await operatorHas());
    } finally {
      held = null;
      await relay.stop();
    }
  }

  it('calls of their own agent lock no more rent than is lent, and burn nothing', async () => {
    const loss = await lossBy(async () => {
      const answers = await Promise.all(attackers.flatMap((attacker) => [call(attacker), call(attacker)]));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(2 * WALLETS).fill(200));
    });
    expect(loss).to.be.at.most(lent);
  });

  it('tanks that are emptied under opens in flight burn their budget at most', async () => {
    const loss = await lossBy(async () => {
      const holding: (() => void)[] = [];
      held = holding;
      const calls = attackers.flatMap((attacker) => Array.from({ length: 6 }, () => call(attacker)));
      await until('opens are in flight', async () => holding.length >= 20);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const tanks = attackers.map(({ wallet }) => findSpender(wallet.publicKey));
      await Promise.all(tanks.map((tank) => market.node.fundSol(tank, 0)));
      held = null;
      for (const pass of holding) pass();
      const answers = await Promise.all(calls);
      expect(answers.filter(({ status }) => status === 200)).to.deep.equal([]);
      await Promise.all(tanks.map((tank) => market.node.fundSol(tank, SOL)));
    });
    expect(loss)
      .to.be.greaterThan(0)
      .and.at.most(lent + BURNT / 2);
  });

  it('executions that their wallets open and start pay for their own end', async () => {
    const loss = await lossBy(async () => {
      failAttackers();
      const starting = attackers.map(async ({ wallet, apiKey }) => {
        const opened = await openByWallet(market.marketplace, {
          wallet: keypairSigner(wallet),
          agentId: new PublicKey(market.agentId),
          requestHash: requestHash('x'),
          gasLamports: 5_000,
        });
        const path = `/v1/executions/${opened.execution_id}/start`;
        return request(relay.url, path, { apiKey, body: { task: 'x' } });
      });
      expect((await Promise.all(starting)).map(({ status }) => status)).to.deep.equal(Array(WALLETS).fill(500));
    });
    expect(loss).to.be.at.most(lent);
  });

  it('refunds that cannot land, and are taken by their callers at last, burn their budget at most', async () => {
    const ids: [string, TestCaller][] = [];
    async function attack(): Promise<void> {
      market.setBehaviour(async ({ execution_id, task }, _response, reply) => {
        if (task === 'honest') return reply(goodAnswer(market.signingKey, execution_id, 'x'));
        const attacker = attackers[Number(task)]!;
        ids.push([execution_id, attacker]);
        await market.setFrozen(attacker.usdc, true);
        reply(failedAnswer(execution_id));
      });
      await Promise.all(attackers.map((attacker, n) => call(attacker, String(n))));
    }
    async function takeBack(): Promise<void> {
      const { refundAt } = (await market.record(ids.at(-1)![0]))!;
      await market.node.timeTravel(Number(refundAt) + 60);
      for (const [id, { wallet, usdc }] of ids) {
        const record = (await market.record(id))!;
        await market.setFrozen(usdc, false);
        const refund = refundExecution({
          authority: wallet.publicKey,
          executionId: parseUuid(id)!,
          caller: wallet.publicKey,
          keyId: record.keyId,
          destination: usdc,
          rentSponsor: record.rentSponsor,
          reason: 'expired',
        });
        // The relay may have been first.
        await sendAndConfirmTransaction(market.node.connection, new Transaction().add(refund), [wallet]).catch(
          () => null,
        );
      }
    }
    const loss = await lossBy(attack, takeBack);
    expect(ids.length).to.be.greaterThan(0);
    expect(loss).to.be.at.most(lent + BURNT);
  });

  it('high priority fees are paid by who is served, and never beyond what is collected', async () => {
    for (const present of [20_000, 2_000_000]) {
      price = present;
      const loss = await lossBy(async () => {
        const answers = await Promise.all(attackers.map((attacker) => call(attacker)));
        expect(answers.map(({ status }) => status)).to.deep.equal(Array(WALLETS).fill(200));
      });
      expect(loss, String(present)).to.be.at.most(lent);
    }
    price = 0;
  });
});
