/** Where events come from: executions, the chain, and warnings. Each gets one position. */
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { GroupCommit } from '../../../../app/database/groupCommit.ts';
import { followChain } from '../../../../app/relay/events/chain.ts';
import { createFeed } from '../../../../app/relay/events/feed.ts';
import { createWarnings } from '../../../../app/relay/events/warnings.ts';
import type { ClaimedCall } from '../../../../app/relay/execution/deps.ts';
import { dropOldEvents } from '../../../../app/relay/ledger/events.ts';
import { applyLate } from '../../../../indexer/apply/apply.ts';
import { noRows } from '../../../../indexer/apply/readings.ts';
import { CONFIG } from '../../../harness/edge/accounts.ts';
import { useWorld } from '../../../harness/edge/api.ts';
import { refreshFigures } from '../../../harness/edge/figures.ts';
import { newAddress, newExecutionId } from '../../../harness/edge/rows.ts';
import { until } from '../../../harness/edge/until.ts';
import { addCaller, eventsOf, move, readStream } from './streams.ts';

describe('events', () => {
  const world = useWorld();
  let wallet: string;
  let key: string;
  let listing: string;
  beforeEach(async () => {
    ({ wallet, key, listing } = await addCaller(world));
  });
  const begin = () => world.addJournal({ wallet, listing, state: 'accepted', opened_at: null });

  it('gives each event one position, in the order of each execution, however many relays number them', async () => {
    const { db, writes, close } = world.tables.openAgain();
    const other = createFeed({ ledger: db, writes, now: () => world.state.nowMs });
    const ids = await Promise.all(Array.from({ length: 12 }, begin));
    const moving = ids.map((id) => move(world, id, 'open_signed', 'open_confirmed', 'dispatched', 'settled'));
    let isMoved = false;
    const moved = Promise.all(moving).then(() => {
      isMoved = true;
    });
    while (!isMoved) {
      await Promise.all([world.feed.turn(), other.turn()]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await moved;
    await Promise.all([world.feed.turn(), other.turn()]);
    const events = world.ledger.selectFrom('events').select(['execution_id', 'type', 'position']);
    const rows = await events.where('wallet', '=', wallet).orderBy('position').execute();
    expect(rows.length).to.equal(36);
    expect(new Set(rows.map(({ position }) => position)).size).to.equal(36);
    for (const id of ids) {
      const types = rows.filter(({ execution_id }) => execution_id === id).map(({ type }) => type);
      expect(types).to.deep.equal(['execution.pending', 'execution.running', 'execution.completed']);
    }
    await close();
  });

  /** A creator with a listing, whose chain events a test adds and the relay follows. */
  async function addCreator(changes: Parameters<typeof world.addListing>[0] = {}) {
    const creator = newAddress();
    const own = await world.addListing({ creator, ...changes });
    const { views, writes } = world.tables;
    const limits = () => ({ ...CONFIG, exposureMultiple: 4 });
    const deps = {
      ...{ ledger: world.ledger, views: views.db, writes, limits, now: () => world.state.nowMs },
      agentHealth: world.deps.agentHealth,
    };
    const happen = (slot: bigint, name: string, fields: object) => {
      const data = JSON.stringify({ listing: own, ...fields });
      const row = { signature: newAddress(), event_index: 0n, slot, name, data };
      return world.index.insertInto('events').values(row).execute();
    };
    return { creator, own, settle: world.setProgress, happen, follow: () => followChain(deps) };
  }
  async function told(to: string) {
    const events = world.ledger.selectFrom('events').select(['type', 'data']).where('wallet', '=', to);
    return (await events.orderBy('id').execute()).map(({ type, data }) => ({ type, ...JSON.parse(data!) }));
  }

  it('informs both parties of a dispute, and a creator about its listings, once the chain is final', async () => {
    const { creator, own, settle, happen, follow } = await addCreator();
    const execution_id = newExecutionId();
    await world.addRecord({ caller: wallet, listing: own, execution_id });
    const executionId = execution_id.replaceAll('-', '');
    await happen(90n, 'ListingStatusChanged', { status: 1 });
    await settle(100n);
    await follow();
    await happen(101n, 'DisputeOpened', { executionId });
    await happen(102n, 'SigningKeyRotated', { signingKey: listing });
    const award = { upheld: true, amountToCaller: '250000', amountSlashed: '3000000' };
    const collateral = { deposited: '5000000', slashed: '3000000' };
    await happen(103n, 'DisputeResolved', { executionId, ...award, ...collateral, listingStatus: 1 });
    await happen(104n, 'ListingStatusChanged', { status: 0 });
    await settle(102n);
    expect(await follow()).to.equal(false);
    const none = { amount_to_caller_usdc: 0, amount_slashed_usdc: 0 };
    const dispute = { type: 'dispute.opened', execution_id, agent_id: own, outcome: 'open', ...none };
    expect(await told(wallet)).to.deep.equal([{ ...dispute, role: 'caller' }]);
    await settle(110n);
    await Promise.all([follow(), follow()]);
    const taken = { amount_to_caller_usdc: 0.25, amount_slashed_usdc: 3 };
    const end = { ...dispute, type: 'dispute.resolved', outcome: 'upheld', ...taken };
    expect(await told(wallet)).to.deep.equal([
      { ...dispute, role: 'caller' },
      { ...end, role: 'caller' },
    ]);
    expect(await told(creator)).to.deep.equal([
      { ...dispute, role: 'creator' },
      { type: 'agent.signing_key_changed', agent_id: own, signing_key: listing },
      { ...end, role: 'creator' },
      { type: 'agent.collateral_low', agent_id: own, collateral_usdc: 2 },
      { type: 'agent.paused', agent_id: own },
    ]);
    await world.feed.turn();
    const seen = eventsOf(await readStream(world, '/v1/events', key, { after: 'evt_0', count: 2 }));
    expect(seen.map(({ type }) => type)).to.deep.equal(['dispute.opened', 'dispute.resolved']);
  });

  it('warns a creator of collateral too low for price or open executions, before it stops the agent', async () => {
    // Its price needs 5 USDC. At most four times its collateral can be open in a dispute window.
    const collateral = { price: 1_000_000n, deposited: 5_000_000n };
    const { creator, own, settle, happen, follow } = await addCreator(collateral);
    await settle(200n);
    await follow();
    for (const [slot, exposure] of [15, 16, 17, 18, 1].entries())
      await happen(201n + BigInt(slot), 'ExecutionOpened', {
        executionId: newExecutionId().replaceAll('-', ''),
        price: '1000000',
        exposureOpened: `${exposure}000000`,
      });
    const upheld = { executionId: '0'.repeat(32), upheld: true, amountToCaller: '1', listingStatus: 0 };
    await happen(210n, 'DisputeResolved', { ...upheld, deposited: '7000000', slashed: '750000' });
    await happen(211n, 'DisputeResolved', { ...upheld, deposited: '7000000', slashed: '750001' });
    await happen(212n, 'DisputeResolved', { ...upheld, deposited: '7000000', slashed: '750001', listingStatus: 2 });
    await settle(220n);
    await follow();
    const low = { type: 'agent.collateral_low', agent_id: own };
    expect((await told(creator)).filter(({ type }) => type !== 'dispute.resolved')).to.deep.equal([
      { ...low, collateral_usdc: 5 },
      { ...low, collateral_usdc: 6.249999 },
    ]);
  });

  it('reports an event that the indexer applied late, once, behind or ahead of the relay', async () => {
    const { creator, own, settle, happen, follow } = await addCreator();
    const pauseLate = (slot: bigint) =>
      applyLate(world.index, {
        signature: newAddress(),
        slot,
        content: {
          kind: 'events',
          events: [{ name: 'ListingStatusChanged', data: { listing: new PublicKey(own), status: 1 } }],
          snapshot: noRows(),
        },
      });
    await settle(230n);
    await follow();
    await pauseLate(225n);
    await happen(231n, 'SigningKeyRotated', { signingKey: listing });
    expect(await follow()).to.equal(false);
    expect(await told(creator)).to.deep.equal([]);
    await settle(231n);
    await Promise.all([follow(), follow()]);
    const rotated = { type: 'agent.signing_key_changed', agent_id: own, signing_key: listing };
    const paused = { type: 'agent.paused', agent_id: own };
    expect(await told(creator)).to.deep.equal([rotated, paused]);
    await settle(235n);
    await pauseLate(233n);
    await follow();
    await settle(240n);
    await follow();
    expect(await told(creator)).to.deep.equal([rotated, paused, paused]);
  });

  it('reports every event of a slot that has more than one step takes', async () => {
    const { creator, settle, happen, follow } = await addCreator();
    await settle(250n);
    await follow();
    for (let pause = 0; pause < 600; pause += 1) await happen(251n, 'ListingStatusChanged', { status: 1 });
    await happen(252n, 'SigningKeyRotated', { signingKey: listing });
    await settle(260n);
    expect(await follow()).to.equal(true);
    expect(await follow()).to.equal(false);
    expect((await told(creator)).map(({ type }) => type)).to.deep.equal([
      ...new Array(600).fill('agent.paused'),
      'agent.signing_key_changed',
    ]);
  });

  it('informs a creator once when callers see its agent as failing, and again only after the mark had gone', async () => {
    const { creator, own, settle, happen, follow } = await addCreator();
    let slot = 300n;
    await settle(slot);
    await follow();
    /** Ends calls on the chain, and follows it with two relays. */
    const end = async (count: number, isPaid: boolean) => {
      slot += 1n;
      for (let call = 0; call < count; call += 1) {
        const refunded = { status: 'refunded', reason: 0n, creator_amount: 0n } as const;
        await world.addRecord({ caller: wallet, listing: own, ...(!isPaid && refunded) });
        await happen(slot, isPaid ? 'ExecutionSettled' : 'ExecutionRefunded', {});
      }
      await refreshFigures(world.index);
      await settle(slot);
      await Promise.all([follow(), follow()]);
      return told(creator);
    };
    const failing = (success_rate: number) => {
      return { type: 'agent.failing', agent_id: own, success_rate, success_rate_recent: null };
    };
    expect(await end(4, false)).to.deep.equal([]);
    expect(await end(1, false)).to.deep.equal([failing(0)]);
    expect(await end(1, false)).to.deep.equal([failing(0)]);
    expect(await end(5, true)).to.deep.equal([failing(0)]);
    expect(await end(1, false)).to.deep.equal([failing(0)]);
    // With half of its calls it has recovered.
    expect(await end(2, true)).to.deep.equal([failing(0)]);
    expect(await end(1, false)).to.deep.equal([failing(0), failing(7 / 15)]);
  });

  it('informs the creator of a proven agent whose last calls fail', async () => {
    const { creator, own, settle, happen, follow } = await addCreator();
    await settle(330n);
    await follow();
    for (let call = 0; call < 20; call += 1) await world.addRecord({ caller: wallet, listing: own });
    const ended = { listing: own, created_ms: BigInt(world.state.nowMs) };
    for (let call = 0; call < 3; call += 1)
      await world.addJournal({ wallet, ...ended, state: 'settled', execution_time_ms: 5n });
    for (const [number, caller] of [newAddress(), newAddress(), newAddress()].entries()) {
      await world.addJournal({ wallet: caller, ...ended, state: 'refunded', refund_reason: 0n });
      await happen(331n + BigInt(number), 'ExecutionRefunded', {});
    }
    await refreshFigures(world.index);
    await settle(340n);
    await follow();
    const rates = { success_rate: 1, success_rate_recent: 0.25 };
    expect(await told(creator)).to.deep.equal([{ type: 'agent.failing', agent_id: own, ...rates }]);
  });

  it('warns once for each crossing of a cap or of the gas balance, whichever relay notices it', async () => {
    const written: Promise<unknown>[] = [];
    const underLocks: GroupCommit['underLocks'] = (...write) => {
      const rows = world.tables.writes.underLocks(...write);
      written.push(rows);
      return rows;
    };
    const deps = { ledger: world.ledger, writes: { underLocks }, now: () => 1, log: world.deps.log };
    const relays = [createWarnings(deps), createWarnings(deps)];
    const period = { periodStart: 0n, periodSeconds: 100, periodMax: 1_000_000n };
    const total = { totalMax: 2n ** 64n - 1n, totalSpent: 0n };
    /** Notices a call in both relays, twice, and waits until `raised` warnings are stored. */
    const call = async (raised: number, spent: bigint, gasBalance: bigint, now = 10n) => {
      const grant = { ...period, ...total, periodSpent: spent };
      const claimed = { wallet, keyId: 'k', price: 100_000n, grant, now, gas: 10_000n, gasBalance };
      for (const notice of [...relays, ...relays]) notice(claimed as unknown as ClaimedCall);
      const marks = () => world.ledger.selectFrom('warnings').select('type').where('wallet', '=', wallet).execute();
      await until(`${raised} warnings are stored`, async () => (await marks()).length === raised);
      await Promise.all(written);
      return told(wallet);
    };
    expect(await call(0, 600_000n, 100_000n)).to.deep.equal([]);
    const near = { type: 'key.cap_near', key_id: 'k', limit: 'period', spent_usdc: 0.8, max_usdc: 1 };
    expect(await call(1, 700_000n, 100_000n)).to.deep.equal([near]);
    const low = { type: 'gas.low', gas_lamports: 99_999, calls_left: 9 };
    expect(await call(2, 800_000n, 99_999n)).to.deep.equal([near, low]);
    // A new period and more gas reset both warnings.
    expect(await call(0, 900_000n, 200_000n, 100n)).to.deep.equal([near, low]);
    // Both are raised at once, by both relays: their order is open.
    expect(await call(2, 900_000n, 0n, 10n)).to.have.deep.members([
      near,
      low,
      { ...near, spent_usdc: 1 },
      { type: 'gas.low', gas_lamports: 0, calls_left: 0 },
    ]);
  });

  it('never gives a position again, not even on a ledger that was restored from a backup', async () => {
    const positionOfLast = async () =>
      (await world.ledger.selectFrom('events').select('position').orderBy('id', 'desc').executeTakeFirstOrThrow())
        .position!;
    const backup = await world.ledger.selectFrom('event_feed').select('position').executeTakeFirstOrThrow();
    const id = await begin();
    await move(world, id, 'open_signed', 'open_confirmed');
    await world.feed.turn();
    const seen = await positionOfLast();
    await dropOldEvents(world.ledger, Date.now() + 1_000);
    await world.ledger.updateTable('event_feed').set(backup).execute();
    world.state.nowMs += 1;
    await move(world, id, 'dispatched');
    await world.feed.turn();
    expect((await positionOfLast()) > seen).to.equal(true);
  });

  it('deletes events after their retention time, and never reuses a position', async () => {
    const id = await begin();
    await move(world, id, 'open_signed', 'open_confirmed');
    await world.feed.turn();
    const feed = world.ledger.selectFrom('event_feed').select('position');
    const { position: before } = await feed.executeTakeFirstOrThrow();
    await dropOldEvents(world.ledger, Date.now() + 1_000);
    expect(await world.ledger.selectFrom('events').select('id').execute()).to.deep.equal([]);
    await move(world, id, 'dispatched');
    await world.feed.turn();
    const [event] = await world.ledger.selectFrom('events').select('position').execute();
    expect(event!.position).to.equal(before + 1n);
  });
});
