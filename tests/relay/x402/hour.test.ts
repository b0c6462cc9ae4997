/**
 * An hour of one x402 buyer, on the real node: the unmodified client buys 20 calls, several at once. The clock moves
 * through the hour. No request is refused, and once the records are archived, every lamport and every base unit is
 * accounted for. Another payer tries to lock what is lent to it.
 */
import { join } from 'node:path';
import { createCloseAccountInstruction } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { RunningRelay } from '../../../app/relay/start.ts';
import {
  constants,
  decodeAccount,
  findArchive,
  findEscrow,
  findExecution,
  findTokenAccount,
  findTreasury,
  findUnclaimed,
} from '../../../app/sdk/program/program.ts';
import { readTransaction } from '../../../app/sdk/program/transaction.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import { createBuyers, PAYMENT_LAMPORTS, SERVICE_FEE } from '../../harness/node/buyers.ts';
import { FEE, PRICE, useMarketplace } from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { stopAt } from '../../harness/node/standstill.ts';
import { createX402Fetch } from '../../harness/node/x402.ts';

/** A new wallet may have ten payments on their way. */
const [AT_ONCE, STEPS] = [4, 5];
const CALLS = AT_ONCE * STEPS;
/** From one step to the next, so that all calls take less than an hour, on a busy machine too. */
const STEP_SECONDS = 590;
const LIFE = constants.recordSecondsMin;
/** How long an archivable record waits for others, by default. */
const ARCHIVE_WAIT_SECONDS = 600;
/** Fees of a call's deposit, open and settle alone, the least if it shares them, and its share of the archive; lamports. */
const [FEES, LEAST, ARCHIVE_SHARE] = [15_000, 3_125, 700];
const OPERATOR = 10_000_000_000;
const BUYER = 100_000_000n;

