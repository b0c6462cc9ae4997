import type { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { compareEnds } from '../../../app/relay/execution/recovery/restarted.ts';
import { createJournal } from '../../../app/relay/ledger/journal.ts';
import type { ExecutionColumns, ExecutionState } from '../../../app/relay/ledger/tables.ts';
import { createLog } from '../../../app/relay/log.ts';
import {
  accountDiscriminator,
  findExecution,
  PROGRAM_ID,
  RECORD_OFFSETS,
  RECORD_STATUS_BYTE,
  type RecordStatus,
} from '../../../app/sdk/program/program.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { createRows, EPOCH, newExecutionId } from '../../harness/edge/rows.ts';
import { useTables } from '../../harness/tables.ts';

const PRICE = 250_000n;

function recordAccount(status: RecordStatus) {
  const data = Buffer.alloc(1_024);
  data.set(accountDiscriminator('ExecutionRecord'));
  data[RECORD_OFFSETS.status] = RECORD_STATUS_BYTE[status];
  return { owner: PROGRAM_ID, data };
}

describe('after a restart of the cluster', () => {
  const tables = useTables();
  let journal: ReturnType<typeof createJournal>;
  let rows: ReturnType<typeof createRows>;
  /** The records on the chain by address, and its final height. */
  const records = new Map<string, ReturnType<typeof recordAccount>>();
  let height = 0n;
  before(async () => {
    journal = createJournal(tables.writes, tables.ledger.db, 'leader');
    rows = createRows(tables.index.db, tables.ledger.db, { nowMs: EPOCH * 1_000 });
  });
  beforeEach(async () => {
    records.clear();
    height = 0n;
    await tables.ledger.db.deleteFrom('executions').execute();
    await tables.ledger.db.deleteFrom('transactions').execute();
    await tables.ledger.db.deleteFrom('signed_transactions').execute();
    await tables.index.db.deleteFrom('executions').execute();
  });

  async function add(state: ExecutionState, record: RecordStatus | null, changes: Partial<ExecutionColumns> = {}) {
    const execution_id = newExecutionId();
    const terms = { wallet: 'wallet', listing: 'listing', lease_owner: 'another relay', opened_slot: 9n };
    await rows.addJournal({ execution_id, ...terms, state, ...changes });
    if (record) records.set(findExecution(parseUuid(execution_id)!).toBase58(), recordAccount(record));
    return execution_id;
  }
  const index = (execution_id: string, status: 'open' | 'refunded' | 'completed') =>
    rows.addRecord({ execution_id, caller: 'wallet', listing: 'listing', status });
  function compare() {
    const accountsOf = (keys: PublicKey[]) => keys.map((key) => records.get(key.toBase58()) ?? null);
    const read = async (keys: PublicKey[]) => ({ accounts: accountsOf(keys), now: BigInt(EPOCH + 50), slot: 5 });
    const chain = {
      readAgreed: read,
      readPast: async (keys: PublicKey[], last: bigint) => (height > last ? read(keys) : null),
      hasSucceeded: async () => true,
    } as unknown as Parameters<typeof compareEnds>[0]['chain'];
    return compareEnds({ chain, journal, views: tables.views.db }, createLog('silent'));
  }
  const stateOf = async (id: string) => (await journal.get(id))!.state;
  /** Base units that calls reserve in accounts that are older than their opens. */
  const reserved = async () => (await journal.heldOf('wallet', 'key', 1n)).held_wallet;

  it('pays a delivered call again whose settle was lost, and refunds one that no settle was signed for', async () => {
    const end = { settled_at: BigInt(EPOCH + 2), creator_amount: 247_500n, platform_amount: 2_500n };
    const delivered = await add('settled', 'open', { ...end, rebuilds: 5n });
    const unsigned = await add('settled', 'open', end);
    const refunded = await add('refunded', 'open', { settled_at: 5n, refund_state: 'done', error_code: 'x' });
    const kept = await add('settled', 'completed', end);
    for (const id of [delivered, kept]) await rows.addTransaction(id, 'settle', { outcome: 'landed' });
    for (const id of [delivered, unsigned, refunded]) await index(id, 'open');
    await index(kept, 'completed');
    expect(await compare()).to.equal(true);
    const cleared = { settled_at: null, creator_amount: null, platform_amount: null, lease_owner: null };
    const row = (await journal.get(delivered))!;
    expect(row).to.include({ state: 'verified', rebuilds: 0n, price: PRICE, ...cleared });
    const outcomesOf = async (id: string) => (await journal.get(id))!.transactions.map(({ outcome }) => outcome);
    expect([await outcomesOf(delivered), await outcomesOf(kept)]).to.deep.equal([[null], ['landed']]);
    for (const id of [unsigned, refunded]) {
      expect(await journal.get(id)).to.include({ state: 'parked', refund_state: null, error_code: null, ...cleared });
    }
    expect(await journal.get(kept)).to.include({ state: 'settled', ...end, lease_owner: 'another relay' });
  });

  it('takes back that a call was never opened, although its payer has paid for another call with the same payment id', async () => {
    const paid = { payment_id: 'the id', fingerprint: 'the same' };
    const opened = await add('void', 'open', { ...paid, deposit: 'one' });
    await rows.addTransaction(opened, 'open', { outcome: 'expired' });
    await index(opened, 'open');
    const other = await add('paid', null, { ...paid, deposit: 'other' });
    expect(await compare()).to.equal(true);
    expect(await journal.get(opened)).to.include({
      state: 'parked',
      deposit: 'one',
      payment_id: null,
      fingerprint: null,
    });
    expect(await journal.get(other)).to.include({ state: 'paid', ...paid });
  });

  it('ends opened calls that it lost, once no block can take their opens, and frees exactly their money', async () => {
    const opened = ['open_confirmed', 'dispatched', 'verified', 'refunding', 'parked'] as const;
    const lost: string[] = [];
    for (const state of opened) lost.push(await add(state, null));
    lost.push(await add('settled', null, { settled_at: BigInt(EPOCH + 2) }));
    // A later open was signed, which is the one that can land last.
    for (const id of lost) {
      await rows.addTransaction(id, 'open', { last_valid_height: 90n, outcome: 'expired' });
      await rows.addTransaction(id, 'open', { attempt: 1n, last_valid_height: 100n, outcome: 'landed' });
    }
    const adopted = await add('parked', null);
    // Their record is there, or the index knows their end.
    const present = await add('dispatched', 'open');
    const closed = await add('verified', null);
    await index(closed, 'completed');
    const before = await reserved();
    height = 100n;
    expect(await compare()).to.equal(false);
    for (const id of [...lost, adopted]) expect(await stateOf(id)).to.not.equal('void');
    expect(await reserved()).to.equal(before);
    height = 101n;
    expect(await compare()).to.equal(true);
    for (const id of [...lost, adopted]) {
      const row = (await journal.get(id))!;
      expect(row).to.include({ state: 'void', error_code: 'service_unavailable', lease_owner: null });
      expect(row).to.include({ settled_at: BigInt(EPOCH + 50), creator_amount: null, refund_state: null });
      for (const { outcome } of row.transactions) expect(outcome).to.equal('expired');
    }
    expect([await stateOf(present), await stateOf(closed)]).to.deep.equal(['dispatched', 'verified']);
    expect(before - (await reserved())).to.equal(BigInt(lost.length + 1) * PRICE);
    expect(await compare()).to.equal(true);
  });
});
