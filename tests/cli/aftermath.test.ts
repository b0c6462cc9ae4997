import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { encodeArchived } from '../../app/sdk/program/archive.ts';
import { constants, findEscrow, findExecution, findRefundClaim } from '../../app/sdk/program/program.ts';
import { formatUsdc, toUsdc } from '../../app/sdk/wire/usdc.ts';
import type { DailyStatement } from '../../app/sdk/wire/wire.ts';
import { untilFound } from '../harness/edge/until.ts';
import { failedAnswer, goodAnswer, PRICE, request, useMarketplace } from '../harness/node/marketplace.ts';
import { NOBODY } from './receiptStage.ts';
import { runHere, useTerminal } from './run.ts';

const [COMPLETED, REFUNDED] = [3, 1];
const SECRET = 'the diagnosis of patient 17';

describe('the command line: after a call', function () {
  this.timeout(600_000);
  const market = useMarketplace({ environment: { ARCHIVE: 'off' } });
  const terminal = useTerminal(() => market.node.rpcUrl);
  let caller: Keypair;
  let stranger: Keypair;
  /** A completed execution. */
  let paid: string;
  let base: string[];

  before(async () => {
    [caller, stranger] = [market.callers[0]!.wallet, market.callers[1]!.wallet];
    base = ['--base-url', market.relay.url];
  });

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
    for (const task of [...Array<string>(COMPLETED).fill(SECRET), ...Array<string>(REFUNDED).fill('fail')]) {
      const { body } = await market.execute(market.relay.url, { task });
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
      service_fee_usdc: 0,
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
      /^The call (can still be disputed|has not ended, or its end is not final yet)\. /,
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

  it('refund move, show and claim return money to a caller whose account is unusable', async () => {
    const { usdc } = market.callers[0]!;
    const before = await market.balances();
    const opened = await terminal.done(caller, 'execution', 'open', market.agentId, '--task', 'x');
    const id: string = opened.execution_id;
    const [move, claim] = ['move', 'claim'].map((name) => ['refund', name, id]);
    const show = () => runHere(['refund', 'show', id, '--rpc-url', market.node.rpcUrl, ...base, '--json']);
    const refundAt = Number((await market.record(id))!.refundAt);
    await market.node.timeTravel(refundAt);
    await market.setFrozen(usdc, true);
    expect(await terminal.refused(stranger, ...move!)).to.equal(
      'No archive has room for the leaf. Create one with `archive run --make-tree`.\n',
    );
    await terminal.done(stranger, 'archive', 'run', '--make-tree');
    expect(await terminal.refused(stranger, ...move!)).to.match(
      /\(MoveTooEarly\)\. It can be moved at 20\S+Z; the chain's clock shows 20\S+Z\.\n$/,
    );
    expect((await show()).stderr).to.include('No unclaimed refund has this source');
    await market.node.timeTravel(refundAt + constants.unclaimedSeconds + 1);
    expect(await terminal.done(stranger, ...move!)).to.include({
      execution_id: id,
      caller: caller.publicKey.toBase58(),
      archive_index: 0,
    });
    expect(await market.record(id)).to.equal(null);
    expect(await terminal.refused(stranger, ...move!)).to.equal(
      `No record of the execution ${id} exists on this chain.\n`,
    );
    const refund = {
      caller: caller.publicKey.toBase58(),
      amount_usdc: formatUsdc(PRICE),
      is_claimed: false,
    };
    const shown = await untilFound('it is proven', async () => {
      const { code, stdout } = await show();
      return code === 0 ? JSON.parse(stdout) : null;
    });
    expect(shown.refunds[0]).to.include(refund);
    // A stranger's lamports at the claim's address are no claim.
    const { tree, leaf_index } = shown.refunds[0];
    await market.node.fundSol(findRefundClaim(new PublicKey(tree), leaf_index), 650_240);
    expect(JSON.parse((await show()).stdout).refunds[0]).to.include(refund);
    expect(await terminal.refused(stranger, ...claim!, ...base)).to.include('Only its caller can claim this refund');
    expect(await terminal.refused(caller, ...claim!, ...base)).to.include('(DestinationUnusable)');
    await market.setFrozen(usdc, false);
    const claimed = await terminal.done(caller, ...claim!, ...base);
    expect(claimed.destination).to.equal(usdc.toBase58());
    expect(claimed.claims[0]).to.include({ ...refund, is_claimed: true });
    expect(await market.balances()).to.deep.equal(before);
    expect(await terminal.refused(caller, ...claim!, ...base)).to.include('has been claimed');
    expect(JSON.parse((await show()).stdout).refunds[0]).to.include({ ...refund, is_claimed: true });
  });

  it('refund move moves the money although the lender of the record cannot take its rent', async () => {
    const { usdc } = market.callers[0]!;
    const before = await market.balances();
    const { execution_id: id } = await terminal.done(caller, 'execution', 'open', market.agentId, '--task', 'x');
    const record = (await market.record(id))!;
    const address = findExecution(record.executionId);
    const { data } = (await market.node.connection.getAccountInfo(address, 'confirmed'))!;
    // As after a rise of the rent: neither record nor escrow holds what an empty account needs.
    const rentSponsor = Keypair.generate().publicKey;
    const lent = Buffer.concat([data.subarray(0, 8), encodeArchived({ ...record, rentSponsor })]).toString('hex');
    await market.node.rpc('surfnet_setAccount', [address.toBase58(), { data: lent, lamports: 300_000 }]);
    await market.node.rpc('surfnet_setAccount', [findEscrow(address).toBase58(), { lamports: 300_000 }]);
    await market.node.timeTravel(Number(record.refundAt) + constants.unclaimedSeconds + 1);
    await market.setFrozen(usdc, true);
    const moved = await terminal.done(stranger, 'refund', 'move', id);
    await market.setFrozen(usdc, false);
    expect(moved).to.include({ execution_id: id, archive_index: 0 });
    expect(await market.record(id)).to.deep.include({ status: 'refunded', rentSponsor });
    await terminal.done(caller, 'refund', 'claim', id, '--base-url', NOBODY);
    expect(await market.balances()).to.deep.equal(before);
  });
});
