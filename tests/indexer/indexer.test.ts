/**
 * The indexer on a real node. Whatever it misses while it is stopped or disconnected, its tables end up equal to those
 * of a clean backfill.
 */
import { expect } from 'chai';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { until } from '../harness/edge/until.ts';
import { useRpcProxy } from '../harness/node/rpcProxy.ts';
import { dump, useBench } from './harness.ts';

/** Disables polling, so that only the subscription and its reconnect can catch up. */
const NEVER = 3_600_000;

describe('indexer', () => {
  const { market, bench } = useBench();
  let keyId: Uint8Array;
  const proxy = useRpcProxy(market, { each: true });

  before(async () => {
    await market.list();
    keyId = await market.grant();
  });

  it('misses nothing during a stop of 20 executions and a WebSocket cut of 20 more', async () => {
    const options = { wsUrl: proxy.wsUrl, pollMs: NEVER };
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
    proxy.cutSockets(true);
    await until('cut', async () => !(await second.status()).subscribed);
    await market.run(20, keyId);
    expect((await dump(bench.path('gaps.db'))).executions).to.have.length(25);
    proxy.cutSockets(false);
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
    const indexer = await bench.start('stalled.db', { wsUrl: proxy.wsUrl, pollMs: NEVER, heartbeatMs: 100 });
    await until('subscribed', async () => (await indexer.status()).subscribed);
    await bench.catchUp(indexer);
    proxy.onMessage(() => undefined);
    const count = (await dump(bench.path('stalled.db'))).executions!.length;
    await market.run(3, keyId);
    expect((await dump(bench.path('stalled.db'))).executions).to.have.length(count);
    await until('noticed', async () => !(await indexer.status()).subscribed);
    proxy.onMessage(null);
    await until('caught up', async () => (await dump(bench.path('stalled.db'))).executions!.length === count + 3);
    await bench.stop(indexer);
  });

  it('finds by polling transactions that no WebSocket reports', async () => {
    proxy.cutSockets(true);
    const indexer = await bench.start('polled.db', { wsUrl: proxy.wsUrl, pollMs: 50 });
    const opened = await market.open();
    await until('found', async () =>
      (await dump(bench.path('polled.db'))).executions!.some((row) => row.open_signature === opened.signature),
    );
    expect((await indexer.status()).subscribed).to.equal(false);
    await bench.stop(indexer);
  });

  it('continues after the node was unreachable, and reports the problem in the meantime', async () => {
    let cut = 0;
    const cutCalls = () =>
      proxy.onCall(() => {
        cut += 1;
        return 'cut';
      });
    cutCalls();
    const { wsUrl } = market.node;
    const starting = bench.start('unreachable.db', { rpcUrl: proxy.rpcUrl, wsUrl });
    await until('no answer', () => cut > 1);
    proxy.onCall(null);
    const indexer = await starting;
    await bench.catchUp(indexer);
    cutCalls();
    const opened = await market.open(keyId);
    await until('error', async () => (await indexer.status()).error !== null);
    await market.settle(opened);
    proxy.onCall(null);
    await until('settled', async () =>
      (await dump(bench.path('unreachable.db'))).executions!.some(
        (row) => row.open_signature === opened.signature && row.status === 'completed',
      ),
    );
    expect(await indexer.status()).to.deep.include({ state: 'running', error: null });
    await bench.stop(indexer);
    expect(await dump(bench.path('unreachable.db'))).to.deep.equal(await bench.backfill('clean-3.db'));
  });

  it('skips a failed transaction', async () => {
    const before = await bench.backfill('failed.db');
    const failed = await market.fail();
    expect((await market.node.connection.getSignatureStatus(failed)).value).to.not.equal(null);
    const { cursor, ...after } = await bench.backfill('failed.db');
    expect(cursor![0]).to.deep.include({ signature: failed });
    expect({ ...after, cursor: before.cursor }).to.deep.equal(before);
  });
});
