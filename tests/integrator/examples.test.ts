/** The examples return money on a real node, run by a stranger without server, command line or SDK. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTransferCheckedInstruction } from '@solana/spl-token';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { formatUuid } from '../../app/sdk/receipt/receipt.ts';
import { type Market, NO_KEY, PRICE, startMarket } from '../indexer/market.ts';
import { amountsOf } from './idl.ts';

const SERVICE_FEE = 7_000n;

describe('an integrator without the service: the examples', () => {
  let market: Market;
  const stranger = Keypair.generate();

  before(async () => {
    market = await startMarket();
    await market.node.fundSol(stranger.publicKey, 1_000_000_000);
    await market.list();
  });
  after(() => market.node.stop());

  /** Runs an example with this argument. */
  function run(file: string, argument: string) {
    const folder = mkdtempSync(join(tmpdir(), 'integrator-'));
    const keypair = join(folder, 'stranger.json');
    writeFileSync(keypair, JSON.stringify([...stranger.secretKey]), { mode: 0o600 });
    const ran = spawnSync(process.execPath, ['--import', 'tsx', file, argument, keypair], {
      env: { ...process.env, RPC_URL: market.node.rpcUrl, WS_URL: market.node.wsUrl },
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    return ran;
  }

  /** Expects the event of the refund from `due` on, and its amount in the caller's account. */
  async function refunds(file: string, argument: string, due: bigint, amount: bigint, event: string) {
    const { connection } = market.node;
    const held = async () => BigInt((await connection.getTokenAccountBalance(market.source)).value.amount);
    const before = await held();
    await market.node.timeTravel(Number(due));
    const { status, stdout, stderr } = run(file, argument);
    expect(status, stderr).to.equal(0);
    expect((await held()) - before).to.equal(amount);
    expect(await amountsOf(connection, stdout.trim())).to.deep.equal([[event, String(amount)]]);
  }

  it('refund.ts says why nobody may refund before refund_at, and works from then on', async () => {
    const { executionId } = await market.open(NO_KEY);
    const account = await market.node.connection.getAccountInfo(program.findExecution(executionId));
    const { refundAt } = program.decodeAccount('ExecutionRecord', account!.data);
    const early = run('examples/refund.ts', formatUuid(executionId));
    expect([early.status, early.stdout]).to.deep.equal([1, '']);
    expect(early.stderr).to.include('Before refund_at only a relay authority may refund');
    await refunds('examples/refund.ts', formatUuid(executionId), refundAt, PRICE, 'ExecutionRefunded');
  });

  it('refundDeposit.ts works once the deposit has expired', async () => {
    const { caller, relay, source, usdcMint, listing } = market;
    const { terms } = await market.openInstruction(NO_KEY);
    const payer = caller.publicKey;
    const quote = { terms: { ...terms, listing }, payer, price: PRICE, serviceFee: SERVICE_FEE, usdcMint };
    const { address, vault } = program.depositAddress(quote);
    const authority = relay.publicKey;
    const rent = { rentPayer: authority, rentSponsor: authority };
    await market.send([program.prepareDeposit({ ...quote, ...rent, authority, caller: payer })], relay);
    const amount = PRICE + SERVICE_FEE;
    await market.send([createTransferCheckedInstruction(source, usdcMint, vault, payer, amount, 6)], caller);
    const account = await market.node.connection.getAccountInfo(address);
    const { expiresAt } = program.decodeAccount('Deposit', account!.data);
    await refunds('examples/refundDeposit.ts', address.toBase58(), expiresAt, amount, 'DepositRefunded');
  });
});
