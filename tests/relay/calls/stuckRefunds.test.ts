/**
 * Refunds that callers cannot receive. However many there are, other callers are served. The wallet gets no more lent
 * rent, and after an hour the relay moves the refunds to the unclaimed ones, where their caller claims them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ACCOUNT_SIZE, createInitializeAccountInstruction, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { PublicKey, SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import { EXECUTION_COLUMNS } from '../../../app/relay/ledger/tables.ts';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { generateSigningKey } from '../../../app/sdk/creator/signingKey.ts';
import {
  constants,
  findExecution,
  findSpender,
  findUnclaimed,
  refundExecution,
} from '../../../app/sdk/program/program.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { type ExecutionFacts, verifyExecution } from '../../../app/sdk/receipt/verify.ts';
import { openChain } from '../../../app/sdk/wallet/marketplace.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { claimUnclaimed } from '../../../app/sdk/wallet/unclaimed.ts';
import { until, untilFound } from '../../harness/edge/until.ts';
import {
  failedAnswer,
  goodAnswer,
  PRICE,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { readRents } from '../../harness/node/purses.ts';
import { FORGETFUL, startRelayHere } from '../../harness/node/relayHere.ts';
import { type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';

const FEE = 5_000n;
/** Calls of a new wallet whose fees the operator pays by default. */
const TRIALS = 3;
/** Calls that pay their gas before a wallet counts as proven. */
const PROVEN_BY = 4;
/** The attack: more waiting refunds of paying wallets than the day's budget has fees for. */
const WALLETS = 100;
const REFUNDS = 6_000;
/** Refunds of each wallet with rent that the operator has lent. */
const LENT = 20;
const FAR_MS = 2 ** 52;

