/**
 * Commands that a wallet runs after a call: reading its payments, deleting its data, and getting a refund that its
 * token account cannot receive.
 */
import { AccountLayout, createTransferInstruction } from '@solana/spl-token';
import type { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { constants, findEscrow, findExecution } from '../../app/sdk/program/program.ts';
import { parseUuid } from '../../app/sdk/receipt/receipt.ts';
import { sendTransaction } from '../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import { formatUsdc, toUsdc } from '../../app/sdk/wire/usdc.ts';
import type { DailyStatement } from '../../app/sdk/wire/wire.ts';
import { untilFound } from '../harness/edge/until.ts';
import {
  failedAnswer,
  goodAnswer,
  PRICE,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../harness/node/marketplace.ts';
import { createTerminal, runHere } from './run.ts';

const [COMPLETED, REFUNDED] = [3, 1];
const SECRET = 'the diagnosis of patient 17';

describe('the command line: after a call', function () {
  this.timeout(600_000);
  let market: TestMarketplace;
  let terminal: ReturnType<typeof createTerminal>;
  let caller: Keypair;
  let stranger: Keypair;
  /** A completed execution. */
  let paid: string;
  let base: string[];

  before(async () => {
    market = await startMarketplace({ environment: { ARCHIVE: 'off' } });
    terminal = createTerminal(market.node.rpcUrl);
    [caller, stranger] = [market.callers[0]!.wallet, market.callers[1]!.wallet];
    base = ['--base-url', market.relay.url];
  });
  after(async () => {
    terminal.close();
    await market.stop();
  });

  const lamportsOf = (address: Keypair['publicKey']) => market.node.connection.getBalance(address, 'confirmed');
  /** Runs `statement daily` without --json and returns its text. */
  async function printed(wallet: Keypair, ...words: string[]): Promise<string> {
    const keypair = terminal.file('wallet.json', JSON.stringify([...wallet.secretKey]));
    const { code, stdout, stderr } = await runHere(['statement', 'daily', '--keypair', keypair, ...base, ...words]);
    expect(code, stderr).to.equal(0);
    return stdout;
  }

  it('statement daily shows each payment to the base unit, to caller and creator, as JSON, CSV and table', async () => {
    const before = await market.balances();
    const first = new Date((await market.node.now()) * 1_000).toISOString().slice(0, 10);
    market.setBehaviour(({ execution_id, task }, _response, reply) =>
      reply(task === 'fail' ? failedAnswer(execution_id) : goodAnswer(market.signingKey, execution_id, SECRET)),
    );
    const { apiKey } = market.callers[0]!;
    for (const task of [...Array<string>(COMPLETED).fill(SECRET), ...Array<string>(REFUNDED).fill('fail')]) {
      const { body } = await request(market.relay.url, `/v1/agents/${market.agentId}/execute`, {
        apiKey,
        body: { task },
      });
      if (body.status === 'completed') paid = body.execution_id;
    }
    const after = await market.balances();
    const moved = {
      paid: before.callers[0]! - after.callers[0]!,
      earned: after.creator - before.creator,
      fee: after.treasury - before.treasury,
    };
    expect(moved.paid).to.equal(BigInt(COMPLETED) * PRICE);
    expect(moved.earned + moved.fee).to.equal(moved.paid);
    // The day can end during the test.
    const range = ['--from', first, '--to', new Date(Date.parse(first) + 86_400_000).toISOString().slice(0, 10)];
    const read = (wallet: Keypair, role: string): Promise<DailyStatement> =>
      terminal.done(wallet, 'statement', 'daily', '--role', role, ...range, ...base);
    const total = {
      executions: COMPLETED + REFUNDED,
      completed: COMPLETED,
      refunded: REFUNDED,
      disputed: 0,
      paid_usdc: toUsdc(moved.paid),
      earned_usdc: toUsdc(moved.earned),
      fee_usdc: toUsdc(moved.fee),
      refunded_usdc: toUsdc(BigInt(REFUNDED) * PRICE),
      returned_usdc: 0,
      slashed_usdc: 0,
    };
    const statement = await untilFound('the index has all', async () => {
      const found = await read(caller, 'caller');
      return found.total.executions === total.executions ? found : null;
    });
    expect(statement.total).to.deep.equal(total);
    expect([statement.wallet, statement.role]).to.deep.equal([caller.publicKey.toBase58(), 'caller']);
    expect(await read(market.creator, 'creator')).to.deep.equal({
      ...statement,
      wallet: market.creator.publicKey.toBase58(),
      role: 'creator',
    });
    expect((await read(stranger, 'caller')).total.executions).to.equal(0);

    const names = ['day', ...Object.keys(total)];
    const lines = statement.days.map((day) => Object.values(day).map(String));
    expect(statement.days.map(({ day }) => day)).to.include(first);
    const csv = [names, ...lines].map((line) => `${line.join(',')}\n`);
    expect(await printed(caller, ...range, '--csv')).to.equal(csv.join(''));
    const table = (await printed(caller, ...range)).trimEnd().split('\n');
    const rows = [names, ...lines, ['total', ...Object.values(total).map(String)]];
    expect(table.map((line) => line.split(/ +/))).to.deep.equal(rows);
  });

  it('execution delete deletes task and result once no dispute can need them, and moves nothing', async () => {
    const early = await terminal.refused(stranger, 'execution', 'delete', paid, ...base);
    expect(early).to.include('or this service does not store its content');
    expect(await terminal.refused(caller, 'execution', 'delete', paid, ...base)).to.match(
      /^The execution (can still be disputed|has not ended, or its end is not final yet)\. /,
    );
    const before = await market.balances();
    const { settledAt, disputeWindowSeconds } = (await market.record(paid))!;
    await market.node.timeTravel(Number(settledAt) + disputeWindowSeconds + 61);
    const held = async () =>
      JSON.stringify(await market.query('ledger', 'SELECT task FROM executions')) +
      (await market.journal()).map(({ result }) => result).join();
    const count = async () => (await held()).split(SECRET).length - 1;
    const stored = await count();
    expect(stored).to.equal(2 * COMPLETED);
    const deleted = await untilFound('it may be deleted', async () => {
      // The relay learns the chain's time when it reads an account.
      await request(market.relay.url, '/trpc/config.get');
      return terminal.done(caller, 'execution', 'delete', paid, ...base).catch(() => null);
    });
    expect(deleted).to.have.all.keys('execution_id', 'content_deleted_at');
    expect(deleted.execution_id).to.equal(paid);
    expect(await count()).to.equal(stored - 2);
    expect(await terminal.done(caller, 'execution', 'delete', paid, ...base)).to.deep.equal(deleted);
    expect(await market.balances()).to.deep.equal(before);
  });

  it('execution refund --hand-over and close-escrow return money to a caller whose account is unusable', async () => {
    const { usdc } = market.callers[0]!;
    const { connection } = market.node;
    const before = await market.balances();
    const opened = await terminal.done(caller, 'execution', 'open', market.agentId, '--task', 'x');
    const id: string = opened.execution_id;
    const handOver = ['execution', 'refund', id, '--hand-over'];
    const close = ['execution', 'close-escrow', id];
    const escrow = findEscrow(findExecution(parseUuid(id)!));
    const refundAt = Number((await market.record(id))!.refundAt);
    expect(await terminal.refused(stranger, ...close)).to.include('(EscrowNotHandedOver)');
    await market.node.timeTravel(refundAt);
    await market.setFrozen(usdc, true);
    expect(await terminal.refused(stranger, ...handOver)).to.match(
      /\(HandOverTooEarly\)\. It can be handed over at 20\S+Z; the chain's clock shows 20\S+Z\.\n$/,
    );
    await market.node.timeTravel(refundAt + constants.handOverSeconds + 1);
    const handed = await terminal.done(stranger, ...handOver);
    expect(handed).to.include({
      execution_id: id,
      account: escrow.toBase58(),
      owner: caller.publicKey.toBase58(),
      amount_usdc: formatUsdc(PRICE),
    });
    const account = await connection.getAccountInfo(escrow, 'confirmed');
    const { amount, owner } = AccountLayout.decode(account!.data);
    expect([amount, owner.toBase58()]).to.deep.equal([PRICE, caller.publicKey.toBase58()]);
    expect((await market.record(id))!.status).to.equal('refunded');
    expect(await terminal.refused(stranger, ...handOver)).to.include('(ExecutionNotOpen). It is refunded.');
    expect(await terminal.refused(stranger, ...close)).to.include('(EscrowNotEmpty)');

    await market.setFrozen(usdc, false);
    const take = createTransferInstruction(escrow, usdc, caller.publicKey, PRICE);
    await sendTransaction(connection, [take], keypairSigner(caller));
    expect(await market.balances()).to.deep.equal(before);

    // The record can be closed before its escrow account is empty.
    const endedAt = Number((await market.record(id))!.settledAt);
    await market.node.timeTravel(endedAt + constants.recordSecondsMin + 1);
    await terminal.done(stranger, 'execution', 'close', id);
    expect(await terminal.refused(stranger, ...close)).to.equal(
      `No record of the execution ${id} exists on this chain.\n`,
    );
    const wrong = await terminal.refused(stranger, ...close, '--rent-sponsor', stranger.publicKey.toBase58());
    expect(wrong).to.include('(WrongRentSponsor)');
    const [rent, lamports] = [await lamportsOf(escrow), await lamportsOf(caller.publicKey)];
    expect(rent).to.be.greaterThan(0);
    const sponsor = caller.publicKey.toBase58();
    const closed = await terminal.done(stranger, ...close, '--rent-sponsor', sponsor);
    expect(closed).to.include({ execution_id: id, rent_sponsor: sponsor });
    expect([await lamportsOf(escrow), await lamportsOf(caller.publicKey)]).to.deep.equal([0, lamports + rent]);
    expect(await market.balances()).to.deep.equal(before);
  });
});
