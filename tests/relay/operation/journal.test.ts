/** The journal on a real ledger: ownership of rows, replaced calls, and lost rows and fees. */
import { Keypair, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import { createKeyUse } from '../../../app/relay/access/auth.ts';
import { type EngineDeps, newProgress } from '../../../app/relay/execution/deps.ts';
import { createOpening } from '../../../app/relay/execution/open.ts';
import { outcomeOf } from '../../../app/relay/execution/outcome.ts';
import { startRecovery } from '../../../app/relay/execution/recovery/recover.ts';
import type { Refunding } from '../../../app/relay/execution/refund.ts';
import { createServing } from '../../../app/relay/execution/serve.ts';
import type { Settling } from '../../../app/relay/execution/settle.ts';
import type { Snapshot } from '../../../app/relay/execution/snapshot.ts';
import type { ClaimedExecution } from '../../../app/relay/ledger/claims.ts';
import { createLeadership } from '../../../app/relay/ledger/leadership.ts';
import { SharedConflict } from '../../../app/relay/ledger/moves.ts';
import type { ResultRow } from '../../../app/relay/ledger/tables.ts';
import { hasSigned, lastOf, paidFees } from '../../../app/relay/ledger/transactions.ts';
import { JournalConflict } from '../../../app/relay/ledger/writing.ts';
import { createLog } from '../../../app/relay/log.ts';
import { free } from '../../harness/edge/funding.ts';
import { depositOf, executionOf, SIGNED, signedAnew, TIMES, useJournals } from '../../harness/edge/journals.ts';
import { until } from '../../harness/edge/until.ts';

const STOP = new AbortController().signal;
const FAR_MS = 2n ** 53n;

describe('the journal', () => {
  const { opened, mine, others } = useJournals();

  /** A call with an Idempotency-Key. */
  const execution = (id: string, changes: Partial<ClaimedExecution> = {}) =>
    executionOf(id, { nonce: `00000000${Buffer.from(id).toString('hex')}`, fingerprint: 'fingerprint', ...changes });
  const resultOf = (id: string, result: string): ResultRow => ({
    execution_id: id,
    result: Buffer.from(result),
    size: BigInt(result.length),
    object_stored: 0n,
    result_hash: `sha256:${result}`,
    signature: `ed25519:${result}`,
    execution_signature: null,
    tokens_used: null,
    steps: null,
    execution_time_ms: 1n,
    token: result,
    verified_ms: 1n,
  });
  async function dispatch(id: string) {
    const row = await mine.claim(execution(id), 1, free());
    await mine.openSigned(row, SIGNED, 60n);
    await mine.openConfirmed(row, TIMES, 1);
    await mine.dispatched(row);
    return row;
  }
  /** A call whose open failed on the chain and cost its fee. */
  async function refuse(id: string, code: string, nowMs = 1) {
    const row = await mine.claim(execution(id), nowMs, free());
    await mine.openSigned(row, signedAnew(), 60n);
    await mine.failed(row, lastOf(row, 'open'), 'wallet');
    await mine.void(row, code, 'refused', 1);
  }
  const signedAs = (signature: string, fee = 5_000n) => ({ ...SIGNED, signature, fee, bytes: Buffer.from(signature) });
  /** The stored transactions of an execution: kind, attempt, signature, outcome. */
  const transactionsOf = async (id: string) =>
    (await others.get(id))!.transactions.map((one) => [one.kind, one.attempt, one.signature, one.outcome]);
  const rejected = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail('it was taken'),
      (error) => error,
    );

  it('keeps the first result of an execution, and returns which one it kept', async () => {
    await dispatch('one');
    expect((await mine.storeResult(resultOf('one', 'first'))).result?.toString()).to.equal('first');
    expect((await mine.storeResult(resultOf('one', 'second'))).result?.toString()).to.equal('first');
    expect((await mine.result('one'))?.result?.toString()).to.equal('first');
  });

  it('rejects: the result of a relay that has lost the execution to another relay', async () => {
    await dispatch('one');
    await others.takeRowsOfOthersThan([]);
    expect(await rejected(mine.storeResult(resultOf('one', 'stale')))).to.be.instanceOf(JournalConflict);
    expect(await others.result('one')).to.equal(undefined);
    expect((await others.storeResult(resultOf('one', 'right'))).result?.toString()).to.equal('right');
    expect(await rejected(mine.storeResult(resultOf('one', 'stale')))).to.be.instanceOf(JournalConflict);
  });

  it("keeps a server's answer in the transaction that stores the refund, which waits once for the disk", async () => {
    const row = await dispatch('refused');
    const raw = { status: 200, body: Buffer.from('<html>'), isCut: false };
    const why = { reason: 2, code: 'execution_failed', message: 'not JSON', rebuilds: 0n };
    const before = opened.writes.commits();
    const answer = mine.storeFailedAnswer('refused', { durationMs: 7, raw });
    const stolen = others.storeFailedAnswer('refused', { durationMs: 8, raw: null });
    await Promise.all([answer, stolen, mine.refunding(row, SIGNED, why)]);
    expect(opened.writes.commits()).to.equal(before + 1);
    const [kept] = await opened.run(`SELECT * FROM failed_answers WHERE execution_id = 'refused'`);
    expect(kept).to.deep.include({ http_status: 200n, body: raw.body, is_cut: 0n, duration_ms: 7n });
  });

  it('rejects: a transition from an earlier state, even if another relay has moved the row back to it', async () => {
    const row = await dispatch('one');
    await others.takeRowsOfOthersThan([]);
    await others.verified((await others.get('one'))!, SIGNED, 1n, 0n);
    await mine.takeRowsOfOthersThan([]);
    const why = { reason: 0, code: 'execution_timeout', message: 'too late', rebuilds: 0n };
    expect(await rejected(mine.refunding(row, SIGNED, why))).to.be.instanceOf(JournalConflict);
    const kept = (await mine.get('one'))!;
    expect(kept).to.include({ state: 'verified', lease_owner: 'mine' });
    expect(kept.transactions.map(({ kind }) => kind)).to.deep.equal(['open', 'settle']);
  });

  it('gives a creator its full time, whatever the clock of the relay that takes over', async () => {
    const now = Date.now;
    for (const aheadMs of [-600_000, 600_000]) {
      Date.now = () => now() + aheadMs;
      await dispatch('one').finally(() => {
        Date.now = now;
      });
      const row = (await others.get('one'))!;
      const live = newProgress({ isFresh: false });
      const deps = { journal: others, endpointOf: async () => null } as unknown as EngineDeps;
      const refundIntent = async () => 'next' as const;
      const { dispatch: serve } = createServing(deps, { refundIntent } as unknown as Refunding, {} as Settling, STOP);
      await serve(row, {} as Snapshot, live);
      const spentMs = performance.now() - live.dispatchedAtMs!;
      expect(spentMs).to.be.within(0, 60_000);
      await opened.clear();
    }
  });

  it('refunds a call whose time ran out before this relay could call the creator, and does not blame the creator', async () => {
    await dispatch('one');
    await opened.run(`UPDATE executions SET dispatched_ms = dispatched_ms - timeout_seconds * 1000`);
    const row = (await others.get('one'))!;
    const refunds: unknown[] = [];
    const refundIntent: Refunding['refundIntent'] = async (_row, _snapshot, reason, message) => {
      refunds.push([reason, message]);
      return 'next';
    };
    const deps = { journal: others, endpointOf: () => expect.fail('it was called') } as unknown as EngineDeps;
    const { dispatch: serve } = createServing(deps, { refundIntent } as Refunding, {} as Settling, STOP);
    await serve(row, {} as Snapshot, newProgress({ isFresh: false }));
    const message = 'The marketplace was interrupted, and the time of this call ran out';
    expect(refunds).to.deep.equal([['unserved', message]]);
  });

  it('does not report an open as refused after another relay has signed it again', async () => {
    const { publicKey } = Keypair.generate();
    const empty = { payerKey: publicKey, recentBlockhash: publicKey.toBase58(), instructions: [] };
    const bytes = new VersionedTransaction(new TransactionMessage(empty).compileToV0Message()).serialize();
    const id = '00000000-0000-8000-8000-000000000001';
    const row = await mine.claim(execution(id, { listing: publicKey.toBase58() }), 1, free());
    await mine.openSigned(row, { ...SIGNED, bytes }, 60n);
    const chain = {
      // Meanwhile another relay takes the row over and signs the open with its own authority, and that open lands.
      async submit() {
        await others.takeRowsOfOthersThan([]);
        const theirs = (await others.get(id))!;
        await others.openSigned(theirs, { ...SIGNED, bytes }, 60n);
        await others.openConfirmed(theirs, TIMES, 1);
        return { kind: 'failed', error: 'NotRelayAuthority', message: 'removed', slot: 1 };
      },
      readAgreed: async () => ({ accounts: [null, null], now: 1n, slot: 1 }),
    };
    const deps = { chain, journal: mine, authorities: { names: () => true }, openFailed: () => undefined };
    const live = newProgress({ isFresh: true });
    const { open } = createOpening(deps as unknown as EngineDeps, {} as never, { exclude: () => undefined }, STOP);
    expect(await rejected(open(row, live))).to.be.instanceOf(JournalConflict);
    const readText = async () => null;
    expect(await outcomeOf({ journal: mine, readText }, id, live)).to.deep.equal({ kind: 'running', executionId: id });
  });

  it('keeps the fees and signatures of earlier calls when their Idempotency-Key is used again', async () => {
    for (let times = 0; times < 3; times += 1) await refuse('again', 'insufficient_balance');
    const owed = async () => (await mine.sumsOf('wallet', 'listing', 0)).owed;
    expect(await owed()).to.equal(15_000n);
    const row = await mine.claim(execution('again'), 1, free());
    expect(row).to.include({ state: 'accepted', lost_fees: 15_000n, error_code: null });
    await mine.openSigned(row, signedAs('the next open'), 60n);
    const signed = (await transactionsOf('again')).map(([kind, attempt, , outcome]) => [kind, attempt, outcome]);
    const failed = [0n, 1n, 2n].map((attempt) => ['open', attempt, 'failed']);
    expect(signed).to.deep.equal([...failed, ['open', 3n, null]]);
    await mine.openConfirmed(row, TIMES, 1);
    await mine.settled(row, { settledAt: 1n, creatorAmount: 1n, platformAmount: 0n });
    expect(await owed()).to.equal(15_000n);
  });

  it('keeps every signature of an execution, and finds each', async () => {
    const row = await mine.claim(execution('one'), 1, free());
    await mine.openSigned(row, signedAs('open 0'), 60n);
    await mine.decided(row, { kind: 'open', signature: 'open 0' }, 'expired');
    await mine.openSigned(row, signedAs('open 1', 7_000n), 70n);
    await mine.openConfirmed(row, TIMES, 1);
    await mine.dispatched(row);
    await mine.verified(row, signedAs('settle 0'), 1n, 0n);
    await mine.failed(row, lastOf(row, 'settle'), 'operator');
    await mine.verified(row, signedAs('settle 1'), 1n, 1n);
    await mine.settled(row, { settledAt: 1n, creatorAmount: 1n, platformAmount: 0n });
    const all = [
      ['open', 0n, 'open 0', 'expired'],
      ['open', 1n, 'open 1', 'landed'],
      ['settle', 0n, 'settle 0', 'failed'],
      ['settle', 1n, 'settle 1', 'landed'],
    ];
    expect(await transactionsOf('one')).to.deep.equal(all);
    expect(row.transactions).to.deep.equal((await mine.get('one'))!.transactions);
    expect(row.transactions[1]).to.deep.include({ fee: 7_000n, last_valid_height: 10n, bytes: Buffer.from('open 1') });
    // An expired transaction costs nothing.
    expect(paidFees(row)).to.equal(17_000n);
    for (const [, , signature] of all) expect(await hasSigned(opened.ledger, 'one', String(signature))).to.equal(true);
    expect(await hasSigned(opened.ledger, 'one', 'of another')).to.equal(false);
    expect(await hasSigned(opened.ledger, 'two', 'open 0')).to.equal(false);
  });

  it('leaves an outcome open while several transactions of a kind may have landed', async () => {
    const row = await mine.claim(execution('one'), 1, free());
    for (const signature of ['open 0', 'open 1']) await mine.openSigned(row, signedAs(signature), 60n);
    await mine.openConfirmed(row, TIMES, 1);
    expect(await transactionsOf('one')).to.deep.equal([
      ['open', 0n, 'open 0', null],
      ['open', 1n, 'open 1', null],
    ]);
  });

  it('rejects: a move of a row that another relay has, with its transaction', async () => {
    const row = await dispatch('one');
    await others.takeRowsOfOthersThan([]);
    expect(await rejected(mine.verified(row, signedAs('settle'), 1n, 0n))).to.be.instanceOf(JournalConflict);
    expect(row.transactions.map(({ kind }) => kind)).to.deep.equal(['open']);
    expect(await transactionsOf('one')).to.deep.equal([['open', 0n, 'signature', 'landed']]);
    expect(await hasSigned(opened.ledger, 'one', 'settle')).to.equal(false);
    // Nor is the end of somebody else's row noted.
    await others.verified((await others.get('one'))!, signedAs('settle'), 1n, 0n);
    const stale = { ...(await mine.get('one'))! };
    const ended = mine.settled(stale, { settledAt: 1n, creatorAmount: 1n, platformAmount: 0n });
    expect(await rejected(ended)).to.be.instanceOf(JournalConflict);
    expect((await transactionsOf('one'))[1]).to.deep.equal(['settle', 0n, 'settle', null]);
  });

  it('moves the rows of a shared transaction together, with their shares, and stores its bytes once', async () => {
    const rows = [await dispatch('b'), await dispatch('a')];
    const signed = { ...SIGNED, signature: 'shared', bytes: Buffer.from('shared'), fee: 5_001n };
    const before = opened.writes.commits();
    const moves = rows.map((row, index) => ({
      row,
      state: 'verified' as const,
      changes: { execution_time_ms: 1n },
      fee: [2_501n, 2_500n][index]!,
    }));
    await mine.intendShared(moves, 'settle', signed);
    expect(opened.writes.commits()).to.equal(before + 1);
    const stored = await opened.run(`SELECT count(*) AS count FROM signed_transactions WHERE signature = 'shared'`);
    expect(stored).to.deep.equal([{ count: 1n }]);
    for (const [index, row] of rows.entries()) {
      const { transactions } = (await mine.get(row.execution_id))!;
      expect(transactions).to.deep.equal(row.transactions);
      expect(lastOf(row, 'settle')).to.deep.include({ fee: moves[index]!.fee, wholeFee: 5_001n, bytes: signed.bytes });
      expect(row.state).to.equal('verified');
    }
    // The one whose part failed bears all of it, the other one nothing.
    await mine.failed(rows[0]!, { ...lastOf(rows[0]!, 'settle'), fee: 5_001n }, 'listing');
    await mine.decided(rows[1]!, lastOf(rows[1]!, 'settle'), 'expired');
    const [bearer, other] = [(await mine.get('b'))!, (await mine.get('a'))!];
    // Their opens cost 5,000.
    expect([paidFees(bearer), paidFees(other)]).to.deep.equal([10_001n, 5_000n]);
    expect([bearer.listing_fees, other.listing_fees]).to.deep.equal([5_001n, 0n]);
  });

  it("rejects: a shared transaction if one of its rows is another relay's, and moves and stores nothing", async () => {
    const rows = [await dispatch('one'), await dispatch('two')];
    await opened.run("UPDATE executions SET lease_owner = 'others' WHERE execution_id = 'two'");
    const moves = rows.map((row) => ({ row, state: 'verified' as const, changes: {}, fee: 2_500n }));
    const error = await rejected(mine.intendShared(moves, 'settle', { ...SIGNED, signature: 'never' }));
    expect([error instanceof SharedConflict, error.executionId]).to.deep.equal([true, 'two']);
    expect([rows[0]!.state, rows[0]!.transactions.length]).to.deep.equal(['dispatched', 1]);
    expect((await mine.get('one'))!.state).to.equal('dispatched');
    expect(await transactionsOf('one')).to.deep.equal([['open', 0n, 'signature', 'landed']]);
    expect(await opened.run("SELECT signature FROM signed_transactions WHERE signature = 'never'")).to.deep.equal([]);
  });

  it('refuses the later of two calls with one deposit, until the first is void', async () => {
    const claimFor = (journal: typeof mine, id: string) =>
      journal.claimDeposit(depositOf(id, { deposit: 'the deposit' }), 1, free());
    const first = await claimFor(mine, 'first');
    const refused = await claimFor(others, 'later').catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(JournalConflict).with.property('message', 'the deposit the deposit is taken');
    await mine.void(first, 'service_unavailable', 'interrupted');
    expect(await claimFor(others, 'later')).to.include({ state: 'accepted', deposit: 'the deposit' });
  });

  it('refuses the later of two requests with one key when two relays use ids of different half-hours', async () => {
    const claimFor = (journal: typeof mine, id: string, tail = '2'.repeat(24)) => {
      const nonce = `${id === 'before' ? '0'.repeat(8) : '1'.repeat(8)}${tail}`;
      return journal.claim({ ...execution(id), nonce, fingerprint: 'same' }, 1, free());
    };
    const claims = await Promise.allSettled([claimFor(mine, 'before'), claimFor(others, 'after')]);
    expect(claims.map(({ status }) => status)).to.have.members(['fulfilled', 'rejected']);
    const [refused] = claims.flatMap((claim) => (claim.status === 'rejected' ? [claim.reason] : []));
    expect(refused).to.be.instanceOf(JournalConflict);
    const [row] = claims.flatMap((claim) => (claim.status === 'fulfilled' ? [claim.value] : []));
    // A call that never paid does not block the next one.
    await (row!.lease_owner === 'mine' ? mine : others).void(row!, 'service_unavailable', 'interrupted');
    const next = row!.execution_id === 'before' ? 'after' : 'before';
    expect((await claimFor(mine, next)).state).to.equal('accepted');
    const conflict = await claimFor(others, 'third').catch((error) => error);
    expect(conflict).to.be.instanceOf(JournalConflict);
    expect((await claimFor(others, 'third', '3'.repeat(24))).state).to.equal('accepted');
  });

  it('records the use of many keys without delaying calls', async () => {
    const keys = Array.from({ length: 500 }, (_, key) => `key ${key}`);
    await opened.ledger
      .insertInto('api_keys')
      .values(keys.map((key_hash) => ({ key_hash, key_id: 'id', wallet: 'wallet', name: 'name', created_ms: 1n })))
      .execute();
    const use = createKeyUse(opened.elsewhere, createLog('silent'));
    for (const [index, key] of keys.entries()) use.touch(key, index + 1);
    await refuse('again', 'insufficient_balance');
    const flushed = use.flush();
    // Both write in this thread. If one waited for the other, neither would continue.
    const row = await mine.claim(execution('again'), 2, free());
    await flushed;
    expect(row.state).to.equal('accepted');
    const used = await opened.run(
      'SELECT count(*) AS count, min(last_used_ms) AS first, max(last_used_ms) AS last FROM api_keys',
    );
    expect(used).to.deep.equal([{ count: 500n, first: 1n, last: 500n }]);
    await use.close();
  });

  it('hands each row of a dead relay to one of two relays that take at once, oldest first', async () => {
    for (let n = 0; n < 30; n += 1) await mine.claim(execution(`left ${n}`), n, free());
    await mine.handOver();
    await others.takeRowsOfOthersThan([], 10);
    const taken = (await others.unfinished(1_000, 500)).map((row) => Number(row.created_ms));
    expect(taken).to.deep.equal(Array.from({ length: 10 }, (_, n) => n));
    await Promise.all([mine.takeRowsOfOthersThan(['others']), others.takeRowsOfOthersThan(['mine'])]);
    expect((await mine.unfinished(1_000, 500)).length + (await others.unfinished(1_000, 500)).length).to.equal(30);
  });

  it('gives a task for one relay to one relay, until it leaves, dies or its lease ends', async () => {
    const live = async (until: Record<string, bigint>) => {
      await opened.run('DELETE FROM relays');
      const rows = Object.entries(until).map(([owner, alive_until_ms]) => ({ owner, alive_until_ms }));
      if (rows.length > 0) await opened.ledger.insertInto('relays').values(rows).execute();
    };
    await live({ mine: FAR_MS, others: FAR_MS });
    const [one, other] = [createLeadership(opened.ledger, 'mine'), createLeadership(opened.elsewhere, 'others')];
    expect([await one.leads('orphans'), await other.leads('orphans'), await one.leads('orphans')]).to.deep.equal([
      true,
      false,
      true,
    ]);
    expect(await other.leads('rents')).to.equal(true);
    await one.leave();
    expect([await other.leads('orphans'), await one.leads('orphans')]).to.deep.equal([true, false]);
    // It is alive, but did not renew in time.
    await opened.run('UPDATE leaderships SET until_ms = 1');
    expect([await one.leads('orphans'), await other.leads('orphans')]).to.deep.equal([true, false]);
    // It was killed, and has no lease left.
    await live({ others: FAR_MS });
    expect([await other.leads('orphans'), await one.leads('orphans')]).to.deep.equal([true, false]);
    // It was killed, and its lease has expired.
    await live({ mine: FAR_MS, others: 1n });
    expect([await one.leads('orphans'), await other.leads('orphans')]).to.deep.equal([true, false]);
    await live({});
  });

  it('passes a task for one relay to another when it fails', async () => {
    await opened.run('DELETE FROM relays', 'DELETE FROM leaderships');
    const alive = ['mine', 'others'].map((owner) => ({ owner, alive_until_ms: FAR_MS }));
    await opened.ledger.insertInto('relays').values(alive).execute();
    const [one, other] = [createLeadership(opened.ledger, 'mine'), createLeadership(opened.elsewhere, 'others')];
    let failed = 0;
    const adoptUnknown = async () => {
      failed += 1;
      throw new Error('the node is away');
    };
    const nothing = async () => undefined;
    const end = startRecovery({ recover: nothing, adoptUnknown, countRents: nothing }, one, createLog('silent'));
    try {
      await until('it has failed', async () => failed > 0);
      await until('the other one does it', () => other.leads('orphans'));
    } finally {
      end();
      await opened.run('DELETE FROM relays', 'DELETE FROM leaderships');
    }
  });

  it('recovers page by page, and does not read ended rows', async () => {
    for (let n = 0; n < 5; n += 1) await mine.claim(execution(`row ${n}`), 1, free());
    await mine.restUntil('row 1', 1_000);
    const idsOf = (rows: { execution_id: string }[]) => rows.map((row) => row.execution_id);
    const first = await mine.unfinished(10, 2);
    expect(idsOf(first)).to.deep.equal(['row 0', 'row 2']);
    expect(idsOf(await mine.unfinished(10, 9, first.at(-1)))).to.deep.equal(['row 3', 'row 4']);
    expect(idsOf(await mine.unfinished(1_000, 9))).to.have.length(5);
    // Another relay that takes the rows over recovers them at once.
    await others.takeRowsOfOthersThan([]);
    expect(idsOf(await others.unfinished(10, 9))).to.have.length(5);
  });

  it('replaces a row that says its open never landed when the record exists, and no other row', async () => {
    await refuse('void', 'service_unavailable');
    await dispatch('served');
    expect(await mine.adopt(execution('void'), TIMES, 2)).to.equal(true);
    expect(await mine.adopt(execution('served'), TIMES, 2)).to.equal(false);
    expect(await mine.get('void')).to.include({ state: 'parked', refund_at: 631n, lease_owner: null });
    expect((await mine.get('served'))?.state).to.equal('dispatched');
  });
});