describe('an x402 buyer in an hour', () => {
  let relay: RunningRelay;
  const feePayer = Keypair.generate();
  const buyer = Keypair.generate();

  // It archives for both relays.
  const market = useMarketplace({ here: true, feePayer, slotTimeMs: 200, environment: { ARCHIVE: 'on' } });
  before(async () => {
    await market.node.fundSol(market.authority.publicKey, OPERATOR);
    relay = await startRelayHere(market, { X402_FEE_PAYER_KEYPAIR: join(market.dataDir, 'x402-fee-payer.json') });
    await market.mintTo(buyer.publicKey, BUYER);
  });
  after(async () => {
    await relay?.stop();
  });

  const { path, buy, quote, rich, usdcOf, lamports, isGone, ownOpen } = createBuyers(market);
  const lamportsOf = (publicKey: PublicKey) => lamports({ publicKey });
  const parties = async () => ({
    buyer: await usdcOf(buyer),
    creator: await market.amountOf(market.creatorUsdc),
    treasury: await market.amountOf(findTreasury()),
    feePayer: await lamports(feePayer),
    buyerSol: await lamports(buyer),
  });
  const pass = async (seconds: number) => market.node.timeTravel((await market.node.now()) + seconds);
  const ofLedger = async (sum: string, table = 'executions'): Promise<bigint> =>
    (await market.query('ledger', `SELECT CAST(coalesce(${sum}, 0) AS BIGINT) AS value FROM ${table}`))[0].value;

  it('buys 20 calls with the unmodified client, all at the first try, and every lamport comes back or is accounted for', async () => {
    const { connection } = market.node;
    const authority = market.authority.publicKey;
    const [had, lent] = [await parties(), await lamportsOf(authority)];
    /** Requests by the status of their answer. */
    const answered: Record<number, number> = {};
    const pay = await createX402Fetch(buyer, market.node.rpcUrl, async (...request) => {
      const answer = await fetch(...request);
      answered[answer.status] = (answered[answer.status] ?? 0) + 1;
      return answer;
    });

    for (let step = 0; step < STEPS; step += 1) {
      if (step > 0) await pass(STEP_SECONDS);
      const tasks = Array.from({ length: AT_ONCE }, (_, call) => `step ${step}, call ${call}`);
      await Promise.all(
        tasks.map(async (task) => {
          const response = await pay(relay.url + path(), {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ task }),
          });
          const text = await response.text();
          expect(response.status, text).to.equal(200);
          expect(JSON.parse(text)).to.include({ status: 'completed', result: `done: ${task}` });
        }),
      );
    }
    // The first request of each call gets its quote.
    expect(answered).to.deep.equal({ 200: CALLS, 402: CALLS });
    expect(Number(await ofLedger('max(settled_at) - min(opened_at)'))).to.be.within((STEPS - 1) * STEP_SECONDS, 3_600);

    await pass(LIFE + ARCHIVE_WAIT_SECONDS + 60);
    await until('all records are archived', async () => {
      await relay.engine.countRents();
      return (await ofLedger('sum(lamports)', 'lent_sums')) === 0n;
    });
    expect(decodeAccount('Archive', (await connection.getAccountInfo(findArchive(0)))!.data).count).to.equal(CALLS);
    const rows: { execution_id: string; deposit: string }[] = await market.query(
      'ledger',
      'SELECT execution_id, deposit FROM executions',
    );
    const left = rows.flatMap(({ execution_id, deposit }) => {
      const record = findExecution(parseUuid(execution_id)!);
      const address = new PublicKey(deposit);
      return [record, findEscrow(record), address, findTokenAccount(address, market.usdcMint)];
    });
    expect(left).to.have.length(4 * CALLS);
    for (let at = 0; at < left.length; at += 100) {
      const accounts = await connection.getMultipleAccountsInfo(left.slice(at, at + 100), 'confirmed');
      expect(accounts.filter((account) => account !== null)).to.deep.equal([]);
    }

    const calls = BigInt(CALLS);
    expect(await parties()).to.deep.equal({
      buyer: had.buyer - calls * (PRICE + SERVICE_FEE),
      creator: had.creator + calls * (PRICE - FEE),
      treasury: had.treasury + calls * (FEE + SERVICE_FEE),
      feePayer: had.feePayer - CALLS * PAYMENT_LAMPORTS,
      buyerSol: 0,
    });
    // It has sent nothing else.
    const sent = await connection.getSignaturesForAddress(authority, {}, 'confirmed');
    const fees = await Promise.all(
      sent.map(async (one) => (await readTransaction(connection, one.signature))!.meta!.fee),
    );
    const spent = fees.reduce((sum, fee) => sum + fee, 0);
    const tree = await connection.getMinimumBalanceForRentExemption(constants.archiveTreeBytes);
    const archive = await lamportsOf(findArchive(0));
    expect(await lamportsOf(authority)).to.equal(lent - spent - tree - archive);
    // Calls of the same moment share transactions: at most four deposits, four opens and eight settles.
    expect(spent).to.be.within(CALLS * LEAST, CALLS * (FEES + ARCHIVE_SHARE));
    // No open came before its payment.
    expect(await market.query('ledger', `SELECT * FROM transactions WHERE outcome = 'failed'`)).to.deep.equal([]);
    expect(await market.query('ledger', 'SELECT * FROM debts')).to.deep.equal([]);
  });

  it('gets all rent back of a payer who opens the quoted execution itself and closes its account: the money waits for its claim', async () => {
    const slow = await market.startHere({ WITHOUT_INDEXER: '1', STANDSTILL: '1', SPONSOR: 'none' });
    const payer = await rich(2n * PRICE + SERVICE_FEE);
    const { usdcMint, node } = market;
    const source = findTokenAccount(payer.publicKey, usdcMint);
    await node.fundSol(payer.publicKey, 1e9);
    const had = await parties();
    const task = stopAt('paid:after');
    const accepted = await quote({ task }, slow);
    const answering = buy({ task }, { accepted, by: payer, url: slow.url });
    await slow.untilStanding(task, answering);

    const own = await ownOpen(payer, accepted);
    const close = createCloseAccountInstruction(source, payer.publicKey, payer.publicKey);
    await sendTransaction(node.connection, [own, close], keypairSigner(payer));
    slow.release(task);
    const answer = await answering;
    expect(answer.status, answer.text).to.equal(503);
    expect(answer.body.error.message).to.include('The refund waits');
    const lent = () => ofLedger('sum(lamports)', 'lent_sums');
    expect((await lent()) > 0n).to.equal(true);

    // The deposit lives for ten minutes; an hour later anyone may move what it holds.
    await pass(600 + constants.unclaimedSeconds + 60);
    await until('nothing is lent', async () => {
      await market.query('ledger', 'UPDATE executions SET rest_until_ms = 0');
      return (await lent()) === 0n;
    });
    expect(await isGone(new PublicKey(accepted.payTo))).to.equal(true);
    expect(await market.amountOf(findUnclaimed())).to.equal(PRICE);
    const { treasury, creator } = await parties();
    expect([treasury - had.treasury, creator - had.creator]).to.deep.equal([SERVICE_FEE, 0n]);
    await slow.kill();
  });
});
