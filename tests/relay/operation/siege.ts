/**
 * The setup for attacks on the operator's SOL. A hundred wallets have keys and full gas balances. A relay on a fresh
 * ledger uses a node that can hold transactions back. An honest caller calls repeatedly.
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

/** Five times as many as the budgets serve in parallel. */
export const WALLETS = 100;
/** Wallets that are set up in parallel. */
const BATCH = 20;
export const SOL = 1e9;
export const FEE = 5_000;
/**
 * Lamports that may be burnt in a day. The half for strangers covers twenty calls, each with a failed open and two
 * failed ends. Strangers never burn more than that half, so the other half only has to cover the honest caller's own
 * calls.
 */
export const BURNT = 2 * 20 * 3 * FEE;
const LENT_CALLS = 20;
/** Pause between the honest caller's calls, so that they do not keep a processor busy. */
const HONEST_PAUSE_MS = 250;

/** Transactions that are held before the node until they are released. */
interface Holding {
  isHeld(kind: Kind, accounts: PublicKey[]): boolean;
  /** By their bytes: the relay resends the same ones, and each is held once. */
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
  /** Priority fee that others pay, in micro-lamports per unit. */
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
  /** Retries after a 503, as its Retry-After says. A busy machine refuses calls before any money moves. */
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
    /** True if one of these accounts is that of the honest caller's gas balance. */
    isHonest: (accounts: PublicKey[]) => accounts.some((key) => key.equals(honestTank)),
    setPrice(next: number) {
      price = next;
    },
    serve: () =>
      market.setBehaviour((body, _response, reply) => reply(goodAnswer(market.signingKey, body.execution_id, 'x'))),
    /** Fails the attackers' calls, and serves the honest caller's. */
    failAttackers: () =>
      market.setBehaviour(({ execution_id, task }, _response, reply) =>
        reply(task === 'honest' ? goodAnswer(market.signingKey, execution_id, 'x') : failedAnswer(execution_id)),
      ),
    /** Holds back the transactions that `isHeld` accepts, until `pass` is called. */
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
    /** Creates new keys and approvals for wallets whose keys were revoked. */
    async renewKeys() {
      await inBatches(attackers, async (attacker) => {
        attacker.apiKey = await makeKey(attacker.wallet);
      });
    },
    /** The first value that a statement selects from the relay's ledger. */
    inLedger,
    /**
     * Runs an attack on a fresh ledger while an honest caller calls repeatedly. Returns the lamports that the operator
     * lost, and the amounts that the ledger counts as burnt and lent. `later` runs once the honest calls have ended,
     * because it can move the clock.
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
        // Otherwise late transactions on a busy machine raise the price, and honest calls pay some lamports more than
        // they cost.
        MAX_PRIORITY_FEE_LAMPORTS: '0',
        ...FORGETFUL,
        BURNT_LAMPORTS_PER_WALLET_DAY: '100000',
        BURNT_LAMPORTS_PER_LISTING_DAY: String(BURNT),
        BURNT_LAMPORTS_PER_DAY: String(BURNT),
        ...settings,
      });
      try {
        this.serve();
        // It lends its own rent when the attackers have used up the budget for lent rent.
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
    /** Resolves when no row of the attackers is unfinished. */
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
