/**
 * The stage of attacks on the operator's SOL: a hundred wallets with keys and full tanks, a relay on a fresh ledger behind a
 * node that holds back what it is told to, and an honest caller that calls again and again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Keypair, type PublicKey, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { findSpender, findTokenAccount } from '../../../app/sdk/program/program.ts';
import { createKey } from '../../../app/sdk/wallet/apiKeys.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  failedAnswer,
  goodAnswer,
  request,
  startMarketplace,
  type TestCaller,
} from '../../harness/node/marketplace.ts';
import { readRents } from '../../harness/node/purses.ts';
import { FORGETFUL, startRelayHere } from '../../harness/node/relayHere.ts';
import { type Kind, startRpcProxy } from '../../harness/node/rpcProxy.ts';

/** Five times as many as the budgets serve at once. */
export const WALLETS = 100;
/** As many set up at once. */
const BATCH = 20;
export const SOL = 1e9;
export const FEE = 5_000;
/**
 * What may be burnt within the day, lamports: the half that is not kept for who pays bears twenty calls of strangers, each
 * held at an open and two ends that fail. What strangers burn stays within that half however much of it is under way at
 * once, so that the other half, for an honest caller, need be no larger than its own calls.
 */
export const BURNT = 2 * 20 * 3 * FEE;
const LENT_CALLS = 20;
/** Between the calls of the honest caller: it is there all along, and does not keep a processor busy. */
const HONEST_PAUSE_MS = 250;

/** Transactions that stand before the node until they are passed. */
interface Holding {
  isHeld(kind: Kind, accounts: PublicKey[]): boolean;
  /** By their bytes: the relay sends the same ones again and again, and they stand there once. */
  standing: Map<string, Promise<void>>;
  pass: (() => void)[];
}

export type Siege = Awaited<ReturnType<typeof startSiege>>;

