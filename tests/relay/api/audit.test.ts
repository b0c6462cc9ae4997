/** The admin's audit log: actions of admin sessions, the private data they read, and the admin's transactions. */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { audited } from '../../../app/relay/access/audit.ts';
import { ADMIN } from '../../harness/edge/accounts.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, newExecutionId } from '../../harness/edge/rows.ts';
import { refusal, sessionsOf } from './sessions.ts';

const MINUTE_MS = 60_000;
const wallet = ADMIN.publicKey.toBase58();
const REASON = 'The rows were counted.';

describe('the audit log of the admin', () => {
  const world = useWorld();
  afterEach(async () => {
    await world.ledger.deleteFrom('admin_actions').execute();
    Object.assign(world.state, { nowMs: EPOCH * 1_000, chainAnswers: true });
  });
  const { signIn, signInByCookie } = sessionsOf(() => world);

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
      return { wallet, action, subject, outcome, begun_at: at, ended_at: at };
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
    const action = { wallet, action: 'disputes.putReason', subject } as const;
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
