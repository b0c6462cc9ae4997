/**
 * A node that lags, forgets, or is on another chain. No final row comes back for it: the indexer waits and says so, or
 * reads the accounts.
 */
import { type ConfirmedSignatureInfo, type Connection, Keypair, type PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import pino from 'pino';
import { CLOCK_ADDRESS } from '../../app/sdk/program/clock.ts';
import { findCollateral, PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { formatUuid } from '../../app/sdk/receipt/receipt.ts';
import { LAST_RESTART_ADDRESS, readLastRestart } from '../../app/solana/lastRestart.ts';
import { connectForReading } from '../../app/solana/rpc.ts';
import { claimChain } from '../../indexer/apply/identity.ts';
import { readPresentRows } from '../../indexer/chain/accounts.ts';
import { createNotices } from '../../indexer/chain/notices.ts';
import { openPlace } from '../../indexer/queries/open.ts';
import { createKeeper, type KeeperOptions } from '../../indexer/repair/keeper.ts';
import { RESCAN_SLOTS } from '../../indexer/repair/late.ts';
import { until } from '../harness/edge/until.ts';
import { unlisted } from '../harness/node/pruned.ts';
import type { RpcProxy } from '../harness/node/rpcProxy.ts';
import { change, dump, executionIn, query, queryDuringRebuild, useBench } from './harness.ts';

const MIN_CONTEXT_SLOT_NOT_REACHED = -32016;
const SIGNATURE_NOT_FOUND = -32020;

describe('indexer, guards against the node', () => {
  const { market, bench, rpc, start } = useBench({ deaf: true });
  before(() => market.list());
  afterEach(() => rpc.onCall(null));

  /** More slots go by than each search repeats. */
  const passSlots = async () => {
    const { connection } = market.node;
    const absoluteSlot = (await connection.getSlot('finalized')) + 2 * Number(RESCAN_SLOTS);
    await market.node.rpc('surfnet_timeTravel', [{ absoluteSlot }]);
    await until('final', async () => (await connection.getSlot('finalized')) >= absoluteSlot);
  };
  /** A keeper whose checks are due at each look. */
  async function openKeeper(name: string, options: Partial<KeeperOptions> = {}) {
    const { db, close } = await openPlace(await bench.place(name));
    const connection = connectForReading(rpc.rpcUrl, new AbortController().signal);
    const [genesisHash, restartSlot] = [await connection.getGenesisHash(), await readLastRestart(connection)];
    await claimChain(db, { genesisHash, programId: PROGRAM_ID.toBase58(), restartSlot });
    const ingest = { db, connection, programId: PROGRAM_ID, notices: createNotices(), signaturePage: 1_000 };
    const clock = { now: 1 };
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    const keeper = createKeeper({
      ingest,
      log,
      rebuild: async () => {},
      rescanMs: 10,
      repairMs: 10,
      now: () => clock.now,
      ...options,
    });
    const poll = () => {
      clock.now += 10;
      return keeper.poll();
    };
    return { db, poll, lines, clock, close };
  }
  const refuse = (code: number, message: string) => ({ json: { jsonrpc: '2.0', id: '1', error: { code, message } } });

  it('takes the log of a notification only for the slot that the notification names', () => {
    const notices = createNotices();
    const [signature, logs] = ['a transaction that ran twice', ['at another time']];
    notices.add({ signature, slot: 7n, error: null, logs });
    expect([notices.logsOf({ signature, slot: 7n }), notices.logsOf({ signature, slot: 8n })]).to.deep.equal([
      logs,
      undefined,
    ]);
  });

  it('claims no slot that a lagging list does not include', async () => {
    const { connection } = market.node;
    const indexer = await start('lagging.db', { rescanMs: 3_600_000 });
    await bench.catchUp(indexer);
    // Lists come from a backend that has stopped at this slot, slots from another one.
    const stopped = await connection.getSlot('finalized');
    let isStopped = true;
    rpc.onCall(async ({ method, params }, forward) => {
      if (method !== 'getSignaturesForAddress' || !isStopped) return null;
      const { minContextSlot = 0 } = params[1] as { minContextSlot?: number };
      if (minContextSlot > stopped)
        return refuse(MIN_CONTEXT_SLOT_NOT_REACHED, 'Minimum context slot has not been reached');
      const answer = await forward();
      return {
        json: { ...answer, result: (answer.result as ConfirmedSignatureInfo[]).filter(({ slot }) => slot <= stopped) },
      };
    });
    const opened = await market.open();
    const landed = await connection.getSlot('finalized');
    await until('it waits', async () => ((await indexer.status()).error ?? '').includes('Minimum context slot'));
    expect(Number((await indexer.status()).slot)).to.be.lessThan(landed);
    isStopped = false;
    await bench.catchUp(indexer);
    expect((await dump(bench.path('lagging.db'))).executions).to.have.length(1);
    await market.refund(opened, 'creatorFailed');
    await bench.stop(indexer);
  });

  it('repairs an overdue execution and a listing whose last events the node never lists', async () => {
    const left = new Set<string>();
    rpc.onCall(unlisted(left));
    const [settled, open] = [await market.open(), await market.open()];
    left.add(await market.settle(settled)).add(await market.send([market.statusInstruction('paused')], market.creator));
    const indexer = await start('missed.db', { repairMs: 100 });
    await bench.catchUp(indexer);
    const rowOf = async (opened: typeof open) => executionIn(await dump(bench.path('missed.db')), opened);
    await until('paused', async () => (await dump(bench.path('missed.db'))).listings![0]!.status === 'paused');
    expect(await rowOf(settled)).to.deep.include({ status: 'open' });
    await market.node.timeTravel((await market.node.now()) + 3_600);
    await until('settled', async () => (await rowOf(settled))?.status === 'completed');
    expect(await rowOf(open)).to.deep.include({ status: 'open', closed: 0n });
    const totals = await query(bench.path('missed.db'), 'SELECT successful_executions FROM agent_statistics');
    expect(totals).to.deep.equal([{ successful_executions: 1n }]);
    await market.send([market.statusInstruction('active')], market.creator);
    await bench.stop(indexer);
  });

  it('finds a hole shortly before a stop, however long the indexer was away', async () => {
    const left = new Set<string>();
    let lastListed = Number.POSITIVE_INFINITY;
    rpc.onCall(async ({ method }, forward) => {
      if (method !== 'getSignaturesForAddress') return null;
      const answer = await forward();
      const result = (answer.result as ConfirmedSignatureInfo[]).filter(
        ({ signature, slot }) => slot <= lastListed && !left.has(signature),
      );
      return { json: { ...answer, result } };
    });
    const indexer = await start('stopped.db', { rescanMs: 3_600_000 });
    await bench.catchUp(indexer);
    // The signature is known only once the transaction has landed. The running indexer must not find it before.
    lastListed = await market.node.connection.getSlot('finalized');
    const opened = await market.open();
    left.add(opened.signature);
    lastListed = Number.POSITIVE_INFINITY;
    await market.verify(true);
    await bench.catchUp(indexer);
    await bench.stop(indexer);
    const rows = `SELECT status FROM executions WHERE execution_id = '${formatUuid(opened.executionId)}'`;
    expect(await query(bench.path('stopped.db'), rows)).to.deep.equal([]);
    left.clear();
    await passSlots();
    const again = await start('stopped.db', { rescanMs: 3_600_000, repairMs: 3_600_000 });
    await until('found', async () => (await query(bench.path('stopped.db'), rows)).length === 1);
    await bench.stop(again);
  });

  it('searches on for a transaction that the node lists and does not have, and goes on meanwhile', async () => {
    const { db, poll, lines, close } = await openKeeper('unread.db');
    await poll();
    const opened = await market.open();
    await market.verify(false);
    let isLeft = true;
    let isAbsent = true;
    rpc.onCall(async ({ method, params }, forward) => {
      const answer = await forward();
      if (method === 'getTransaction' && params[0] === opened.signature && isAbsent)
        return { json: { ...answer, result: null } };
      if (method !== 'getSignaturesForAddress') return { json: answer };
      if (!isLeft) return { json: answer };
      const result = (answer.result as ConfirmedSignatureInfo[]).filter(
        ({ signature }) => signature !== opened.signature,
      );
      return { json: { ...answer, result } };
    });
    const landed = await market.node.connection.getSlot('finalized');
    await until('the rest is applied', async () => (await poll()) >= BigInt(landed));
    isLeft = false;
    await poll();
    expect(lines.join('')).to.include('the node lists a transaction that it does not have');
    await passSlots();
    for (let times = 0; times < 3; times += 1) await poll();
    isAbsent = false;
    const reached = await poll();
    const row = db.selectFrom('executions').select('status').where('open_signature', '=', opened.signature);
    expect(await row.execute()).to.deep.equal([{ status: 'open' }]);
    const events = await db.selectFrom('events').select(['signature', 'applied_slot']).execute();
    // Only the late one is marked, above every slot that readers of the events may have passed.
    for (const { signature, applied_slot } of events)
      expect(applied_slot).to.equal(signature === opened.signature ? reached + 1n : null);
    await close();
  });

  it('marks no event as late in rebuilt tables, because readers of the present ones may know it', async () => {
    const opened = await market.open();
    await market.verify(true);
    let isLeft = true;
    rpc.onCall(async ({ method, params }, forward) => {
      if (method !== 'getSignaturesForAddress') return null;
      const answer = await forward();
      const listed = answer.result as ConfirmedSignatureInfo[];
      if (!isLeft) return { json: answer };
      // The second pass asks for what is newer than its cursor. Only the list after it shows the transaction.
      if ((params[1] as { until?: string }).until) isLeft = false;
      return { json: { ...answer, result: listed.filter(({ signature }) => signature !== opened.signature) } };
    });
    const path = await bench.place('rebuilt.db');
    await (await openPlace(path)).close();
    await bench.rebuild('rebuilt.db', rpc.rpcUrl);
    expect(isLeft).to.equal(false);
    const { events, executions } = await dump(path);
    expect(executions!.map(({ open_signature }) => open_signature)).to.include(opened.signature);
    expect(events!.filter(({ applied_slot }) => applied_slot !== null)).to.deep.equal([]);
    await market.refund(opened, 'creatorFailed');
  });

  it('goes on when a gap, the second list or the comparison with accounts fails', async () => {
    const { db, poll, lines, close } = await openKeeper('failing.db');
    await poll();
    const gap = { signature: '1'.repeat(64), slot: 1n, reason: 'as a test wants it' };
    await db.insertInto('gaps').values(gap).execute();
    await close();
    const again = await openKeeper('failing.db');
    const opened = await market.open();
    let failed = new Set<string>();
    const fail = (what: string) => {
      failed.add(what);
      return refuse(-32603, `no ${what}`);
    };
    rpc.onCall(({ method, params }) => {
      if (method === 'getTransaction' && params[0] === gap.signature) return fail('gap');
      if (method === 'getSignaturesForAddress' && !(params[1] as { until?: string }).until) return fail('list');
      if (method === 'getAccountInfo' && params[0] === CLOCK_ADDRESS.toBase58()) return fail('clock');
      return null;
    });
    const landed = BigInt(await market.node.connection.getSlot('finalized'));
    await until('applied', async () => (await again.poll()) >= landed);
    expect([...failed]).to.have.members(['gap', 'list', 'clock']);
    const row = again.db.selectFrom('executions').select('status').where('open_signature', '=', opened.signature);
    expect(await row.execute()).to.deep.equal([{ status: 'open' }]);
    // The checks are made again; the gap waits for the next start.
    failed = new Set();
    await again.poll();
    expect([...failed]).to.have.members(['list', 'clock']);
    for (const what of ['no gap', 'no list', 'no clock']) expect(again.lines.join(''), what).to.include(what);
    expect(lines.join('')).to.not.include('no gap');
    await again.close();
  });

  it('reads many listings and their collaterals in few requests', async () => {
    const { connection } = market.node;
    const [listing, collateral] = await Promise.all(
      [market.listing, findCollateral(market.listing)].map((address) => connection.getAccountInfo(address)),
    );
    const listings = Array.from({ length: 128 }, () => Keypair.generate().publicKey);
    const named = new Set(listings.map((address) => address.toBase58()));
    let requests = 0;
    const counting = {
      async getMultipleAccountsInfoAndContext(addresses: PublicKey[]) {
        requests += 1;
        return {
          context: { slot: 9 },
          value: addresses.map((address) => (named.has(address.toBase58()) ? listing : collateral)),
        };
      },
    } as unknown as Connection;
    const rows = await readPresentRows({ connection: counting }, PROGRAM_ID, [...named], 9n);
    expect(rows.listings.map((row) => row.listing)).to.have.members([...named]);
    // Two for the listings alone, and three for 50 pairs each.
    expect(requests).to.equal(5);
  });

  it('reports no row that differs only from the account of a node that lags', async () => {
    const { db, poll, lines, close } = await openKeeper('old.db');
    await poll();
    const old = new Map<string, unknown>();
    let compared = 0;
    rpc.onCall(async ({ method, params }, forward) => {
      const [addresses, options] = params as [string[], { minContextSlot?: number }];
      if (method !== 'getMultipleAccounts' || options.minContextSlot !== undefined) return null;
      compared += 1;
      const answer = old.get(addresses.join()) ?? (await forward());
      old.set(addresses.join(), answer);
      return { json: answer };
    });
    await until('compared', async () => (await poll()) > 0n && compared > 0);
    const shown = compared;
    const { connection } = market.node;
    await market.send([market.statusInstruction('paused')], market.creator);
    const landed = BigInt(await connection.getSlot('finalized'));
    await until('compared again', async () => (await poll()) > landed && compared > shown + 2);
    expect(await db.selectFrom('listings').select('status').execute()).to.deep.equal([{ status: 'paused' }]);
    expect(lines.join('')).to.not.include('differed');
    await market.send([market.statusInstruction('active')], market.creator);
    await close();
  });

  it('waits for a node that is behind, or that does not have the last transaction, and takes nothing back', async () => {
    const indexer = await start('behind.db');
    await bench.catchUp(indexer);
    const before = await dump(bench.path('behind.db'));
    const waits = async (why: string, rule: Parameters<RpcProxy['onCall']>[0]) => {
      rpc.onCall(rule);
      await until(why, async () => ((await indexer.status()).error ?? '').includes(why));
      const { checkedAt } = await indexer.status();
      // The index is reported as old for as long as it waits.
      expect((await indexer.status()).checkedAt).to.equal(checkedAt);
      expect(await dump(bench.path('behind.db'))).to.deep.equal(before);
      rpc.onCall(null);
      await bench.catchUp(indexer);
      expect(await dump(bench.path('behind.db'))).to.deep.equal(before);
    };
    await waits('it is behind', ({ method }) =>
      method === 'getSlot' ? { json: { jsonrpc: '2.0', id: '1', result: 5 } } : null,
    );
    await waits('does not reach', ({ method }) =>
      method === 'getSignaturesForAddress' ? refuse(SIGNATURE_NOT_FOUND, 'Transaction not found') : null,
    );
    await bench.stop(indexer);
  });

  it('says what helps if a node does not have the last transaction for minutes', async () => {
    const { poll, clock, close } = await openKeeper('apart.db');
    await poll();
    const reasonOf = () => poll().catch((error: Error) => error.message);
    rpc.onCall(({ method }) =>
      method === 'getSignaturesForAddress' ? refuse(SIGNATURE_NOT_FOUND, 'Transaction not found') : null,
    );
    expect(await reasonOf()).to.not.include('rebuild');
    clock.now += 120_000;
    expect(await reasonOf()).to.include('run `npm run indexer -- rebuild`');
    rpc.onCall(null);
    await poll();
    rpc.onCall(({ method }) =>
      method === 'getSignaturesForAddress' ? refuse(SIGNATURE_NOT_FOUND, 'Transaction not found') : null,
    );
    expect(await reasonOf()).to.not.include('rebuild');
    await close();
  });

  it('builds the tables again after a restart of the cluster, and waits for a node that has not seen it', async () => {
    const { node } = market;
    const indexer = await start('restarted.db', { rescanMs: 50 });
    await bench.catchUp(indexer);
    const whole = await dump(bench.path('restarted.db'));
    await bench.stop(indexer);
    // A row of a block that the restarted cluster has lost.
    await change(
      bench.path('restarted.db'),
      "INSERT INTO creators (wallet, verified, verified_at, slot) VALUES ('lost', 1, 1, 1)",
    );
    const again = await start('restarted.db', { rescanMs: 50 });
    await bench.catchUp(again);
    expect((await dump(bench.path('restarted.db'))).creators!.map(({ wallet }) => wallet)).to.include('lost');

    const restart = async (slot: number) => {
      const data = Buffer.alloc(8);
      data.writeBigUInt64LE(BigInt(slot));
      await node.rpc('surfnet_setAccount', [LAST_RESTART_ADDRESS.toBase58(), { data: data.toString('hex') }]);
    };
    await restart(7);
    const stored = async () =>
      (await queryDuringRebuild(bench.path('restarted.db'), 'SELECT restart_slot FROM chain_meta'))[0]!.restart_slot;
    await until('rebuilt', async () => (await stored()) === 7n);
    await bench.catchUp(again);
    expect({ ...(await dump(bench.path('restarted.db'))), chain_meta: [] }).to.deep.equal({ ...whole, chain_meta: [] });
    await restart(6);
    await until('it waits', async () =>
      ((await again.status()).error ?? '').includes('restart of the cluster in slot 7'),
    );
    await bench.stop(again);
  });
});
