/**
 * The state of the relay's operation, as the admin sees it, and the admin's audit log: actions of admin sessions, the private
 * data they read, and the admin's transactions.
 */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { audited } from '../../../app/relay/access/audit.ts';
import { ADMIN, CONFIG } from '../../harness/edge/accounts.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, newAddress, newExecutionId } from '../../harness/edge/rows.ts';
import { refusal, sessionsOf } from './sessions.ts';

const MINUTE_MS = 60_000;
const REASON = 'The rows were counted.';

describe('operation.state', () => {
  const world = useWorld();
  const { signIn, signInByCookie } = sessionsOf(() => world);
  const state = async () => (await signIn(ADMIN)).call('operation.state');
  const address = CONFIG.admin.toBase58();
  const since = new Date((Math.floor(EPOCH / 86_400) - 6) * 86_400_000).toISOString();

  it('reports no problem when nothing is wrong', async () => {
    await world.setProgress(77n);
    const { uptime_seconds, ...rest } = await state();
    expect(uptime_seconds).to.be.within(0, Math.ceil(process.uptime()));
    const free = { lent: 0, lent_limit: 10_000_000_000, free: 10_000_000_000, due: 0, due_seconds: null };
    const none = { paid: 0, refunded: 0, paid_usdc: 0, fees_usdc: 0 };
    const unused = { unclaimed: 0, locked: null, archivable: null, archived: null, burnt_today: 0 };
    expect(rest).to.deep.equal({
      problems: [],
      authorities: [{ address, lamports: 7_000_000_000, is_ours: true }],
      nodes: [{ name: '1:node', state: 'up', slot: null }],
      runway_hours: 120.5,
      lamports_per_call: 10_000,
      lamports: { ...free, ...unused },
      held: {
        escrow_usdc: 0,
        deposits_usdc: 0,
        collateral_usdc: 0,
        forfeited_usdc: 0,
        owed_usdc: 0,
        unclaimed_usdc: 0,
      },
      listings: { active: 0, paused: 0, for_tests: 0, paused_agents: [] },
      executions_in_flight: 3,
      latest: { since, ...none, before: none, for_tests: 0, failed: 0, failing: 0, failing_agents: [] },
      oldest_unsettled: null,
      archive_waiting: null,
      webhooks_waiting: { count: 0, oldest_seconds: 0 },
      indexer: { slot: 77, lag_ms: 0 },
      reconciled_at: new Date(EPOCH * 1_000).toISOString(),
      opens_paused: false,
      open_disputes: 0,
      waiting_disputes: 0,
      x402: null,
    });
  });

  it('sums everything that is lent, burnt, waiting and disputed', async () => {
    const listing = await world.addListing({ deposited: 5_000_000n });
    const row = { wallet: newAddress(), listing };
    const lent = { record_lent: 2_000_000n, escrow_lent: 2_039_280n };
    const created_ms = BigInt(EPOCH * 1000 - 61_000);
    const oldest = await world.addJournal({ ...row, ...lent, state: 'dispatched', created_ms });
    await world.addJournal({ ...row, state: 'parked' });
    await world.addJournal({ ...row, state: 'paid', deposit: newAddress(), service_fee: 5_000n });
    await world.addJournal({ ...row, state: 'returned', deposit: newAddress() });
    const settled = { ...row, state: 'settled' as const, record_lent: 1_000_000n };
    const now = BigInt(EPOCH);
    await world.addJournal({ ...settled, settled_at: now - 100n });
    await world.addJournal({ ...settled, settled_at: now - 50n });
    await world.addJournal({ ...row, record_lent: 30n, escrow_lent: 4n, state: 'refunding', refund_state: 'waiting' });
    world.state.x402 = { feePayer: address, lamports: 90_000_000, minLamports: 10_000_000 };
    await world.addJournal({ ...row, state: 'void', lost_fees: 5_000n, lost_ms: BigInt(EPOCH * 1000) });
    const yesterday = BigInt(EPOCH * 1000 - 24 * 3_600_000);
    await world.addJournal({ ...row, state: 'void', lost_fees: 7_000n, lost_ms: yesterday });
    const execution = { caller: newAddress(), listing };
    const disputes: Awaited<ReturnType<typeof world.addDispute>>[] = [];
    // The admin no longer waits for the sides of the first one.
    const longAgo = { opened_at: now - 172_800n };
    for (const outcome of ['open', 'open', 'lapsed', 'upheld'] as const) {
      const status = outcome === 'upheld' ? 'dispute_upheld' : 'disputed';
      const execution_id = await world.addRecord({ ...execution, status });
      const owed = outcome === 'upheld' ? 200_000n : 0n;
      const opened = disputes.length === 0 && longAgo;
      disputes.push(await world.addDispute({ ...execution, execution_id, outcome, owed, ...opened }));
    }
    // Of the creator's fault, and of the caller's.
    const refund = { status: 'refunded', creator_amount: 0n, platform_amount: 0n } as const;
    for (const reason of [0n, 4n]) await world.addRecord({ ...execution, ...refund, reason });
    const sandbox = await world.addListing({ deposited: 0n }, { custom_tags: ['sandbox'] });
    await world.addRecord({ caller: newAddress(), listing: sandbox, ...refund, reason: 0n });
    // The first and the last day before the latest ones, and a day that counts nowhere.
    const first = BigInt(Date.parse(since) / 1_000);
    for (const settled_at of [first - 604_800n, first - 1n, first - 604_801n])
      await world.addRecord({ ...execution, settled_at });
    await world.addRecord({ ...execution, ...refund, reason: 0n, settled_at: first - 1n });
    await world.addRecord({ ...execution, status: 'open', price: 70_000n });
    await world.addUnclaimed({ source: newAddress(), amount: 300_000n });
    await world.addUnclaimed({ source: newAddress(), amount: 400_000n, claimed_at: 2n });
    const paused = await world.addListing({
      status: 'paused',
      deposited: 9_000_000n,
      slashed: 2_000_000n,
      forfeited: 1_500_000n,
    });
    await world.addListing({ status: 'delisted', deposited: 4_000_000n });
    await world.addListing({ status: 'delisted', deposited: 8_000_000n, collateral_returned: 1n });
    const records = { archivableRecords: 5, oldestArchivableSeconds: 4, isLate: true };
    world.state.swept = { locked: 9, archivable: 8, ...records, returned: 7, mismatchedTrees: 0 };
    const deliveries = [61, 5, -5].map((seconds, id) => {
      const due = BigInt(world.state.nowMs - seconds * 1_000);
      return { endpoint_id: 'we_1', position: BigInt(id + 1), state: 'pending', due_ms: due, created_ms: due } as never;
    });
    await world.ledger.insertInto('webhook_deliveries').values(deliveries).execute();
    const { lamports, oldest_unsettled, archive_waiting, webhooks_waiting, x402, ...counts } = await state();
    const held = {
      ...{ escrow_usdc: 0.07, deposits_usdc: 0.255, collateral_usdc: 16, forfeited_usdc: 1.5 },
      ...{ owed_usdc: 0.2, unclaimed_usdc: 0.3 },
    };
    expect(counts.held).to.deep.equal(held);
    expect(counts.listings).to.deep.equal({ active: 2, paused: 1, for_tests: 1, paused_agents: [paused] });
    expect(archive_waiting).to.deep.equal({ count: 5, oldest_seconds: 4, is_late: true });
    expect(webhooks_waiting).to.deep.equal({ count: 2, oldest_seconds: 61 });
    const payer = { fee_payer: address, lamports: 90_000_000, min_lamports: 10_000_000 };
    expect(x402).to.deep.equal({ ...payer, open_deposits: 1 });
    expect(lamports).to.deep.equal({
      ...{ lent: 6_039_314, lent_limit: 10_000_000_000, free: 9_993_960_686, due: 2_000_000, due_seconds: 4_160 },
      ...{ unclaimed: 34, locked: 9, archivable: 8, archived: 7, burnt_today: 5_000 },
    });
    expect(oldest_unsettled).to.deep.equal({ execution_id: oldest, state: 'dispatched', age_seconds: 61 });
    const ended = { paid: 4, refunded: 3, paid_usdc: 1, fees_usdc: 0.01 };
    const before = { paid: 2, refunded: 1, paid_usdc: 0.5, fees_usdc: 0.005 };
    const latest = { since, ...ended, before, for_tests: 1, failed: 2, failing: 1, failing_agents: [listing] };
    expect(counts).to.deep.include({ open_disputes: 2, waiting_disputes: 1, latest });

    const { execution_id, evidence_hash } = disputes[1]!;
    const received_ms = BigInt(world.state.nowMs);
    const evidence = { execution_id, evidence_hash, wallet: newAddress(), media_type: 'text/plain', received_ms };
    await world.ledger
      .insertInto('evidence')
      .values({ ...evidence, content: Buffer.from('it lied') })
      .execute();
    expect(await state()).to.include({ waiting_disputes: 1 });
    await world.ledger.insertInto('dispute_replies').values({ execution_id, reply: 'No.', received_ms }).execute();
    expect(await state()).to.include({ open_disputes: 2, waiting_disputes: 0 });
  });

  it('compares what is held with the chain when asked, and fails while the node does not answer', async () => {
    const { call } = await signIn(ADMIN);
    const shown = { escrow: 70_000n, deposits: 255_000n, collateral: 17_700_001n, unclaimed: 300_000n };
    Object.assign(world.state, { held: { ...shown, rent: 1_000_000n, gas: 12_000_000n } });
    expect(await call('operation.held')).to.deep.equal({
      usdc: [
        { what: 'escrow', known_usdc: 0.07, chain_usdc: 0.07 },
        { what: 'deposits', known_usdc: 0.255, chain_usdc: 0.255 },
        { what: 'collateral', known_usdc: 17.7, chain_usdc: 17.700001 },
        { what: 'unclaimed', known_usdc: 0.3, chain_usdc: 0.3 },
      ],
      // Of calls that are opened: one that is dispatched, two that are settled, and one whose refund waits.
      rent: { known: 6_039_314, chain: 1_000_000 },
      gas_balances: { lamports: 12_000_000, wallets: 0 },
    });
    world.state.chainAnswers = false;
    expect((await refusal(call('operation.held'))).code).to.equal('service_unavailable');
    world.state.chainAnswers = true;
  });

  it('reports the state of the ledger while the node does not answer', async () => {
    const other = newAddress();
    await world.addConfig(ADMIN.publicKey.toBase58(), [address, other]);
    world.state.chainAnswers = false;
    world.state.obstacles = ['ledger_unreconciled', 'opens_paused'];
    // The indexer has not checked the chain for longer than 30 s.
    world.state.nowMs += 30_001;
    const told = await state();
    expect(told.problems).to.deep.equal(['chain_unreachable', 'index_behind', 'ledger_unreconciled', 'opens_paused']);
    expect(told).to.deep.include({ reconciled_at: null, opens_paused: true });
    expect(told.authorities).to.deep.equal([
      { address, lamports: 6_000_000_000, is_ours: true },
      { address: other, lamports: null, is_ours: false },
    ]);
  });

  describe('the audit log of the admin', () => {
    beforeEach(async () => {
      await world.ledger.deleteFrom('admin_actions').execute();
      Object.assign(world.state, { nowMs: EPOCH * 1_000, chainAnswers: true });
    });

    async function addDisputed() {
      const [caller, creator] = [Keypair.generate(), Keypair.generate()];
      const parties = { caller: caller.publicKey.toBase58(), creator: creator.publicKey.toBase58() };
      const listing = await world.addListing({ creator: parties.creator });
      const execution_id = await world.addRecord({ caller: parties.caller, listing, status: 'disputed' });
      await world.addDispute({ execution_id, caller: parties.caller, listing });
      return { caller, creator, execution_id };
    }
    const pass = (ms: number) => {
      world.state.nowMs += ms;
    };
    const rows = async () => {
      const actions = world.ledger.selectFrom('admin_actions').select(['action', 'subject', 'outcome']);
      return (await actions.orderBy('begun_ms').execute()).map((row) => [row.action, row.subject, row.outcome]);
    };

    it('has sign-ins, readings and decisions of the admin, newest first, and nothing of other parties', async () => {
      const { caller, creator, execution_id } = await addDisputed();
      for (const party of [caller, creator]) await (await signIn(party)).call('disputes.case', { execution_id });
      expect(await rows()).to.deep.equal([]);
      const admin = await signIn(ADMIN);
      pass(1);
      await admin.call('disputes.case', { execution_id });
      pass(1);
      expect(await refusal(admin.call('disputes.evidence', { execution_id }))).to.include({ code: 'not_found' });
      pass(1);
      await admin.call('disputes.putReason', { execution_id, reason: REASON });
      pass(1);
      await admin.call('disputes.queue', { outcome: 'open' });
      pass(1);
      await signInByCookie(ADMIN);

      const { actions, total } = await admin.call('operation.actions');
      const expected = [
        ['auth.verify', '127.0.0.1', 'done'],
        ['disputes.case', execution_id, 'done'],
        ['disputes.evidence', execution_id, 'not_found'],
        ['disputes.putReason', execution_id, 'done'],
        ['disputes.queue', 'open', 'done'],
        ['auth.signIn', '127.0.0.1', 'done'],
      ].map(([action, subject, outcome], index) => {
        const at = new Date(EPOCH * 1_000 + index).toISOString();
        return { wallet: address, action, subject, outcome, begun_at: at, ended_at: at };
      });
      expect(actions.map(({ action_id, ...action }) => action)).to.deep.equal(expected.reverse());
      expect([total, new Set(actions.map(({ action_id }) => action_id)).size]).to.deep.equal([6, 6]);
      expect(JSON.stringify(actions)).to.not.include(REASON);
      expect(await admin.call('operation.actions', { limit: 2, offset: 1 })).to.deep.equal({
        actions: actions.slice(1, 3),
        total: 6,
      });
      const reads = ['disputes.queue', 'disputes.evidence', 'disputes.case'];
      for (const only of [true, false]) {
        const found = await admin.call('operation.actions', { reads: only });
        const matching = actions.filter(({ action }) => reads.includes(action) === only);
        expect(found).to.deep.equal({ actions: matching, total: 3 });
      }
      expect(await refusal((await signIn(caller)).call('operation.actions'))).to.include({ code: 'not_admin' });
    });

    it('has one row for repeated readings within ten minutes, at the last one, and one for each decision', async () => {
      const { execution_id } = await addDisputed();
      const other = await addDisputed();
      const admin = await signIn(ADMIN);
      const read = (id: string) => admin.call('disputes.case', { execution_id: id });
      for (const id of [execution_id, other.execution_id, execution_id]) {
        pass(1);
        await read(id);
      }
      const { actions } = await admin.call('operation.actions', { limit: 1 });
      const [first, last] = [1, 3].map((ms) => new Date(EPOCH * 1_000 + ms).toISOString());
      expect(actions[0]).to.include({ subject: execution_id, begun_at: first, ended_at: last });
      pass(10 * MINUTE_MS);
      await read(execution_id);
      for (let times = 0; times < 2; times += 1) {
        pass(1);
        await admin.call('disputes.putReason', { execution_id, reason: REASON });
      }
      expect((await rows()).slice(1)).to.deep.equal([
        ['disputes.case', execution_id, 'done'],
        ['disputes.case', other.execution_id, 'done'],
        ['disputes.case', execution_id, 'done'],
        ['disputes.putReason', execution_id, 'done'],
        ['disputes.putReason', execution_id, 'done'],
      ]);
    });

    it('has the row before the action, keeps it if the process stops, and refuses an action that it cannot log', async () => {
      const subject = newExecutionId();
      const action = { wallet: address, action: 'disputes.putReason', subject } as const;
      let stop = () => {};
      const begun = new Promise<void>((resolve) => {
        void audited(world.deps, action, () => {
          resolve();
          return new Promise((_, reject) => (stop = () => reject(new Error('a secret'))));
        }).catch(() => undefined);
      });
      await begun;
      expect(await rows()).to.deep.equal([['disputes.putReason', subject, null]]);
      stop();
      const admin = await signIn(ADMIN);
      expect(await rows()).to.deep.include(['disputes.putReason', subject, 'internal_error']);

      const { execution_id } = await addDisputed();
      await world.ledger.deleteFrom('dispute_reasons').execute();
      const { schema } = world.ledger;
      await schema.alterTable('admin_actions').renameTo('elsewhere').execute();
      await refusal(admin.call('disputes.putReason', { execution_id, reason: REASON }));
      await refusal(admin.call('disputes.case', { execution_id }));
      await schema.alterTable('elsewhere').renameTo('admin_actions').execute();
      expect(await world.ledger.selectFrom('dispute_reasons').selectAll().execute()).to.deep.equal([]);
    });

    it('has the transactions of admin and guardian from the index, newest first, with their times', async () => {
      const event = (slot: number, name: string, data: object, index = 0) => {
        const at = { slot: BigInt(slot), signature: `signature ${slot}`, event_index: BigInt(index) };
        return { ...at, name, data: JSON.stringify(data) };
      };
      const stored = [
        event(1, 'ConfigUpdated', { settings: { feeBps: 100 } }),
        event(2, 'ExecutionOpened', {}),
        event(3, 'ChangeProposed', { changeId: '1' }),
        event(3, 'ChangeCancelled', { authority: 'guardian' }, 1),
        event(4, 'DisputeResolved', {}),
      ];
      await world.index.insertInto('events').values(stored).execute();
      const admin = await signIn(ADMIN);
      const { events, total } = await admin.call('operation.events');
      expect(events.map(({ slot, event: name }) => [slot, name])).to.deep.equal([
        [4, 'DisputeResolved'],
        [3, 'ChangeCancelled'],
        [3, 'ChangeProposed'],
        [1, 'ConfigUpdated'],
      ]);
      expect(events[1]).to.deep.equal({
        slot: 3,
        at: new Date((EPOCH + 3) * 1_000).toISOString(),
        signature: 'signature 3',
        event_index: 1,
        event: 'ChangeCancelled',
        data: { authority: 'guardian' },
      });
      expect(total).to.equal(4);
      world.state.chainAnswers = false;
      const page = await admin.call('operation.events', { limit: 1, offset: 3 });
      expect(page.events[0]).to.include({ event: 'ConfigUpdated', at: null });
    });
  });
});
