/** The state of the relay's operation, as the admin sees it. */
import { expect } from 'chai';
import { ADMIN, CONFIG } from '../../harness/edge/accounts.ts';
import { startWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH, newAddress } from '../../harness/edge/rows.ts';
import { sessionsOf } from './sessions.ts';

describe('operation.state', () => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld();
  });
  afterEach(() => world.stop());
  const state = async () => (await sessionsOf(() => world).signIn(ADMIN)).call('operation.state');
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
      held: { escrow_usdc: 0, collateral_usdc: 0, forfeited_usdc: 0, owed_usdc: 0, unclaimed_usdc: 0 },
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
    await world.addJournal({ ...row, state: 'paid', deposit: newAddress() });
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
    for (const outcome of ['open', 'open', 'lapsed', 'upheld'] as const) {
      const status = outcome === 'upheld' ? 'dispute_upheld' : 'disputed';
      const execution_id = await world.addRecord({ ...execution, status });
      const owed = outcome === 'upheld' ? 200_000n : 0n;
      await world.addDispute({ ...execution, execution_id, outcome, owed });
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
    const held = { escrow_usdc: 0.07, collateral_usdc: 16, forfeited_usdc: 1.5, owed_usdc: 0.2, unclaimed_usdc: 0.3 };
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
    expect(counts).to.deep.include({ open_disputes: 2, latest });
  });

  it('reports the state of the ledger while the node does not answer', async () => {
    const other = newAddress();
    await world.addConfig(ADMIN.publicKey.toBase58(), [address, other]);
    world.state.chainAnswers = false;
    world.state.obstacles = ['ledger_unreconciled', 'opens_paused'];
    const told = await state();
    expect(told.problems).to.deep.equal(['chain_unreachable', 'index_behind', 'ledger_unreconciled', 'opens_paused']);
    expect(told).to.deep.include({ reconciled_at: null, opens_paused: true });
    expect(told.authorities).to.deep.equal([
      { address, lamports: 6_000_000_000, is_ours: true },
      { address: other, lamports: null, is_ours: false },
    ]);
  });
});
