/**
 * The indexer on a real node. Whatever it misses while it is stopped or disconnected, its tables end up equal to those
 * of a clean backfill.
 */
import { expect } from 'chai';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { parseUuid } from '../../app/sdk/receipt/receipt.ts';
import { openPlace } from '../../indexer/queries/open.ts';
import { startProxy, type TcpProxy } from '../harness/edge/proxy.ts';
import { until } from '../harness/edge/until.ts';
import { dump, IndexerBench, query } from './harness.ts';
import { type Market, startMarket } from './market.ts';

/** Disables polling, so that only the subscription and its reconnect can catch up. */
const NEVER = 3_600_000;

describe('indexer', () => {
  let market: Market;
  let bench: IndexerBench;
  let keyId: Uint8Array;
  const proxies: TcpProxy[] = [];

  const proxy = async (url: string) => {
    const started = await startProxy(url);
    proxies.push(started);
    return started;
  };
  const listed = async (signature: string) =>
    (await market.node.connection.getSignatureStatus(signature)).value !== null;

  before(async () => {
    market = await startMarket();
    bench = new IndexerBench(market.node);
    await market.list();
    keyId = await market.grant();
  });
  after(async () => {
    await bench?.close();
    for (const started of proxies) await started.close();
    await market?.node.stop();
  });

  it('misses nothing during a stop of 20 executions and a WebSocket cut of 20 more', async () => {
    const ws = await proxy(market.node.wsUrl);
    const options = { wsUrl: ws.url, pollMs: NEVER };
    const first = await bench.start('gaps.db', options);
    await market.run(5, keyId);
    await bench.catchUp(first);
    await bench.stop(first);
    const before = await dump(bench.path('gaps.db'));
    await market.run(20, keyId);
    expect(await dump(bench.path('gaps.db'))).to.deep.equal(before);

    const second = await bench.start('gaps.db', options);
    await until('subscribed', async () => (await second.status()).subscribed);
    await bench.catchUp(second);
    expect((await dump(bench.path('gaps.db'))).executions).to.have.length(25);
    ws.cut();
    await until('cut', async () => !(await second.status()).subscribed);
    await market.run(20, keyId);
    expect((await dump(bench.path('gaps.db'))).executions).to.have.length(25);
    ws.restore();
    await until('caught up', async () => (await dump(bench.path('gaps.db'))).executions!.length === 45);
    await market.run(5, keyId);
    await until('live again', async () => (await dump(bench.path('gaps.db'))).executions!.length === 50);
    await bench.catchUp(second);
    await bench.stop(second);

    const clean = await bench.backfill('clean.db');
    expect(clean.executions).to.have.length(50);
    expect(clean.events!.length).to.equal(3 + 2 * 50);
    expect(await dump(bench.path('gaps.db'))).to.deep.equal(clean);
  });

  it('reads a history longer than a page of signatures, in order', async () => {
    const pages = await bench.backfill('pages.db', { signaturePage: 7 });
    expect(pages).to.deep.equal(await dump(bench.path('clean.db')));
    const opened = await market.open(keyId);
    const resumed = await bench.start('pages.db', { signaturePage: 1 });
    await market.settle(opened);
    await bench.catchUp(resumed);
    await bench.stop(resumed);
    expect(await dump(bench.path('pages.db'))).to.deep.equal(await bench.backfill('clean-2.db'));
  });

  it('orders executions as the chain does, opened one after the other or at once', async () => {
    const opened: string[] = [];
    for (let n = 0; n < 4; n += 1) opened.push((await market.open(keyId)).signature);
    opened.push(
      ...(await Promise.all(Array.from({ length: 8 }, () => market.open()))).map(({ signature }) => signature),
    );
    // Nodes list the newest first.
    const listed = await market.node.connection.getSignaturesForAddress(PROGRAM_ID, {}, 'confirmed');
    const byChain = listed.map(({ signature }) => signature).reverse();
    const { executions } = await bench.backfill('places.db');
    const placed = executions!.toSorted(
      (a, b) => Number(a.opened_slot) - Number(b.opened_slot) || Number(a.open_index) - Number(b.open_index),
    );
    expect(placed.map((row) => row.open_signature)).to.deep.equal(
      byChain.filter((signature) => executions!.some((row) => row.open_signature === signature)),
    );
    expect(placed.slice(-12, -8).map((row) => row.open_signature)).to.deep.equal(opened.slice(0, 4));
    const places = new Set(placed.map((row) => `${row.opened_slot} ${row.open_index}`));
    expect(places.size).to.equal(executions!.length);
    expect(executions!.some((row) => row.open_index === 1n)).to.equal(true);
  });

  it('detects an open WebSocket that delivers nothing', async () => {
    const ws = await proxy(market.node.wsUrl);
    const indexer = await bench.start('stalled.db', { wsUrl: ws.url, pollMs: NEVER, heartbeatMs: 100 });
    await until('subscribed', async () => (await indexer.status()).subscribed);
    await bench.catchUp(indexer);
    ws.stall();
    const count = (await dump(bench.path('stalled.db'))).executions!.length;
    await market.run(3, keyId);
    expect((await dump(bench.path('stalled.db'))).executions).to.have.length(count);
    ws.restore();
    await until('caught up', async () => (await dump(bench.path('stalled.db'))).executions!.length === count + 3);
    await bench.stop(indexer);
  });

  it('finds by polling transactions that no WebSocket reports', async () => {
    const ws = await proxy(market.node.wsUrl);
    ws.cut();
    const indexer = await bench.start('polled.db', { wsUrl: ws.url, pollMs: 50 });
    const opened = await market.open();
    await until('found', async () =>
      (await dump(bench.path('polled.db'))).executions!.some((row) => row.open_signature === opened.signature),
    );
    expect((await indexer.status()).subscribed).to.equal(false);
    await bench.stop(indexer);
  });

  it('continues after the node was unreachable, and reports the problem in the meantime', async () => {
    const rpc = await proxy(market.node.rpcUrl);
    rpc.cut();
    const { wsUrl } = market.node;
    const starting = bench.start('unreachable.db', { rpcUrl: rpc.url, wsUrl });
    await until('refused', async () => rpc.refused() > 1);
    rpc.restore();
    const indexer = await starting;
    await bench.catchUp(indexer);
    rpc.cut();
    const opened = await market.open(keyId);
    await until('error', async () => (await indexer.status()).error !== null);
    await market.settle(opened);
    rpc.restore();
    await until('settled', async () =>
      (await dump(bench.path('unreachable.db'))).executions!.some(
        (row) => row.open_signature === opened.signature && row.status === 'completed',
      ),
    );
    expect(await indexer.status()).to.deep.include({ state: 'running', error: null });
    await bench.stop(indexer);
    expect(await dump(bench.path('unreachable.db'))).to.deep.equal(await bench.backfill('clean-3.db'));
  });

  it('shows the state after each kind of transaction, and skips failed ones', async () => {
    const indexer = await bench.start('kinds.db');
    const [creator, listing] = [market.creator.publicKey.toBase58(), market.listing.toBase58()];
    const rows = async (table: string) => {
      await bench.catchUp(indexer);
      return (await dump(bench.path('kinds.db')))[table]!;
    };
    await market.verify(true);
    expect((await rows('creators'))[0]).to.deep.include({ wallet: creator, verified: 1n });
    await market.verify(false);
    expect((await rows('creators'))[0]).to.deep.include({ wallet: creator, verified: 0n, verified_at: 0n });

    await market.send([market.updateInstruction(300_000n), market.statusInstruction('paused')], market.creator);
    expect((await rows('listings'))[0]).to.deep.include({
      listing,
      price: 300_000n,
      listing_version: 2n,
      status: 'paused',
    });
    await market.send([market.statusInstruction('active')], market.creator);
    expect((await rows('listings'))[0]).to.deep.include({ status: 'active', deposited: 5_000_000n });

    const key = await market.grant();
    const hex = Buffer.from(key).toString('hex');
    const grant = async () => (await rows('grants')).find((row) => row.key_id === hex);
    const opened = await market.open(key);
    expect(await grant()).to.deep.include({ execution_count: 1n, total_spent: '300000', revoked: 0n });
    const refundSignature = await market.refund(opened, 'creatorTimeout');
    expect(await grant()).to.deep.include({ execution_count: 1n, total_spent: '0' });
    await market.revoke(key);
    expect(await grant()).to.deep.include({ execution_count: 1n, total_spent: '0', revoked: 1n });

    const executions = await rows('executions');
    const refunded = executions.find((row) => row.open_signature === opened.signature);
    expect(refunded).to.deep.include({
      status: 'refunded',
      reason: 1n,
      key_id: hex,
      end_signature: refundSignature,
      result_hash: null,
      creator_amount: 0n,
      platform_amount: 0n,
      execution_time_ms: null,
    });
    expect(parseUuid(String(refunded?.execution_id))).to.deep.equal(opened.executionId);

    const paid = await market.open();
    const settleSignature = await market.settle(paid, 77);
    const settled = (await rows('executions')).find((row) => row.open_signature === paid.signature);
    expect(settled).to.deep.include({
      status: 'completed',
      key_id: null,
      price: 300_000n,
      fee_bps: 100n,
      creator_amount: 297_000n,
      platform_amount: 3_000n,
      execution_time_ms: 77n,
      reason: null,
      end_signature: settleSignature,
    });

    const before = await dump(bench.path('kinds.db'));
    const failed = await market.fail();
    expect(await listed(failed)).to.equal(true);
    const cursor = await rows('cursor');
    expect(cursor[0]).to.deep.include({ signature: failed });
    expect({ ...(await dump(bench.path('kinds.db'))), cursor }).to.deep.equal({ ...before, cursor });
    await bench.stop(indexer);
  });

  it('counts executions of an agent, and holds only its own faults against it, not short timeouts', async () => {
    const path = bench.path('kinds.db');
    const rows = (await dump(path)).executions!;
    const settled = rows.filter(({ status }) => status === 'completed');
    // All were opened with 30 s, which is less than the 60 s of the listing.
    expect(rows.every((row) => row.listing_timeout_seconds === 60n)).to.equal(true);
    expect(rows.some(({ reason }) => reason === 1n)).to.equal(true);
    const faults = rows.filter(
      ({ status, reason }) => status === 'refunded' && [0n, 2n, 3n].includes(reason as bigint),
    );
    const times = settled.map((row) => Number(row.execution_time_ms));
    expect(rows.length).to.be.greaterThan(settled.length + faults.length);
    const { db, close } = await openPlace(path);
    const statistics = db.selectFrom('agent_statistics').selectAll().where('listing', '=', market.listing.toBase58());
    expect(await statistics.executeTakeFirst()).to.deep.equal({
      listing: market.listing.toBase58(),
      total_executions: BigInt(settled.length + faults.length),
      successful_executions: BigInt(settled.length),
      success_rate: settled.length / (settled.length + faults.length),
      avg_execution_time_ms: BigInt(Math.round(times.reduce((sum, ms) => sum + ms, 0) / times.length)),
      dispute_count: 0n,
      earned: settled.reduce((sum, row) => sum + (row.creator_amount as bigint), 0n),
      ended_executions: BigInt(rows.filter(({ status }) => status !== 'open').length),
      timed_executions: BigInt(times.length),
      total_time_ms: BigInt(times.reduce((sum, ms) => sum + ms, 0)),
    });
    await close();
  });

  it('applies nothing twice after its cursor was lost', async () => {
    const path = bench.path('kinds.db');
    const before = await dump(path);
    await query(path, 'DELETE FROM cursor');
    expect(await bench.backfill('kinds.db')).to.deep.equal(before);
  });
});