export async function startSiege() {
  const market = await startMarketplace({ environment: { LOG_LEVEL: 'silent' } });
  const proxy = await startRpcProxy(market.node);
  const cold = Keypair.generate().publicKey;
  const honest = market.callers[1]!;
  const honestTank = findSpender(honest.wallet.publicKey);
  const rents = await readRents(market);
  const lent = LENT_CALLS * Number(rents.record + rents.escrow);
  let relay: RunningRelay;
  let holding: Holding | null = null;
  /** What others pay for priority, micro-lamports for a unit. */
  let price = 0;
  proxy.onCall(async ({ method, kind, params: [bytes] }) => {
    if (method === 'getRecentPrioritizationFees') {
      return { json: { jsonrpc: '2.0', id: 1, result: [{ slot: 1, prioritizationFee: price }] } };
    }
    const present = holding;
    if (kind === null || !present) return null;
    const { message } = VersionedTransaction.deserialize(Buffer.from(bytes as string, 'base64'));
    if (!present.isHeld(kind, message.staticAccountKeys)) return null;
    const key = bytes as string;
    if (!present.standing.has(key)) {
      present.standing.set(key, new Promise<void>((resolve) => present.pass.push(resolve)));
    }
    await present.standing.get(key);
    return null;
  });

  async function makeKey(wallet: Keypair): Promise<string> {
    const { limits } = market;
    return (await createKey(market.marketplace, { wallet: keypairSigner(wallet), name: 'attacker', limits })).api_key;
  }
  async function makeAttacker(): Promise<TestCaller> {
    const wallet = Keypair.generate();
    const { publicKey } = wallet;
    await Promise.all([market.node.fundSol(publicKey, SOL), market.node.fundSol(findSpender(publicKey), SOL)]);
    await market.mintTo(publicKey, 10_000_000n);
    return { wallet, apiKey: await makeKey(wallet), usdc: findTokenAccount(publicKey, market.usdcMint) };
  }
  async function inBatches<T, U>(items: T[], each: (item: T, index: number) => Promise<U>): Promise<U[]> {
    const done: U[] = [];
    for (let begun = 0; begun < items.length; begun += BATCH) {
      done.push(...(await Promise.all(items.slice(begun, begun + BATCH).map((item, n) => each(item, begun + n)))));
    }
    return done;
  }
  const attackers = await inBatches(Array(WALLETS).fill(0), makeAttacker);

  const call = (caller: TestCaller, task = 'x', body: object = {}, agent = market.agentId): Promise<Answer> =>
    request(relay.url, `/v1/agents/${agent}/execute`, { apiKey: caller.apiKey, body: { task, ...body } });
  /** Calls again when it is told to: a busy machine refuses what it cannot take, before any money moves. */
  async function callPatiently(caller: TestCaller, task?: string): Promise<Answer> {
    for (;;) {
      const answer = await call(caller, task);
      if (answer.status !== 503) return answer;
      const seconds = Number(answer.headers.get('retry-after') ?? 0);
      expect(seconds, answer.text).to.be.greaterThan(0);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    }
  }
  const operatorHas = async () =>
    (await market.node.connection.getBalance(market.authority.publicKey, 'confirmed')) +
    (await market.node.connection.getBalance(cold, 'confirmed'));
  async function inLedger(text: string): Promise<bigint> {
    const [row] = await market.query('ledger', text);
    return Object.values(row)[0] as bigint;
  }

  return {
    market,
    attackers,
    lent,
    call,
    callPatiently,
    inBatches,
    relayUrl: () => relay.url,
    /** Whether a transaction that takes these accounts opens for the honest caller. */
    isHonest: (accounts: PublicKey[]) => accounts.some((key) => key.equals(honestTank)),
    setPrice(next: number) {
      price = next;
    },
    serve: () =>
      market.setBehaviour((body, _response, reply) => reply(goodAnswer(market.signingKey, body.execution_id, 'x'))),
    /** Fails the attackers' calls and serves the honest one's. */
    failAttackers: () =>
      market.setBehaviour(({ execution_id, task }, _response, reply) =>
        reply(task === 'honest' ? goodAnswer(market.signingKey, execution_id, 'x') : failedAnswer(execution_id)),
      ),
    /** Holds what `isHeld` says before the node until the function that it returns is called. */
    hold(isHeld: Holding['isHeld']) {
      const mine: Holding = { isHeld, standing: new Map(), pass: [] };
      holding = mine;
      return {
        count: () => mine.standing.size,
        pass() {
          holding = null;
          for (const pass of mine.pass) pass();
        },
      };
    },
    /** Keys and approvals anew, for those that were revoked. */
    async renewKeys() {
      await inBatches(attackers, async (attacker) => {
        attacker.apiKey = await makeKey(attacker.wallet);
      });
    },
    /** The first value that a statement selects from the relay's ledger. */
    inLedger,
    /**
     * What the operator has lost by an attack on a fresh ledger, and what of that the ledger says is burnt and lent,
     * lamports, while an honest caller calls again and again. `later` is what follows when much time has passed, which
     * would pass for the honest calls under way too.
     */
    async lossBy(attack: () => Promise<void>, later = async () => {}, settings: NodeJS.ProcessEnv = {}) {
      await market.forgetExecutions();
      relay = await startRelayHere(market, {
        SOLANA_RPC_URL: proxy.rpcUrl,
        SOLANA_WS_URL: proxy.wsUrl,
        SPONSOR: 'budgets',
        TRIAL_CALLS_PER_WALLET: '0',
        RENT_RETURN_ADDRESS: cold.toBase58(),
        SPONSOR_LAMPORTS_TOTAL: String(lent),
        LOG_LEVEL: 'silent',
        // Without it, late transactions on a busy machine raise the price, and honest calls pay some lamports more than they cost.
        MAX_PRIORITY_FEE_LAMPORTS: '0',
        ...FORGETFUL,
        BURNT_LAMPORTS_PER_WALLET_DAY: '100000',
        BURNT_LAMPORTS_PER_LISTING_DAY: String(BURNT),
        BURNT_LAMPORTS_PER_DAY: String(BURNT),
        ...settings,
      });
      try {
        this.serve();
        // It lends its rent itself where the attackers have taken what is lent.
        await market.node.fundSol(honestTank, 10 * SOL);
        const before = await operatorHas();
        const callHonestly = async () => (await callPatiently(honest, 'honest')).status;
        for (let paid = 0; paid < 4; paid += 1) expect(await callHonestly()).to.equal(200);
        let isOver = false;
        const statuses: number[] = [];
        const calling = (async () => {
          while (!isOver) {
            statuses.push(await callHonestly());
            await delay(HONEST_PAUSE_MS);
          }
        })();
        await attack().finally(() => {
          isOver = true;
        });
        await calling;
        await later();
        expect(await callHonestly()).to.equal(200);
        expect(statuses.filter((status) => status !== 200)).to.deep.equal([]);
        const lost = before - (await operatorHas());
        const burnt = Number(await inLedger('SELECT coalesce(sum(lost_fees), 0) FROM executions'));
        const lentTo = `SELECT coalesce(sum(record_lent
          + CASE WHEN state IN ('settled', 'refunded') THEN 0 ELSE escrow_lent END), 0)
          FROM executions WHERE state <> 'void'`;
        const strangers = `${lentTo} AND wallet <> '${honest.wallet.publicKey.toBase58()}'`;
        const [out, outToStrangers] = [Number(await inLedger(lentTo)), Number(await inLedger(strangers))];
        return { lost, burnt, out, outToStrangers };
      } finally {
        for (const pass of holding?.pass ?? []) pass();
        holding = null;
        await relay.stop();
      }
    },
    /** Resolves when no row of the attackers' is under way. */
    untilEnded: () =>
      until(
        'all has ended',
        async () =>
          (await inLedger("SELECT count(*) FROM executions WHERE state NOT IN ('settled', 'refunded', 'void')")) === 0n,
      ),
    async stop() {
      await proxy.close();
      await market.stop();
    },
  };
}
