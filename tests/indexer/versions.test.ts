/**
 * Transactions of version 1, and of a version that nobody knows yet. Anyone can send them. The index reads what it can,
 * and what it cannot read stops nothing.
 */
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import { readEvents } from '../../app/sdk/program/events.ts';
import { constants, PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { heliusHistory } from '../../app/solana/helius.ts';
import { until } from '../harness/edge/until.ts';
import { startHeliusFront } from '../harness/node/heliusFront.ts';
import { sendVersionOne } from '../harness/node/versionOne.ts';
import { createAftermath } from './aftermath.ts';
import { logsOf } from './caller.ts';
import { dump, executionIn, query, unordered, useBench } from './harness.ts';
import { type Execution, NO_KEY } from './market.ts';

const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
/** So many memos of one byte write more than the 10,000 log bytes that nodes keep. */
const FLOOD = Array.from(
  { length: 58 },
  () => new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from('x') }),
);
const ARCHIVABLE_SECONDS = 4 * 86_400;

describe('indexer, versions of transactions', () => {
  const { market, bench, rpc: proxy, start } = useBench({ deaf: true });
  let aftermath: ReturnType<typeof createAftermath>;
  const tree = Keypair.generate();

  before(async () => {
    aftermath = createAftermath(market);
    await market.list();
    const rent = await market.node.connection.getMinimumBalanceForRentExemption(constants.archiveTreeBytes);
    await market.send(aftermath.createArchive(tree.publicKey, rent), market.caller, tree);
  });
  const send = (instructions: TransactionInstruction[], signer: Keypair) =>
    sendVersionOne(market.node.connection, instructions, signer);
  const archive = (execution: Execution) => aftermath.archive(tree.publicKey, [execution]);

  async function settled(): Promise<Execution> {
    const opened = await market.open();
    await market.settle(opened);
    return opened;
  }
  const wait = async (seconds: number) => market.node.timeTravel((await market.node.now()) + seconds);

  it('reads version 1 in a running index, at a restart, in a new index and from a history', async () => {
    const { node, caller, creator, relay } = market;
    const old = await settled();
    await wait(ARCHIVABLE_SECONDS);
    const early = await bench.start('restart.db');
    await bench.catchUp(early);
    await bench.stop(early);
    const live = await bench.start('live.db');

    const named = SystemProgram.transfer({ fromPubkey: creator.publicKey, toPubkey: creator.publicKey, lamports: 1 });
    named.keys.push({ pubkey: PROGRAM_ID, isSigner: false, isWritable: false });
    const naming = await send([named], creator);
    const { execution, instruction } = await market.openInstruction(NO_KEY);
    const opening = await send([instruction], caller);
    const settling = await send([...FLOOD, market.settleInstruction(execution, 55)], relay);
    expect(readEvents(await logsOf(market, settling), PROGRAM_ID)).to.deep.equal({ events: [], complete: false });
    const archiving = await send([archive(old)], caller);
    await bench.catchUp(live);

    const tables = await dump(bench.path('live.db'));
    expect(tables.eventless_transactions!.map(({ signature }) => signature)).to.have.members([naming, settling]);
    expect(executionIn(tables, execution)).to.deep.include({
      status: 'completed',
      execution_time_ms: 55n,
      open_signature: opening,
      end_signature: settling,
    });
    expect(executionIn(tables, old)).to.deep.include({ status: 'completed', closed: 1n });
    expect(tables.archive_leaves).to.have.length(1);
    expect(tables.archive_leaves![0]).to.deep.include({ leaf_index: 0n, signature: archiving });
    expect(await query(bench.path('live.db'), 'SELECT * FROM gaps')).to.deep.equal([]);

    const front = await startHeliusFront({ getTransactionsForAddress: () => ({ data: history }) }, node);
    const history: unknown[] = [];
    for (const { signature } of await node.connection.getSignaturesForAddress(PROGRAM_ID, {}, 'confirmed')) {
      const options = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 255 };
      history.unshift(await node.rpc('getTransaction', [signature, options]));
    }
    const others = [
      await bench.backfill('restart.db'),
      await bench.backfill('new.db'),
      await bench.backfill('history.db', {
        rpcUrl: front.baseUrl,
        history: heliusHistory({ apiKey: 'an-api-key', baseUrl: front.baseUrl }),
      }),
    ];
    front.stop();
    await bench.stop(live);
    for (const other of others) expect(unordered(other)).to.deep.equal(unordered(tables));
  });

  it('goes on after transactions that it cannot read, and applies them after a restart that can', async () => {
    const { caller, relay } = market;
    const old = await settled();
    await wait(ARCHIVABLE_SECONDS);
    const [refunded, opened] = [await market.open(), await market.open()];
    /** Transactions of version 1 are shown as of version 9. */
    let areUnknown = false;
    /** Transactions of other versions are withheld. */
    let areAbsent = false;
    proxy.onCall(async ({ method }, forward) => {
      if (method !== 'getTransaction') return null;
      const { result, ...answer } = (await forward()) as { result: { transaction: [string, string] } };
      const bytes = Buffer.from(result.transaction[0], 'base64');
      const isVersionOne = bytes[0] === 0x81;
      if (areAbsent && !isVersionOne) return { json: { ...answer, result: null } };
      if (areUnknown && isVersionOne) bytes[0] = 0x89;
      return { json: { ...answer, result: { ...result, transaction: [bytes.toString('base64'), 'base64'] } } };
    });
    const live = await start('gaps.db');
    await bench.catchUp(live);
    areUnknown = true;
    const refunding = await send([...FLOOD, market.refundInstruction(refunded, 'invalidAnswer')], relay);
    const archiving = await send([archive(old)], caller);
    const settling = await send([market.settleInstruction(opened, 66)], relay);
    await bench.catchUp(live);
    await wait(constants.recordSecondsMin + 1);
    areAbsent = true;
    const closing = await market.send([aftermath.closeRecord(refunded)], caller);
    // A transaction that the node does not have is never passed over: another node may have it.
    await until('it waits', async () => ((await live.status()).error ?? '').includes(closing));
    expect(executionIn(await dump(bench.path('gaps.db')), refunded)).to.deep.include({ status: 'open', closed: 0n });
    areAbsent = false;
    await bench.catchUp(live);

    const tables = await dump(bench.path('gaps.db'));
    // The log of the settle is complete. That of the archive needs its instructions.
    expect(executionIn(tables, opened)).to.deep.include({ status: 'completed', end_signature: settling });
    expect(executionIn(tables, refunded)).to.deep.include({ status: 'open', closed: 1n });
    expect(tables.archive_leaves).to.have.length(1);
    // The archive's own count shows that a leaf is missing.
    expect(tables.archives).to.have.length(1);
    expect(tables.archives![0]).to.deep.include({ leaf_count: 2n });
    const gaps = await query(bench.path('gaps.db'), 'SELECT signature, reason FROM gaps ORDER BY slot');
    expect(gaps.map(({ signature }) => signature)).to.deep.equal([refunding, archiving]);
    for (const { reason } of gaps) expect(reason).to.include('cannot be read');
    expect(await live.status()).to.deep.include({ state: 'running', error: null });
    await bench.stop(live);

    // A start that still cannot read them keeps them.
    expect(
      (await bench.backfill('gaps.db', { rpcUrl: proxy.rpcUrl, wsUrl: proxy.wsUrl })).archive_leaves,
    ).to.have.length(1);
    expect(await query(bench.path('gaps.db'), 'SELECT signature, reason FROM gaps ORDER BY slot')).to.deep.equal(gaps);
    areUnknown = false;
    const healed = await start('gaps.db');
    await until('closed', async () => (await query(bench.path('gaps.db'), 'SELECT * FROM gaps')).length === 0);
    await bench.stop(healed);
    const whole = await bench.backfill('whole.db');
    expect(unordered(await dump(bench.path('gaps.db')))).to.deep.equal(unordered(whole));
    expect(executionIn(whole, refunded)).to.deep.include({ status: 'refunded', end_signature: refunding, closed: 1n });
  });

  it('reads a page of a history again after a failure, although it has a transaction that cannot be read', async () => {
    const refunded = await market.open();
    const refunding = await send([...FLOOD, market.refundInstruction(refunded, 'invalidAnswer')], market.relay);
    const opened = await market.open();
    const listed = await market.node.connection.getSignaturesForAddress(PROGRAM_ID, {}, 'confirmed');
    const transactions = listed.reverse().map(({ signature, slot }) => ({
      signature,
      slot,
      hasFailed: false,
      logs: null,
    }));
    let failures = 0;
    proxy.onCall(async ({ method, params }, forward) => {
      if (method !== 'getTransaction') return null;
      const { result, ...answer } = (await forward()) as { result: { transaction: [string, string] } };
      const bytes = Buffer.from(result.transaction[0], 'base64');
      if (params[0] === refunding) bytes[0] = 0x89;
      const isAbsent = params[0] === opened.signature && failures < 2;
      if (isAbsent) failures += 1;
      const shown = { ...result, transaction: [bytes.toString('base64'), 'base64'] };
      return { json: { ...answer, result: isAbsent ? null : shown } };
    });
    const tables = await bench.backfill('again.db', {
      rpcUrl: proxy.rpcUrl,
      async *history() {
        // One transaction may be on two pages.
        yield { transactions: transactions.slice(0, -1), next: null };
        yield { transactions: transactions.slice(-2), next: null };
      },
    });
    expect(failures).to.equal(2);
    expect(executionIn(tables, opened)).to.deep.include({ status: 'open' });
    const gaps = await query(bench.path('again.db'), 'SELECT signature FROM gaps');
    expect(gaps).to.deep.equal([{ signature: refunding }]);
  });
});
