/** A ledger that lacks calls: how it is noticed, and until when keys that it does not know are refused. */
import { expect } from 'chai';
import { createLostCalls, type LostCalls } from '../../../app/relay/calls/lostCalls.ts';
import type { ApiError } from '../../../app/relay/errors.ts';
import { startWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH, newAddress } from '../../harness/edge/rows.ts';

const KEY_ID = '1'.repeat(32);
/** The newest slot of the index, beyond the span that it has to know. */
const SLOT = 2_000_000n;
/** 48 hours, in slots of 200 ms. */
const SPAN_SLOTS = 864_000n;

describe('calls that the ledger lacks', () => {
  let world: World;
  let lost: LostCalls;
  let clock: bigint;
  const caller = newAddress();
  const listing = newAddress();

  beforeEach(async () => {
    world = await startWorld();
    clock = BigInt(EPOCH);
    start();
    await checked();
  });
  afterEach(() => world.stop());

  function start(): void {
    const { views, log } = world.deps;
    lost = createLostCalls({ views, clock: () => clock, now: () => world.state.nowMs, log });
  }
  /** The indexer looks now. */
  async function checked(): Promise<void> {
    await world.index.deleteFrom('progress').execute();
    await world.index
      .insertInto('progress')
      .values({ id: 1n, slot: SLOT, checked_at: BigInt(world.state.nowMs) })
      .execute();
  }
  function pass(seconds: number): void {
    clock += BigInt(seconds);
    world.state.nowMs += seconds * 1_000;
  }
  /** A record that a key opened a minute ago. */
  const addRecord = (changes: object = {}) =>
    world.addRecord({ caller, listing, key_id: KEY_ID, opened_slot: SLOT - 300n, open_index: 0n, ...changes });
  const refusal = async () => {
    const error: ApiError | null = await lost.requireKnown().then(
      () => null,
      (thrown) => thrown,
    );
    return error && [error.code, error.retryAfterSeconds];
  };

  it('are none in a ledger that has a row for each execution, and the ledger is compared once', async () => {
    const execution_id = await addRecord();
    await world.addJournal({ execution_id, wallet: caller, listing, state: 'settled' });
    expect(await refusal()).to.equal(null);
    expect(lost.mayLack()).to.equal(false);
    await addRecord();
    expect(await refusal()).to.equal(null);
  });

  it('are none of another deployment, of a wallet that opened itself, or older than two days', async () => {
    await world.addKey({ wallet: caller });
    await addRecord();
    await addRecord({ key_id: null });
    await addRecord({ key_id: null, deposit: newAddress() });
    const [{ key_id }] = (await world.ledger.selectFrom('api_keys').select('key_id').execute()) as [{ key_id: string }];
    await addRecord({ key_id, opened_at: BigInt(EPOCH - 172_801) });
    expect(await refusal()).to.equal(null);
  });

  for (const [what, changes] of [
    ['of any key, in a ledger without keys', {}],
    ['whose account alone was read', { opened_slot: null, open_index: null }],
  ] as const) {
    it(`are noticed: one ${what}`, async () => {
      await addRecord(changes);
      expect(await refusal()).to.deep.equal(['service_unavailable', 61]);
      expect(lost.mayLack()).to.equal(true);
    });
  }

  it('are noticed: one from a deposit of this deployment, and one whose row was made for its record', async () => {
    const rent_sponsor = newAddress();
    await world.addKey({ wallet: caller });
    await world.ledger.insertInto('lenders').values({ address: rent_sponsor }).execute();
    const execution_id = await addRecord({ key_id: null, deposit: newAddress(), rent_sponsor });
    await world.addJournal({ execution_id, wallet: caller, listing, state: 'parked', nonce: '' });
    expect(await refusal()).to.deep.equal(['service_unavailable', 61]);
  });

  it('block unknown keys until no open can land and the index has seen that time', async () => {
    await addRecord();
    expect(await refusal()).to.deep.equal(['service_unavailable', 61]);
    pass(40);
    await checked();
    expect(await refusal()).to.deep.equal(['service_unavailable', 21]);
    pass(20);
    await checked();
    expect(await refusal()).to.deep.equal(['service_unavailable', 1]);
    pass(1);
    expect(await refusal(), 'the index has not looked since').to.deep.equal(['service_unavailable', 2]);
    pass(1);
    await checked();
    expect(await refusal()).to.equal(null);
    expect(lost.mayLack()).to.equal(true);
    pass(172_800 - 63);
    expect(lost.mayLack()).to.equal(true);
    pass(1);
    expect(lost.mayLack()).to.equal(false);
    expect(await refusal(), 'the index is not needed any more').to.equal(null);
  });

  it('block unknown keys while the index lacks slots of the last two days', async () => {
    await addRecord();
    expect(await refusal()).to.deep.equal(['service_unavailable', 61]);
    pass(61);
    await checked();
    expect(await refusal()).to.deep.equal(['service_unavailable', 2]);
    pass(1);
    await checked();
    const from = SLOT - SPAN_SLOTS;
    await world.index.insertInto('pruned_slots').values({ first_slot: 0n, last_slot: from }).execute();
    expect(await refusal()).to.deep.equal(['service_unavailable', 600]);
    await world.index
      .updateTable('pruned_slots')
      .set({ last_slot: from - 1n })
      .execute();
    await world.index.insertInto('gaps').values({ signature: 'unread', slot: from, reason: 'version 9' }).execute();
    expect(await refusal()).to.deep.equal(['service_unavailable', 600]);
    await world.index.deleteFrom('gaps').execute();
    expect(await refusal()).to.equal(null);
  });

  it('are not decided by an index that is behind', async () => {
    pass(31);
    expect(await refusal()).to.deep.equal(['service_unavailable', 5]);
    await world.index.deleteFrom('progress').execute();
    expect(await refusal()).to.deep.equal(['service_unavailable', 5]);
    await checked();
    expect(await refusal()).to.equal(null);
  });
});
