/** Deposits and opens of several buyers share transactions: each amount, poisoned parts, and kills. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import { findTreasury } from '../../../app/sdk/program/program.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { changeStatus } from '../../../app/sdk/wallet/upkeep.ts';
import { until } from '../../harness/edge/until.ts';
import { createBuyers, PAYMENT_LAMPORTS, SERVICE_FEE, type SignedPayment, TOTAL } from '../../harness/node/buyers.ts';
import { readRents } from '../../harness/node/funds.ts';
import { FEE, goodAnswer, PRICE, useMarketplace } from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { useRpcProxy } from '../../harness/node/rpcProxy.ts';
import { readShared, SIGNATURE_LAMPORTS, spoilShared } from '../../harness/node/sharedTransactions.ts';
import { stopAt } from '../../harness/node/standstill.ts';
import type { Accepted } from '../../harness/node/x402.ts';

const PAYMENT = BigInt(PAYMENT_LAMPORTS);
const RETRY_MS = 250;
/** Calls of each known buyer at once: together more than one transaction holds. */
const CALLS = 5;

describe('transactions that calls of x402 clients share', function () {
  this.timeout(300_000);
  let shared: ReturnType<typeof readShared>;
  const feePayer = Keypair.generate();

  const market = useMarketplace({ feePayer, environment: { TRUST_PROXY: '1' } });
  before(async () => {
    shared = readShared(market);
    for (const { wallet } of market.callers)
      expect((await buy({ task: 'the first' }, { by: wallet })).status).to.equal(200);
    const paid = "SELECT DISTINCT caller FROM executions WHERE status = 'completed'";
    await until('the index knows both buyers', async () => (await market.query('index', paid)).length === 2);
  });
  afterEach(() => market.setBehaviour(null));

  const wallets = () => market.callers.map(({ wallet }) => wallet);
  const { quote, sign, buy, rich, usdcOf, endOf, prepareFor, ...buyers } = createBuyers(market);
  const lamports = async (key: Keypair) => BigInt(await buyers.lamports(key));
  const balances = async () => ({
    buyers: await Promise.all(wallets().map(usdcOf)),
    creator: await market.amountOf(market.creatorUsdc),
    treasury: await market.amountOf(findTreasury()),
    feePayer: await lamports(feePayer),
    relay: await lamports(market.authority),
  });

  it('create their deposits and open from them, each with its own amounts, to the lamport', async () => {
    const strangers = [await rich(), await rich()];
    const newcomers = [...strangers];
    const before = await balances();
    const buyAll = async (all: { wallet: Keypair; task: string }[]) => {
      const sends = await Promise.all(all.map(({ wallet: by, task }) => sign({ task }, { by })));
      const answers = await Promise.all(sends.map(({ send }) => send()));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(all.length).fill(200));
    };
    const most: Record<string, number> = { deposit: 1, open: 1 };
    let batches = 0;
    // On a busy machine they may be ready one after the other.
    for (; Object.values(most).includes(1); batches += 1) {
      const known = wallets().flatMap((wallet) => Array(CALLS).fill({ wallet, task: `known ${batches}` }));
      await buyAll([...known, ...newcomers.splice(0).map((wallet) => ({ wallet, task: 'new' }))]);
      for (const kind of Object.keys(most)) {
        const own = (await shared.signedFor('known')).filter((one) => one.kind === kind);
        most[kind] = Math.max(...(await shared.requireWhole(own)));
      }
    }
    expect(Math.max(...Object.values(most))).to.be.at.most(4);
    // Whoever has never paid cannot delay others.
    const ofNew = await shared.signedFor('new');
    const alone = ofNew.filter(({ kind }) => kind === 'deposit' || kind === 'open').map(({ fee }) => fee);
    expect(alone).to.deep.equal(Array(2 * strangers.length).fill(SIGNATURE_LAMPORTS));
    const fees = await shared.requireExactFees([...(await shared.signedFor('known')), ...ofNew]);
    const ofEach = BigInt(batches * CALLS);
    const count = 2n * ofEach + BigInt(strangers.length);
    const { record } = await readRents(market);
    expect(await balances()).to.deep.equal({
      buyers: before.buyers.map((usdc) => usdc - ofEach * TOTAL),
      creator: before.creator + count * (PRICE - FEE),
      treasury: before.treasury + count * (FEE + SERVICE_FEE),
      feePayer: before.feePayer - count * PAYMENT,
      relay: before.relay - (fees - count * PAYMENT) - count * record,
    });
    for (const stranger of strangers) expect(await usdcOf(stranger)).to.equal(0n);
  });

  describe('with a part that fails on the chain', () => {
    // New ones, because a relay lets a wallet go alone that has made a transaction fail.
    const proxy = useRpcProxy(market, { each: true });
    let relay: RunningRelay;
    beforeEach(async () => {
      const key = { X402_FEE_PAYER_KEYPAIR: join(market.dataDir, 'x402-fee-payer.json') };
      const settings = { ...proxy.environment, ...key, SPONSOR: 'all', TRUST_PROXY: '1' };
      relay = await startRelayHere(market, settings);
    });
    afterEach(() => relay.stop());

    /** Buys at the same time: several calls of the first buyer, and one of the second. Returns the answers. */
    async function buyTogether(innocent: string, poisoned: string, accepted: Accepted, agent?: string) {
      const [first, second] = wallets();
      const sends = await Promise.all(
        Array.from({ length: 4 }, (_, n) => sign({ task: `${innocent} ${n}` }, { by: first! })),
      );
      const poison = await sign({ task: poisoned }, { by: second!, accepted, agent });
      const answers = await Promise.all([...sends, poison].map(({ send }) => send(relay.url)));
      return answers.map(({ status }) => status);
    }
    const requireOneBearer = async (kind: string, bearer: string, others: string) =>
      shared.requireOneBearer(kind, await shared.signedFor(bearer), await shared.signedFor(others), [
        'deposit',
        'open',
        'pay',
        'settle',
      ]);

    it('let that deposit pay alone, and create the others by transactions of their own', async () => {
      const before = await balances();
      let attempts = 0;
      // On a busy machine that deposit may go alone, unharmed.
      for (let isSpoiled = () => false; !isSpoiled(); attempts += 1) {
        const accepted = await quote({ task: `prepared ${attempts}` });
        const deposit = new PublicKey(accepted.payTo);
        const elsewhere = prepareFor(accepted, wallets()[1]!);
        isSpoiled = spoilShared(
          proxy,
          'deposit',
          async () =>
            void (await sendTransaction(market.node.connection, [elsewhere], keypairSigner(market.authority))),
          deposit,
        );
        const statuses = await buyTogether(`beside ${attempts}`, `prepared ${attempts}`, accepted);
        // If its deposit is there already, its call goes on.
        expect(statuses).to.deep.equal(Array(5).fill(200));
      }
      await requireOneBearer('deposit', 'prepared', 'beside');
      const after = await balances();
      const count = BigInt(attempts);
      expect(after.buyers).to.deep.equal([before.buyers[0]! - 4n * count * TOTAL, before.buyers[1]! - count * TOTAL]);
      expect(after.feePayer).to.equal(before.feePayer - 5n * count * PAYMENT);
    });

    it('let that open pay alone, send its money back, and open the others by transactions of their own', async () => {
      const creator = Keypair.generate();
      await market.node.fundSol(creator.publicKey, 1e9);
      await market.mintTo(creator.publicKey, 100_000_000n);
      const signingKey = generateSigningKey();
      market.setBehaviour(({ execution_id, task }, _response, reply) =>
        reply(goodAnswer(task.startsWith('opened') ? market.signingKey : signingKey, execution_id, 'x')),
      );
      const agent = await market.list({ name: 'pausing', creator, endpoint: market.endpoint, signingKey });
      const before = await balances();
      let attempts = 0;
      for (let isSpoiled = () => false; !isSpoiled(); attempts += 1) {
        const accepted = await quote({ task: `paused ${attempts}` }, { agent });
        isSpoiled = spoilShared(
          proxy,
          'openFromDeposit',
          () =>
            changeStatus(market.marketplace, {
              wallet: keypairSigner(creator),
              agentId: new PublicKey(agent),
              status: 'paused',
            }).then(() => undefined),
          new PublicKey(accepted.payTo),
        );
        const statuses = await buyTogether(`opened ${attempts}`, `paused ${attempts}`, accepted, agent);
        expect(statuses).to.deep.equal([200, 200, 200, 200, isSpoiled() ? 422 : 200]);
      }
      await requireOneBearer('open', 'paused', 'opened');
      const after = await balances();
      const count = BigInt(attempts);
      // The service fee pays for the transactions of the call that was not served.
      expect(after.buyers).to.deep.equal([
        before.buyers[0]! - 4n * count * TOTAL,
        before.buyers[1]! - (count - 1n) * TOTAL - SERVICE_FEE,
      ]);
      expect(after.treasury).to.equal(before.treasury + (5n * count - 1n) * FEE + 5n * count * SERVICE_FEE);
      expect(after.creator).to.equal(before.creator + 4n * count * (PRICE - FEE));
    });
  });

  // Before its transaction is stored, a call is as one that goes alone: kills/deposits.test.ts has those.
  for (const kind of ['deposit', 'open']) {
    const point = `shared-${kind}:after`;
    it(`end once, each as if alone, when the relay is killed at ${point}`, async () => {
      const doomed = await market.startRelayProcess({ STANDSTILL: '1', WITHOUT_INDEXER: '1' });
      const before = await balances();
      const sends: SignedPayment[] = [];
      const asked: Promise<void>[] = [];
      let answered = 0;
      const ask = async ({ send }: SignedPayment) => {
        // Nothing has begun after a 503.
        while ((await send(doomed.url).catch(() => null))?.status === 503) await sleep(RETRY_MS);
        answered += 1;
      };
      // On a busy machine each of the first may go alone.
      while (doomed.standing.size < 2) {
        const tasks = Array.from({ length: 5 }, (_, n) => stopAt(point, `${sends.length + n}`));
        const more = await Promise.all(tasks.map((task) => sign({ task }, { by: wallets()[0]!, url: doomed.url })));
        sends.push(...more);
        asked.push(...more.map(ask));
        await until('all stand or have ended', async () => doomed.standing.size + answered === sends.length);
      }
      const standing = doomed.standing.size;
      await doomed.kill();
      await Promise.all(asked);
      const ends = await Promise.all(
        sends.map(async ({ send }) => (await endOf(() => send(market.relay.url), [202, 409, 503])).status),
      );
      // A payment whose blockhash has expired before its signature is never charged.
      const sold = BigInt(ends.filter((status) => status === 200).length);
      expect(ends.filter((status) => status !== 200 && status !== 402)).to.deep.equal([]);
      if (kind === 'open') expect(sold >= BigInt(standing), `${sold} sold`).to.equal(true);
      const after = await balances();
      expect(after.buyers[0]).to.equal(before.buyers[0]! - sold * TOTAL);
      expect(after.creator).to.equal(before.creator + sold * (PRICE - FEE));
      expect(after.treasury).to.equal(before.treasury + sold * (FEE + SERVICE_FEE));
      expect(after.feePayer).to.equal(before.feePayer - sold * PAYMENT);
      await shared.requireExactFees(await shared.signedFor(`stop at ${point}`));
    });
  }
});