describe('refunds that callers cannot receive', function () {
  this.timeout(300_000);
  let market: TestMarketplace;
  let proxy: RpcProxy;
  let relay: RunningRelay | null = null;
  /** Releases refunds that are held before the node; null while they pass. */
  let held: (() => void)[] | null = null;
  before(async () => {
    // A refund that is held before the node expires after 150 slots.
    market = await startMarketplace({ slotTimeMs: 200 });
    proxy = await startRpcProxy(market.node);
    // The relay resends each refund; it is held once.
    const standing = new Map<unknown, Promise<void>>();
    proxy.onCall(async ({ kind, params: [bytes] }) => {
      const holding = held;
      if (kind === 'refund' && holding && !standing.has(bytes)) {
        standing.set(bytes, new Promise<void>((resolve) => holding.push(resolve)));
      }
      await standing.get(bytes);
      return null;
    });
    for (const { wallet } of market.callers) await market.node.fundSol(findSpender(wallet.publicKey), 10e9);
  });
  after(async () => {
    await proxy.close();
    await market.stop();
  });
  beforeEach(async () => {
    await market.forgetExecutions();
    await market.setFrozen(market.callers[0]!.usdc, false);
  });
  afterEach(async () => {
    await relay?.stop();
    relay = null;
  });

  const start = async (settings: NodeJS.ProcessEnv = {}) => {
    relay = await startRelayHere(market, {
      SOLANA_RPC_URL: proxy.rpcUrl,
      SOLANA_WS_URL: proxy.wsUrl,
      ...FORGETFUL,
      ...settings,
    });
  };
  const execute = (caller: number, body: object = {}, agent = market.agentId) =>
    request(relay!.url, `/v1/agents/${agent}/execute`, {
      apiKey: market.callers[caller]!.apiKey,
      body: { task: 'x', ...body },
    });
  const serve = async (caller: number, agent?: string) => {
    const answer = await execute(caller, agent === undefined ? {} : { task: agent }, agent);
    expect(answer.status, answer.text).to.equal(200);
    return answer;
  };
  const answerWell = () =>
    market.setBehaviour((body, _response, reply) => reply(goodAnswer(market.signingKey, body.execution_id, 'x')));
  /** Runs this many calls of the attacker in parallel, whose refunds wait for its account. Returns their ids. */
  async function letWait(count: number): Promise<string[]> {
    let dispatched = 0;
    market.setBehaviour(async (body, _response, reply) => {
      dispatched += 1;
      await until('all are open', async () => dispatched === count);
      await market.setFrozen(market.callers[0]!.usdc, true);
      reply(failedAnswer(body.execution_id));
    });
    const calls = await Promise.all(Array.from({ length: count }, () => execute(0, { async: true })));
    const ids = calls.map(({ body }) => body.execution_id as string);
    for (const id of ids) await until('its refund waits', async () => (await refundOf(id)) === 'waiting');
    answerWell();
    return ids;
  }
  const refundOf = async (id: string) =>
    (await request(relay!.url, `/v1/executions/${id}`, { apiKey: market.callers[0]!.apiKey })).body.refund;
  const query = async (text: string): Promise<bigint> =>
    Object.values((await market.query('ledger', text))[0])[0] as bigint;
  const lentTo = (id: string) => query(`SELECT record_lent FROM executions WHERE execution_id = '${id}'`);
  const waiting = () =>
    query("SELECT coalesce(sum(lamports), 0) FROM lent_sums WHERE scope = 'waiting'").then((sum) => BigInt(sum));

  it('to a hundred paying wallets do not stop calls of other callers at the default settings, claimed or not', async () => {
    const [attacker] = market.callers;
    const signingKey = generateSigningKey();
    market.setBehaviour((body, _response, reply) => reply(goodAnswer(signingKey, body.execution_id, 'x')));
    const elsewhere = await market.list({ name: 'another', endpoint: market.endpoint, signingKey });
    const answerBoth = () =>
      market.setBehaviour((body, _response, reply) =>
        reply(goodAnswer(body.task === elsewhere ? signingKey : market.signingKey, body.execution_id, 'x')),
      );
    await start();
    answerBoth();
    for (let call = 0; call < TRIALS + PROVEN_BY; call += 1) await serve(0);
    const [id] = await letWait(1);
    expect(await query(`SELECT may_burn_lamports FROM executions WHERE execution_id = '${id}'`)).to.equal(0n);

    // The others are copies of this row, which are not retried.
    const changed: Partial<Record<(typeof EXECUTION_COLUMNS)[number], string>> = {
      execution_id: `'00000000-0000-4000-8000-' || CAST(100000000000 + at AS TEXT)`,
      wallet: `'attacker ' || CAST(at % ${WALLETS} AS TEXT)`,
      record_lent: `CASE WHEN at <= ${WALLETS * LENT} THEN record_lent ELSE 0 END`,
      escrow_lent: `CASE WHEN at <= ${WALLETS * LENT} THEN escrow_lent ELSE 0 END`,
      rest_until_ms: String(FAR_MS),
    };
    await market.query(
      'ledger',
      `INSERT INTO executions (${EXECUTION_COLUMNS.join()})
        WITH RECURSIVE n AS (SELECT 1 AS at UNION ALL SELECT at + 1 FROM n WHERE at < ${REFUNDS})
        SELECT ${EXECUTION_COLUMNS.map((column) => changed[column] ?? column).join()}
        FROM executions, n WHERE execution_id = '${id}'`,
    );
    expect(await query('SELECT count(*) FROM executions WHERE is_waiting = 1')).to.equal(BigInt(REFUNDS + 1));
    answerBoth();
    await serve(1);
    await serve(1, elsewhere);

    // The attackers claim their refunds. That returns their gas, and leaves the fees to the operator.
    const record = (await market.record(id!))!;
    await market.node.timeTravel(Number(record.refundAt) + 1);
    const { wallet } = attacker!;
    // The payout goes to another account of the attacker, because the usual one stays frozen.
    const seed = { basePubkey: wallet.publicKey, seed: 'refunds' };
    const account = await PublicKey.createWithSeed(wallet.publicKey, seed.seed, TOKEN_PROGRAM_ID);
    const lamports = await market.node.connection.getMinimumBalanceForRentExemption(ACCOUNT_SIZE);
    const ends = { fromPubkey: wallet.publicKey, newAccountPubkey: account, programId: TOKEN_PROGRAM_ID };
    await sendTransaction(
      market.node.connection,
      [
        SystemProgram.createAccountWithSeed({ ...seed, ...ends, space: ACCOUNT_SIZE, lamports }),
        createInitializeAccountInstruction(account, market.usdcMint, wallet.publicKey),
        refundExecution({
          authority: wallet.publicKey,
          executionId: parseUuid(id!)!,
          listing: record.listing,
          caller: wallet.publicKey,
          keyId: record.keyId,
          destination: account,
          rentSponsor: record.rentSponsor,
          reason: 'expired',
        }),
      ],
      keypairSigner(wallet),
    );
    expect(await market.amountOf(account)).to.equal(PRICE);
    const lost = (column: string) => query(`SELECT ${column} FROM executions WHERE execution_id = '${id}'`);
    await until('the relay knows', async () => {
      await market.query('ledger', `UPDATE executions SET rest_until_ms = 0 WHERE execution_id = '${id}'`);
      return (await lost('lost_fees')) === 2n * FEE;
    });
    expect(await lost('account_fees')).to.equal(2n * FEE);
    await market.query(
      'ledger',
      `UPDATE executions SET state = 'refunded', refund_state = 'done', is_waiting = 0,
        settled_at = ${record.refundAt}, lost_fees = ${2n * FEE}, account_fees = ${2n * FEE}, lost_ms = ${Date.now()}
        WHERE is_waiting = 1`,
    );
    for (let call = 0; call < TRIALS + PROVEN_BY; call += 1) await serve(1, call % 2 === 0 ? elsewhere : undefined);
  });

  it("are signed again within half of the strangers' budget, though their account closes each time", async () => {
    const [attacker] = market.callers;
    const COUNT = 8;
    const AT_ONCE = 6;
    await start({ TRIAL_CALLS_PER_WALLET: '0', BURNT_LAMPORTS_PER_DAY: String(4n * BigInt(AT_ONCE) * 2n * FEE) });
    const ids = await letWait(COUNT);
    const count = async (what: string) => Number(await query(`SELECT ${what} FROM executions`));
    const waitingNow = () => count('count(*) FILTER (WHERE is_waiting = 1)');
    const lost = () => count('sum(lost_fees)');
    const wake = () => market.query('ledger', 'UPDATE executions SET rest_until_ms = 0');
    expect(await lost()).to.equal(0);

    const holding: (() => void)[] = [];
    held = holding;
    await market.setFrozen(attacker!.usdc, false);
    await until('as many as there is room for are signed', async () => {
      await wake();
      return (await waitingNow()) === COUNT - AT_ONCE;
    });
    // Long enough for the others to be signed, if the budget allowed it.
    for (let looks = 0; looks < 10; looks += 1) {
      await wake();
      await sleep(100);
      expect(await waitingNow()).to.be.at.least(COUNT - AT_ONCE);
    }
    await market.setFrozen(attacker!.usdc, true);
    held = null;
    for (const pass of holding) pass();
    await until('all wait again', async () => (await waitingNow()) === COUNT);
    expect(await lost())
      .to.be.at.least(Number(FEE))
      .and.at.most(AT_ONCE * Number(FEE));
    expect(await count('sum(lost_fees - account_fees)')).to.equal(0);
    await serve(1);

    // On the next day there is room again.
    await market.setFrozen(attacker!.usdc, false);
    await until('all are paid back', async () => {
      await market.query('ledger', 'UPDATE executions SET lost_ms = 0, rest_until_ms = 0');
      return (await market.countRecords(ids, 'refunded')) === COUNT;
    });
  });

  it("take nothing of other callers' budgets, and end as unclaimed refunds that their callers claim", async () => {
    const [attacker] = market.callers;
    await start({ TRIAL_CALLS_PER_WALLET: '0', BURNT_LAMPORTS_PER_DAY: '60000', SPONSOR_LAMPORTS_WAITING: '1' });
    const ids = await letWait(2);
    const { record, escrow } = await readRents(market);
    const lent = BigInt(ids.length) * (record + escrow);
    await until('their rent is counted', async () => (await waiting()) === lent);

    // A new wallet pays its own rent, until it has paid for enough calls.
    for (let call = 0; call <= PROVEN_BY; call += 1) {
      const answer = await serve(1);
      expect(await lentTo(answer.body.execution_id)).to.equal(call < PROVEN_BY ? 0n : record);
    }

    const records = await Promise.all(ids.map((id) => market.record(id)));
    const refundAt = Math.max(...records.map((one) => Number(one!.refundAt)));
    const before = await market.balances();
    await market.node.timeTravel(refundAt + constants.unclaimedSeconds + 1);
    for (const id of ids) {
      await until('it is moved', async () => (await market.record(id)) === null);
      await until('the relay knows', async () => {
        await market.query('ledger', `UPDATE executions SET rest_until_ms = 0 WHERE execution_id = '${id}'`);
        return String(await query(`SELECT state FROM executions WHERE execution_id = '${id}'`)) === 'refunded';
      });
      await until('the API shows it', async () => (await refundOf(id)) === 'unclaimed');
    }
    expect(await market.amountOf(findUnclaimed())).to.equal(BigInt(ids.length) * PRICE);
    // Anyone's verification shows where the whole price is.
    const [first, second] = ids;
    const facts: ExecutionFacts[] = [];
    await verifyExecution(first!, { rpcUrl: market.node.rpcUrl, onFacts: (found) => void facts.push(found) });
    expect(facts[0]?.refund?.amount).to.equal(PRICE);
    // The rent of the escrows is back; that of the records follows as that of all refunded ones.
    expect(await waiting()).to.equal(0n);

    await market.setFrozen(attacker!.usdc, false);
    const { body } = await untilFound('its proof is served', async () => {
      const source = findExecution(parseUuid(first!)!).toBase58();
      const answer = await request(relay!.url, `/v1/unclaimed/${source}`);
      return answer.status === 200 ? answer : null;
    });
    expect(body.refunds).to.have.length(1);
    const chain = await openChain({ baseUrl: relay!.url, rpcUrl: market.node.rpcUrl });
    await claimUnclaimed(chain, {
      wallet: keypairSigner(attacker!.wallet),
      source: findExecution(parseUuid(first!)!),
      findUnclaimed: async () => body.refunds,
    });
    await until('the API shows the claim', async () => (await refundOf(first!)) === 'done');
    expect(await refundOf(second!)).to.equal('unclaimed');
    expect(await market.amountOf(findUnclaimed())).to.equal(PRICE);
    const after = await market.balances();
    expect(after).to.deep.equal({
      ...before,
      callers: before.callers.map((held, at) => held + (at === 0 ? PRICE : 0n)),
    });
  });
});
