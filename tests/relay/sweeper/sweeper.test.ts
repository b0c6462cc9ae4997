/** The sweeper on a real node: every lamport of rent is returned exactly once, whatever happens to the sender. */
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import { movableDeposits } from '../../../app/relay/sweeper/candidates.ts';
import * as program from '../../../app/sdk/program/program.ts';
import { deferred, until } from '../../harness/edge/until.ts';
import { startRpcProxy } from '../../harness/node/rpcProxy.ts';
import { createAftermath } from '../../indexer/aftermath.ts';
import { type Execution, NO_KEY, PRICE } from '../../indexer/market.ts';
import { type Stage, startStage } from './sweepStage.ts';

const FEE = 5_000;
/** Rent of an account without data at 5,080 lamports a byte: the least that anyone can send to an address. */
const STRANGERS_LAMPORTS = 650_240;

const addressOf = ({ executionId }: Execution): string => program.findExecution(executionId).toBase58();

/** Addresses of the executions' records that a transaction names. */
function recordsIn(base64: string, executions: Execution[]): string[] {
  const { message } = VersionedTransaction.deserialize(Buffer.from(base64, 'base64'));
  const named = new Set(message.staticAccountKeys.map(String));
  return executions.map(addressOf).filter((address) => named.has(address));
}

describe('the sweeper', () => {
  let stage: Stage;
  before(async () => {
    stage = await startStage();
  });
  afterEach(() => stage.endSweepers());
  after(() => stage.stop());

  it('creates the first archive, archives every eligible record, and returns all rent to the sponsor', async () => {
    const executions = await stage.settled(3);
    const early = await stage.sweep();
    await until('the index has them', () =>
      stage.poll(async (views) => (await views.selectFrom('chain.executions').selectAll().execute()).length === 3),
    );
    // The hour is not over.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await stage.recordsLeft(executions)).to.equal(3);
    await early.end();

    await stage.pass();
    const rent = await stage.rentOf(executions);
    const caller = await stage.lamports(stage.caller.publicKey);
    const relay = await stage.lamports(stage.relay.publicKey);
    const sweeper = await stage.sweep();
    await stage.followed(3);
    expect(await stage.recordsLeft(executions)).to.equal(0);
    expect(await stage.lamports(stage.caller.publicKey)).to.equal(caller + rent);
    const [tree, archive] = await Promise.all([
      stage.connection.getMinimumBalanceForRentExemption(program.constants.archiveTreeBytes),
      stage.lamports(program.findArchive(0)),
    ]);
    // One transaction created the archive, and one archived all three records.
    expect(await stage.lamports(stage.relay.publicKey)).to.equal(relay - tree - archive - 2 * FEE);
    const figures = await sweeper.figures();
    expect(figures).to.include({ locked: 0, archivable: 0, returned: rent, mismatchedTrees: 0 });
    for (const execution of executions) await stage.proveBySpl((await stage.archiveRead(execution))!);
  });

  it("does not take a stranger's lamports at the addresses of the next archives for archives", async () => {
    for (const index of [1, 2]) await stage.node.fundSol(program.findArchive(index), STRANGERS_LAMPORTS);
    const { executions, requireSwept } = await stage.ripe(1);
    await stage.sweep();
    await requireSwept(1);
    expect((await stage.archiveRead(executions[0]!))!.archive_index).to.equal(0);
  });

  it('costs nothing when a stranger archives first, and follows the stranger even when it is switched off', async () => {
    const { executions, requireSwept } = await stage.ripe(2);
    const stranger = Keypair.generate();
    await stage.node.fundSol(stranger.publicKey, 1e9);
    await stage.sweep({ isOn: false });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await stage.recordsLeft(executions)).to.equal(2);
    const { tree } = program.decodeAccount(
      'Archive',
      (await stage.connection.getAccountInfo(program.findArchive(0), 'confirmed'))!.data,
    );
    const named = executions.map(({ executionId, rentSponsor }) => {
      return { record: program.findExecution(executionId), rentSponsor };
    });
    await stage.send([program.archiveExecutions({ index: 0, tree, executions: named })], stranger);
    await stage.sweep();
    await requireSwept(0);
    for (const execution of executions) await stage.proveBySpl((await stage.archiveRead(execution))!);
  });

  it('has several transactions in flight, and no record in two of them', async () => {
    const { executions, requireSwept } = await stage.ripe(50);
    const proxy = await startRpcProxy(stage.node);
    const sent = new Map<string, string[]>();
    const { promise: isReleased, resolve: release } = deferred();
    proxy.onCall(async ({ method, params }) => {
      if (method !== 'sendTransaction') return null;
      const transaction = params[0] as string;
      sent.set(transaction, recordsIn(transaction, executions));
      await isReleased;
      return null;
    });
    const sweeper = await stage.sweep({ rpcUrl: proxy.rpcUrl });
    await until('two are sent', () => sent.size === 2);
    expect(await stage.pending()).to.have.length(2);
    release();
    await requireSwept(2);
    expect([...sent.values()].flat()).to.have.members(executions.map(addressOf));
    expect([...sent.values()].map(({ length }) => length)).to.have.members([48, 2]);
    await until('no outcome is unknown', async () => (await stage.pending()).length === 0);
    await sweeper.end();
    await proxy.close();
  });

  it('archives twelve at a time with a node that does not know transactions of version 1', async () => {
    const { executions, requireSwept } = await stage.ripe(13);
    const proxy = await startRpcProxy(stage.node);
    const tried: number[] = [];
    const sent = new Map<string, number>();
    proxy.onCall(async ({ method, params }) => {
      const transaction = params[0] as string;
      if (method === 'sendTransaction') sent.set(transaction, recordsIn(transaction, executions).length);
      if (method !== 'simulateTransaction' || Buffer.from(transaction, 'base64')[0] !== 0x81) return null;
      tried.push(recordsIn(transaction, executions).length);
      return { json: { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'failed to deserialize' } } };
    });
    const sweeper = await stage.sweep({ rpcUrl: proxy.rpcUrl });
    await requireSwept(2);
    expect(tried).to.deep.equal([13]);
    expect([...sent.values()]).to.have.members([12, 1]);
    await sweeper.end();
    await proxy.close();
  });

  it('archives all others when one record is refused, alone and with those beside it', async () => {
    const executions = await stage.settled(14);
    await stage.pass();
    const [bad, ...good] = executions;
    const rent = await stage.rentOf(good);
    const caller = await stage.lamports(stage.caller.publicKey);
    const relay = await stage.lamports(stage.relay.publicKey);
    const proxy = await startRpcProxy(stage.node);
    const sent = new Set<string>();
    const refused: number[] = [];
    proxy.onCall(async ({ method, params }, forward) => {
      const transaction = params[0] as string;
      if (method === 'sendTransaction') sent.add(transaction);
      if (method !== 'simulateTransaction' || recordsIn(transaction, [bad!]).length === 0) return null;
      refused.push(recordsIn(transaction, executions).length);
      const answer = (await forward()) as { result: { value: { err: unknown } } };
      answer.result.value.err = { InstructionError: [0, 'ProgramFailedToComplete'] };
      return { json: answer };
    });
    const sweeper = await stage.sweep({ rpcUrl: proxy.rpcUrl });
    await stage.followed(13);
    expect(await stage.recordsLeft(executions)).to.equal(1);
    expect(await stage.recordsLeft([bad!])).to.equal(1);
    await until('it was tried alone', () => refused.includes(1));
    // The bad record rests.
    expect(refused.filter((records) => records === 1)).to.have.length(1);
    expect(await stage.lamports(stage.caller.publicKey)).to.equal(caller + rent);
    expect(await stage.lamports(stage.relay.publicKey)).to.equal(relay - sent.size * FEE);
    const { archivableRecords, oldestArchivableSeconds, isLate } = await sweeper.figures();
    // Its caller lent the deposit, so it raises no alarm.
    expect([archivableRecords, oldestArchivableSeconds, isLate]).to.deep.equal([1, 0, false]);
    await sweeper.end();
    const next = await stage.sweep();
    await stage.followed(1);
    expect(await stage.recordsLeft([bad!])).to.equal(0);
    await next.end();
    await proxy.close();
  });

  it('closes the refunded record of an x402 payment, and moves only deposits whose rent this deployment has lent', async () => {
    const aftermath = createAftermath(stage);
    const quoted = async () => {
      const { execution, terms } = await stage.openInstruction(NO_KEY);
      return {
        execution: { ...execution, rentSponsor: stage.relay.publicKey, signature: '' },
        ...aftermath.deposit(terms, PRICE),
      };
    };
    const bought = await quoted();
    await stage.send([bought.prepare], stage.relay);
    await stage.send([bought.pay], stage.caller);
    await stage.send([bought.open], stage.relay);
    await stage.refund(bought.execution, 'unserved');
    const stuck = await quoted();
    await stage.send([stuck.prepare], stage.relay);
    await stage.send([stuck.pay], stage.caller);
    await stage.pass(4_500);
    await stage.node.setFrozen(stage.source, true);
    const rent = await stage.rentOf([bought.execution]);
    const relay = await stage.lamports(stage.relay.publicKey);
    const isKnown = () =>
      stage.poll(async (views) => (await movableDeposits(views, 2n ** 52n, null)).map(({ id }) => id));
    const sweeper = await stage.sweep();
    await until('its fee is paid', async () => (await stage.lamports(stage.relay.publicKey)) === relay + rent - FEE);
    expect(await stage.recordsLeft([bought.execution])).to.equal(0);
    // Until the ledger names its sponsor, the deposit is a stranger's.
    expect(await isKnown()).to.deep.equal([]);
    await sweeper.end();
    await stage.noteLender(stage.relay.publicKey);
    expect(await isKnown()).to.deep.equal([stuck.address.toBase58()]);
    await stage.node.setFrozen(stage.source, false);
    await stage.send([stuck.refund(stage.creator.publicKey)], stage.creator);
    await until('the index knows', async () => (await isKnown()).length === 0);
  });

  it('goes on at once when a relay without SOL gets some, and reports how long records have waited', async () => {
    const lender = await stage.grant();
    const opened = await stage.open(lender);
    await stage.settle(opened);
    await stage.noteLender(opened.rentSponsor);
    await stage.pass();
    await stage.node.fundSol(stage.relay.publicKey, 0);
    const proxy = await startRpcProxy(stage.node);
    let refusals = 0;
    proxy.onCall(({ method }) => {
      if (method === 'simulateTransaction') refusals += 1;
      return null;
    });
    const sweeper = await stage.sweep({ rpcUrl: proxy.rpcUrl });
    await until('it has tried several times', () => refusals >= 3);
    const waiting = await sweeper.figures();
    expect([waiting.archivableRecords, waiting.isLate]).to.deep.equal([1, false]);
    expect(waiting.oldestArchivableSeconds).to.be.at.least(1);
    await stage.node.timeTravel((await stage.node.now()) + 3_700);
    await until('it is late', async () => (await sweeper.figures()).isLate);
    const rent = await stage.rentOf([opened]);
    await stage.node.fundSol(stage.relay.publicKey, 10e9);
    await stage.followed(1);
    expect(await stage.lamports(stage.relay.publicKey)).to.equal(10e9 + rent - FEE);
    expect(await sweeper.figures()).to.include({ archivableRecords: 0, oldestArchivableSeconds: 0, isLate: false });
    await sweeper.end();
    await proxy.close();
  });

  it('closes refunded records an hour after their open: those of keys, and those that a wallet opened itself', async () => {
    const keyId = await stage.grant();
    const lent = [await stage.open(keyId), await stage.open(keyId)];
    const own = await stage.open();
    for (const execution of [...lent, own]) await stage.refund(execution, 'unserved');
    await stage.pass();
    const [rentOfLent, rentOfOwn] = [await stage.rentOf(lent), await stage.rentOf([own])];
    const relay = await stage.lamports(stage.relay.publicKey);
    const caller = await stage.lamports(stage.caller.publicKey);
    await stage.sweep();
    await until('all are closed', async () => (await stage.recordsLeft([...lent, own])) === 0);
    // The relay is the sponsor of what it opened, and pays one transaction for all.
    await until('the fee is paid', async () => {
      return (await stage.lamports(stage.relay.publicKey)) === relay + rentOfLent - FEE;
    });
    expect(await stage.lamports(stage.caller.publicKey)).to.equal(caller + rentOfOwn);
  });

  it('closes an ended dispute 30 days after its outcome, and archives its record', async () => {
    const [execution] = await stage.settled(1);
    const aftermath = createAftermath(stage);
    await stage.send([aftermath.dispute(execution!)], stage.caller);
    await stage.send([aftermath.resolve(execution!, stage.admin.publicKey, false, 0n)], stage.admin);
    const dispute = program.findDispute(program.findExecution(execution!.executionId));
    await stage.pass(program.constants.endedDisputeSeconds);
    const caller = await stage.lamports(stage.caller.publicKey);
    const rent = (await stage.lamports(dispute)) + (await stage.rentOf([execution!]));
    const relay = await stage.lamports(stage.relay.publicKey);
    await stage.sweep();
    await stage.followed(1);
    await until('the dispute is closed', async () => (await stage.lamports(dispute)) === 0);
    expect(await stage.lamports(stage.caller.publicKey)).to.equal(caller + rent);
    expect(await stage.lamports(stage.relay.publicKey)).to.equal(relay - 2 * FEE);
  });

  it('moves refunds that their callers cannot receive, an hour after anyone could make them, and closes their records', async () => {
    const stuck = [await stage.open(await stage.grant()), await stage.open(await stage.grant())];
    const own = await stage.open();
    await stage.node.setFrozen(stage.source, true);
    const escrows = stuck.map(({ executionId }) => program.findEscrow(program.findExecution(executionId)));
    await stage.pass(4_500);
    const sponsor = stuck[0]!.rentSponsor;
    const before = await stage.lamports(sponsor);
    const held = (await stage.tokens(program.findUnclaimed())) ?? 0n;
    const lent = await Promise.all(escrows.map(stage.lamports));
    const records = await stage.rentOf(stuck);
    const sweeper = await stage.sweep();
    await stage.followed(stuck.length);
    for (const escrow of escrows) expect(await stage.lamports(escrow)).to.equal(0);
    expect(await stage.tokens(program.findUnclaimed())).to.equal(held + 2n * PRICE);
    // To move what the wallet opened itself returns nothing to the relay. It is left to others.
    expect(await stage.recordsLeft([own])).to.equal(1);
    const sum = (lamports: number[]) => lamports.reduce((total, one) => total + one, 0);
    // The relay is the sponsor. It paid two transactions, and got both gases.
    expect(await stage.recordsLeft(stuck)).to.equal(0);
    expect(await stage.lamports(sponsor)).to.equal(before + sum(lent) + records - 2 * FEE);
    await until('the index shows them', () =>
      stage.poll(async (views) => {
        const rows = await views.selectFrom('chain.unclaimed_refunds').selectAll().execute();
        return rows.length === 2 && rows.every(({ claimed_at, amount }) => claimed_at === null && amount === PRICE);
      }),
    );
    await sweeper.end();
    await stage.node.setFrozen(stage.source, false);
  });

  it('creates the next archive when one is nine tenths full, and fills the previous one', async () => {
    const { archiveCapacity } = program.constants;
    const archives = async () => {
      const addresses = [0, 1, 2].map(program.findArchive);
      const accounts = await stage.connection.getMultipleAccountsInfo(addresses, 'confirmed');
      return accounts.map((account) => program.decodeOwn('Archive', account)?.count ?? null);
    };
    const sweepOne = async () => {
      const executions = await stage.settled(1);
      await stage.pass();
      const sweeper = await stage.sweep();
      return { executions, sweeper };
    };
    await stage.setLeafCount(0, archiveCapacity - 1);
    const { executions, sweeper } = await sweepOne();
    await until('it is archived', async () => (await stage.recordsLeft(executions)) === 0);
    expect(await archives()).to.deep.equal([archiveCapacity, 0, null]);
    await sweeper.end();

    const last = await sweepOne();
    await until('it is archived', async () => (await stage.recordsLeft(last.executions)) === 0);
    expect(await archives()).to.deep.equal([archiveCapacity, 1, null]);
    // The first tree contains leaves that never existed, so only the second tree's leaves can be proven.
    await until('it is proven', async () => (await stage.archiveRead(last.executions[0]!)) !== null);
    await stage.proveBySpl((await stage.archiveRead(last.executions[0]!))!);
  });
});
