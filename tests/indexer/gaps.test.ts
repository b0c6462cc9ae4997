/**
 * A node that leaves transactions out of its list for a while. The indexer continues and shows what it can from the
 * accounts. It applies the missing transactions once the node lists them. In the end every table is as if nothing had
 * been missing.
 */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { constants, PROGRAM_ID, setPause } from '../../app/sdk/program/program.ts';
import { formatUuid } from '../../app/sdk/receipt/receipt.ts';
import type { Indexer } from '../../indexer/indexer.ts';
import { until } from '../harness/edge/until.ts';
import { unlisted } from '../harness/node/pruned.ts';
import { createAftermath } from './aftermath.ts';
import { dump, executionIn, type Row, unordered, useBench } from './harness.ts';
import { NO_KEY, type OpenedExecution, PRICE } from './market.ts';

describe('indexer, gaps', () => {
  const { market, bench, rpc, start: startOn } = useBench({ deaf: true });
  let indexer: Indexer;
  const left = new Set<string>();

  before(() => rpc.onCall(unlisted(left)));

  const tables = () => dump(bench.path('gaps.db'));
  const executionOf = async (opened: Pick<OpenedExecution, 'executionId'>) => executionIn(await tables(), opened);
  /**
   * Removes what may differ besides: a late execution is the last one of its slot, and no account shows how a late
   * deposit ended.
   */
  const comparable = (all: Record<string, Row[]>): Record<string, Row[]> => {
    const { executions, deposits, ...others } = unordered(all);
    return {
      ...others,
      executions: executions!.map(({ open_index, ...row }) => row),
      deposits: deposits!.map((row) => ({ ...row, status: null, ended_at: null, end_signature: null })),
    };
  };

  async function start(rescanMs: number): Promise<void> {
    indexer = await startOn('gaps.db', { rescanMs });
    await bench.catchUp(indexer);
  }

  /**
   * Makes the node list everything from now on. Waits until all tables equal those of an indexer that missed nothing.
   */
  async function heal(clean: string): Promise<void> {
    left.clear();
    const whole = comparable(await bench.backfill(clean));
    await bench.catchUp(indexer);
    await until('the gap is found', async () => (await tables()).events!.length === whole.events!.length);
    expect(comparable(await tables())).to.deep.equal(whole);
    expect(await indexer.status()).to.deep.include({ state: 'running', error: null });
    await bench.stop(indexer);
  }

  it('continues without the transactions that created the settings and a listing, and shows both from their accounts', async () => {
    const [initialized] = await market.node.connection.getSignaturesForAddress(PROGRAM_ID, {}, 'confirmed');
    left.add(initialized!.signature).add(await market.list());
    await start(100);
    expect(await tables()).to.deep.include({ configs: [], listings: [] });
    await market.send([setPause({ authority: market.admin.publicKey, isPaused: false })], market.admin);
    const opened = await market.open();
    await bench.catchUp(indexer);
    expect((await tables()).configs![0]).to.deep.include({ admin: market.admin.publicKey.toBase58() });
    expect((await tables()).listings![0]).to.deep.include({ listing: market.listing.toBase58(), status: 'active' });
    expect(await executionOf(opened)).to.deep.include({ status: 'open', listing_timeout_seconds: 60n });
    await market.settle(opened);
    await bench.catchUp(indexer);
    expect(await executionOf(opened)).to.deep.include({ status: 'completed' });
    await heal('listing.db');
  });

  it('continues without a grant and the open that used it', async () => {
    const keyId = await market.grant();
    const [granted] = await market.node.connection.getSignaturesForAddress(PROGRAM_ID, { limit: 1 }, 'confirmed');
    const opened = await market.open(keyId);
    left.add(granted!.signature).add(opened.signature);
    await start(100);
    const refunded = await market.refund(opened, 'invalidAnswer');
    await bench.catchUp(indexer);
    expect(await executionOf(opened)).to.deep.include({
      status: 'refunded',
      reason: 2n,
      end_signature: refunded,
      open_signature: null,
      open_index: null,
    });
    const grant = (await tables()).grants!.find(({ key_id }) => key_id === Buffer.from(keyId).toString('hex'));
    expect(grant).to.deep.include({ execution_count: 1n, total_spent: '0' });
    await market.revoke(keyId);
    await bench.catchUp(indexer);
    await heal('grant.db');
  });

  it('continues without the transaction that prepared a deposit, and shows the execution opened from it', async () => {
    const { execution, terms } = await market.openInstruction(NO_KEY);
    const deposit = createAftermath(market).deposit(terms, PRICE);
    left.add(await market.send([deposit.prepare], market.relay));
    await market.send([deposit.pay], market.caller);
    await start(100);
    const opened = await market.send([deposit.open], market.relay);
    await bench.catchUp(indexer);
    const shown = { status: 'open', deposit: deposit.address.toBase58(), open_signature: opened };
    expect(await executionOf(execution)).to.deep.include(shown);
    expect((await tables()).deposits).to.deep.equal([]);
    await heal('deposit.db');
    expect((await tables()).deposits![0]).to.deep.include({ status: 'prepared', closed: 1n });
  });

  it('continues without some opens, and orders them within their slot', async () => {
    const opens = await Promise.all(Array.from({ length: 8 }, () => market.open()));
    left.add(opens[2]!.signature).add(opens[5]!.signature);
    await start(100);
    for (const opened of opens) await market.settle(opened);
    await bench.catchUp(indexer);
    for (const opened of opens) expect(await executionOf(opened)).to.deep.include({ status: 'completed' });
    expect(await executionOf(opens[2]!)).to.deep.include({ open_signature: null, opened_slot: null });
    await heal('open.db');
    const places = (await tables()).executions!.map(({ opened_slot, open_index }) => `${opened_slot} ${open_index}`);
    expect(new Set(places).size).to.equal(places.length);
  });

  it('continues without the transaction that opened a dispute', async () => {
    const aftermath = createAftermath(market);
    const opened = await market.open();
    await market.settle(opened);
    left.add(await market.send([aftermath.dispute(opened)], market.caller));
    await start(100);
    expect(await executionOf(opened)).to.deep.include({ status: 'completed' });
    await market.send([aftermath.resolve(opened, market.admin.publicKey, false, 0n)], market.admin);
    await bench.catchUp(indexer);
    expect(await executionOf(opened)).to.deep.include({ status: 'completed', dispute_count: 1n });
    const [dispute] = (await tables()).disputes!;
    expect(dispute).to.deep.include({ outcome: 'rejected', execution_id: formatUuid(opened.executionId) });
    await heal('dispute.db');
  });

  it('shows the outcome of a dispute whose account was closed before the outcome was listed', async () => {
    const { node, admin, caller } = market;
    const aftermath = createAftermath(market);
    const opened = await market.open();
    await market.settle(opened);
    await market.send([aftermath.dispute(opened)], caller);
    left.add(await market.send([aftermath.resolve(opened, admin.publicKey, false, 0n)], admin));
    await node.timeTravel((await node.now()) + 31 * 86_400);
    await market.send([aftermath.closeDispute(opened)], caller);
    await start(100);
    const row = async () =>
      (await tables()).disputes!.find(({ execution_id }) => execution_id === formatUuid(opened.executionId));
    expect(await row()).to.deep.include({ outcome: 'open', closed: 1n });
    await heal('outcome.db');
    expect(await row()).to.deep.include({ outcome: 'rejected', closed: 1n });
  });

  it('continues without the transactions that created an archive and its first leaf', async () => {
    const { node, caller } = market;
    const aftermath = createAftermath(market);
    const opened = [await market.open(), await market.open()] as const;
    for (const execution of opened) await market.settle(execution);
    await node.timeTravel((await node.now()) + 4 * 86_400);
    const tree = Keypair.generate();
    const rent = await node.connection.getMinimumBalanceForRentExemption(constants.archiveTreeBytes);
    left.add(await market.send(aftermath.createArchive(tree.publicKey, rent), caller, tree));
    left.add(await market.send([aftermath.archive(tree.publicKey, [opened[0]])], caller));
    await start(100);
    expect(await tables()).to.deep.include({ archives: [], archive_leaves: [] });
    await market.send([aftermath.archive(tree.publicKey, [opened[1]])], caller);
    await bench.catchUp(indexer);
    expect((await tables()).archives![0]).to.deep.include({ tree: tree.publicKey.toBase58(), leaf_count: 2n });
    expect((await tables()).archive_leaves!.map(({ leaf_index }) => leaf_index)).to.deep.equal([1n]);
    const [first, second] = [await executionOf(opened[0]), await executionOf(opened[1])];
    expect([first?.closed, second?.closed]).to.deep.equal([0n, 1n]);
    await heal('archive.db');
    expect((await tables()).archive_leaves!.map(({ leaf_index }) => leaf_index)).to.deep.equal([0n, 1n]);
  });

  it('refuses to rebuild from a list with a hole, however often it is tried', async () => {
    left.clear();
    const opened = await market.open();
    await bench.backfill('hole.db');
    const before = await dump(bench.path('hole.db'));
    await market.refund(opened, 'creatorFailed');
    left.add(opened.signature);
    const build = () => bench.rebuild('hole.db', rpc.rpcUrl);
    for (let times = 0; times < 3; times += 1) {
      const refusal = await build().catch((error: Error) => error.message);
      expect(refusal).to.include('history is incomplete');
    }
    expect(await dump(bench.path('hole.db'))).to.deep.equal(before);
    left.clear();
    await build();
    expect(comparable(await dump(bench.path('hole.db')))).to.deep.equal(
      comparable(await bench.backfill('holeless.db')),
    );
  });
});
