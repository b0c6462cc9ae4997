/**
 * Attacks on the operator's SOL by a hundred wallets, on the real node. Each attack costs the operator at most the
 * configured budgets, and an honest caller is served throughout.
 */
import {
  AuthorityType,
  createCloseAccountInstruction,
  createRevokeInstruction,
  createSetAuthorityInstruction,
  createTransferInstruction,
} from '@solana/spl-token';
import { Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import { generateSigningKey } from '../../../app/sdk/creator/signingKey.ts';
import { findSpender, refundExecution } from '../../../app/sdk/program/program.ts';
import { keyIdOf } from '../../../app/sdk/receipt/apiKey.ts';
import { parseUuid, requestHash } from '../../../app/sdk/receipt/receipt.ts';
import { revokeKey } from '../../../app/sdk/wallet/apiKeys.ts';
import { openByWallet } from '../../../app/sdk/wallet/executions.ts';
import { revokeOnChain } from '../../../app/sdk/wallet/grants.ts';
import { openMarketplace } from '../../../app/sdk/wallet/marketplace.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import { failedAnswer, goodAnswer, request, type TestCaller } from '../../harness/node/marketplace.ts';
import { BURNT, FEE, type Siege, SOL, startSiege, WALLETS } from './siege.ts';

/** Number of wallets that open and start in parallel. */
const AT_ONCE = 20;

describe("the operator's SOL under attack by a hundred wallets", function () {
  this.timeout(900_000);
  let siege: Siege;
  let market: Siege['market'];
  let attackers: TestCaller[];

  before(async () => {
    siege = await startSiege();
    ({ market, attackers } = siege);
  });
  after(() => siege.stop());

  const send = (wallet: Keypair, ...instructions: TransactionInstruction[]) =>
    sendTransaction(market.node.connection, instructions, keypairSigner(wallet));
  const keyIdHex = ({ apiKey }: TestCaller) => Buffer.from(keyIdOf(apiKey)).toString('hex');

  it("limits calls of the attackers' own agent to the rent that may be lent, and burns nothing", async () => {
    const { lost, burnt, out } = await siege.lossBy(async () => {
      const answers = await Promise.all(
        attackers.flatMap((one) => [siege.callPatiently(one), siege.callPatiently(one)]),
      );
      // On a busy machine some answers are 202, and their calls continue.
      for (const { status, text } of answers) expect(status, text).to.be.oneOf([200, 202]);
      await siege.untilEnded();
    });
    expect([lost, burnt]).to.deep.equal([out, 0]);
    expect(lost).to.be.at.most(siege.lent);
  });

  /** Actions by which a wallet makes its own opens fail while they are in flight, and their repair. */
  const kills: [title: string, kill: (caller: TestCaller) => Promise<unknown>, mend: () => Promise<unknown>][] = [
    [
      'gas balances that are emptied',
      ({ wallet }) => market.node.fundSol(findSpender(wallet.publicKey), 0),
      () => Promise.all(attackers.map(({ wallet }) => market.node.fundSol(findSpender(wallet.publicKey), SOL))),
    ],
    [
      'grants that are revoked',
      (one) => revokeOnChain(market.marketplace, { wallet: keypairSigner(one.wallet), keyId: keyIdHex(one) }),
      () => siege.renewKeys(),
    ],
    [
      'approvals that are revoked',
      ({ wallet, usdc }) => send(wallet, createRevokeInstruction(usdc, wallet.publicKey)),
      () => siege.renewKeys(),
    ],
  ];
  for (const [title, kill, mend] of kills) {
    it(`burns at most half of the budget when attackers use ${title} under opens in flight`, async () => {
      // Few enough for all kills to land while the opens are held.
      const some = attackers.slice(0, 25);
      async function attack(): Promise<void> {
        const held = siege.hold((kind, accounts) => kind === 'open' && !siege.isHonest(accounts));
        const calls = some.flatMap((one) => Array.from({ length: 4 }, () => siege.call(one)));
        await until('opens are in flight', async () => held.count() >= 15);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await siege.inBatches(some, kill);
        held.pass();
        const answers = await Promise.all(calls);
        expect(answers.filter(({ status }) => status === 200)).to.deep.equal([]);
        await mend();
      }
      // On a busy machine all held opens can expire, which costs nothing. Then the attack is repeated.
      let attacks = 0;
      for (let isBurnt = false; !isBurnt; attacks += 1) {
        expect(attacks, 'attacks whose opens all expired').to.be.lessThan(5);
        const { lost, burnt, out } = await siege.lossBy(attack);
        expect(lost).to.equal(burnt + out);
        expect(burnt).to.be.at.most(BURNT / 2);
        expect(out).to.be.at.most(siege.lent);
        isBurnt = burnt >= FEE;
      }
    });
  }

  it('burns at most half of the budget when payouts are closed, frozen or given away before settles', async () => {
    const villains: { creator: Keypair; signingKey: Uint8Array; agentId: string; payout: PublicKey }[] = [];
    for (const name of ['closes', 'freezes', 'gives away']) {
      const creator = Keypair.generate();
      await market.node.fundSol(creator.publicKey, SOL);
      const payout = await market.mintTo(creator.publicKey, 1_000_000_000n);
      const signingKey = generateSigningKey();
      market.setBehaviour((body, _response, reply) => reply(goodAnswer(signingKey, body.execution_id, 'x')));
      const agentId = await market.list({ name, endpoint: market.endpoint, signingKey, creator });
      villains.push({ creator, signingKey, agentId, payout });
    }
    const [closing, freezing, giving] = [villains[0]!, villains[1]!, villains[2]!];
    async function flip(): Promise<void> {
      const owner = closing.creator.publicKey;
      const amount = await market.amountOf(closing.payout);
      await Promise.all([
        send(
          closing.creator,
          createTransferInstruction(closing.payout, freezing.payout, owner, amount),
          createCloseAccountInstruction(closing.payout, owner, owner),
        ),
        send(
          giving.creator,
          createSetAuthorityInstruction(giving.payout, giving.creator.publicKey, AuthorityType.AccountOwner, owner),
        ),
      ]);
      await market.setFrozen(freezing.payout, true);
    }
    let calls: ReturnType<Siege['call']>[] = [];
    async function attack(): Promise<void> {
      market.setBehaviour(({ execution_id, task }, _response, reply) => {
        const key = villains.find(({ agentId }) => agentId === task)?.signingKey ?? market.signingKey;
        reply(goodAnswer(key, execution_id, 'x'));
      });
      const theirs = villains.map(({ agentId }) => agentId);
      const held = siege.hold(
        (kind, accounts) => kind === 'settle' && accounts.some((key) => theirs.includes(key.toBase58())),
      );
      calls = attackers.map((one, n) => {
        const agent = theirs[n % theirs.length]!;
        return siege.call(one, agent, { async: true }, agent);
      });
      await until('settles are on their way', async () => held.count() >= 15);
      await flip();
      held.pass();
      const sent =
        "SELECT count(*) FROM executions WHERE state = 'verified' AND rest_until_ms = 0 AND task <> 'honest'";
      await until('none of them is on its way', async () => (await siege.inLedger(sent)) === 0n);
    }
    async function later(): Promise<void> {
      const last = await siege.inLedger('SELECT max(refund_at) FROM executions');
      await market.node.timeTravel(Number(last) + 60);
      // Calls that had to wait continue when these have ended. They are refunded at once, because their settles would
      // fail.
      const answers = await Promise.all(calls);
      expect(answers.filter(({ status }) => status !== 200 && status !== 503)).to.deep.equal([]);
      await siege.untilEnded();
    }
    const before = await Promise.all(attackers.map(({ usdc }) => market.amountOf(usdc)));
    const { lost, burnt, out } = await siege.lossBy(attack, later);
    expect(lost).to.equal(burnt + out);
    expect(burnt)
      .to.be.at.least(FEE)
      .and.at.most(BURNT / 2);
    expect(out).to.be.at.most(siege.lent);
    // Every caller has been refunded.
    const after = await Promise.all(attackers.map(({ usdc }) => market.amountOf(usdc)));
    expect(after).to.deep.equal(before);
  });

  it('charges executions that wallets open and start for their own settle or refund', async () => {
    const { lost, burnt, out } = await siege.lossBy(async () => {
      siege.failAttackers();
      const statuses: number[] = [];
      // In batches, so that no blockhash expires while they are sent.
      for (let first = 0; first < WALLETS; first += AT_ONCE) {
        const starting = attackers.slice(first, first + AT_ONCE).map(async ({ wallet, apiKey }) => {
          const opened = await openByWallet(market.marketplace, {
            wallet: keypairSigner(wallet),
            agentId: new PublicKey(market.agentId),
            requestHash: requestHash('x'),
            gasLamports: 5_000,
          });
          const path = `/v1/executions/${opened.execution_id}/start`;
          return request(siege.relayUrl(), path, { apiKey, body: { task: 'x' } });
        });
        statuses.push(...(await Promise.all(starting)).map(({ status }) => status));
      }
      expect(statuses).to.deep.equal(Array(WALLETS).fill(500));
    });
    expect([lost, burnt]).to.deep.equal([out, 0]);
    expect(lost).to.be.at.most(siege.lent);
  });

  it('loses at most an open and a refund for each refund that cannot land and that its caller claims later', async () => {
    const ids: [string, TestCaller][] = [];
    async function attack(): Promise<void> {
      market.setBehaviour(async ({ execution_id, task }, _response, reply) => {
        if (task === 'honest') return reply(goodAnswer(market.signingKey, execution_id, 'x'));
        const attacker = attackers[Number(task)]!;
        ids.push([execution_id, attacker]);
        await market.setFrozen(attacker.usdc, true);
        reply(failedAnswer(execution_id));
      });
      await Promise.all(attackers.map((attacker, n) => siege.call(attacker, String(n))));
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
          listing: record.listing,
          caller: wallet.publicKey,
          keyId: record.keyId,
          destination: usdc,
          rentSponsor: record.rentSponsor,
          reason: 'expired',
        });
        // The relay may have refunded it already.
        await send(wallet, refund).catch(() => null);
      }
    }
    const settings = { SPONSOR_LAMPORTS_WAITING: String(siege.lent) };
    const { lost, burnt, out, outToStrangers } = await siege.lossBy(attack, takeBack, settings);
    expect(ids.length).to.be.greaterThan(0);
    // The gas was returned to the attackers; the rent was the operator's.
    expect(lost).to.be.at.most(burnt + out);
    expect(burnt).to.be.at.most(ids.length * 2 * FEE);
    // Waiting refunds have a separate budget. A wallet that has paid still borrows from the other one.
    expect(outToStrangers).to.be.at.most(2 * siege.lent);
    expect(out - outToStrangers).to.be.at.most(siege.lent);
  });

  it('charges high priority fees to the wallet that is served, and never above what is collected', async () => {
    for (const present of [20_000, 2_000_000]) {
      siege.setPrice(present);
      const attack = async () => {
        const answers = await Promise.all(attackers.map((attacker) => siege.callPatiently(attacker)));
        expect(answers.map(({ status }) => status)).to.deep.equal(Array(WALLETS).fill(200));
      };
      const { lost } = await siege.lossBy(attack, undefined, { MAX_PRIORITY_FEE_LAMPORTS: '100000' });
      expect(lost, String(present)).to.be.at.most(siege.lent);
    }
    siege.setPrice(0);
  });

  it('spends only the revocation budget on keys that are created and revoked repeatedly, and those keys stop working', async () => {
    const paidFor = 20;
    const budget = { REVOKE_LAMPORTS_PER_DAY: String(paidFor * FEE), REVOKE_LAMPORTS_PER_WALLET_DAY: String(FEE) };
    const { lost, out } = await siege.lossBy(
      async () => {
        const here = await openMarketplace({ baseUrl: siege.relayUrl(), rpcUrl: market.node.rpcUrl });
        for (const round of [1, 2]) {
          await siege.inBatches(attackers, (one) =>
            revokeKey(here, { wallet: keypairSigner(one.wallet), keyId: keyIdHex(one) }),
          );
          const refused = await Promise.all(attackers.map((one) => siege.call(one)));
          expect(
            refused.map(({ status }) => status),
            `round ${round}`,
          ).to.deep.equal(Array(WALLETS).fill(401));
          await siege.renewKeys();
        }
      },
      undefined,
      budget,
    );
    expect(lost).to.equal(paidFor * FEE + out);
    expect(out).to.be.at.most(siege.lent);
  });
});
