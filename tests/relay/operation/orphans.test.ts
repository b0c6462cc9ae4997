/** The search for open records that no row of the ledger follows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createJournal } from '../../../app/relay/ledger/journal.ts';
import { readLandedReturns, readUnknownOpen } from '../../../app/relay/ledger/unfinished.ts';
import { createRows, EPOCH, newExecutionId } from '../../harness/edge/rows.ts';
import { openTables, type Tables } from '../../harness/tables.ts';

describe('open records without a row', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orphans-'));
  let tables: Tables;
  before(async () => {
    tables = await openTables(folder);
  });
  after(async () => {
    await tables.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are those of void rows at any time, and others once no deployment serves them any more', async () => {
    const rows = createRows(tables.index.db, tables.ledger.db, { nowMs: EPOCH * 1_000 });
    const deadline = BigInt(EPOCH + 60);
    const found = { caller: 'wallet', listing: 'listing', status: 'open' as const, deadline };
    const add = async (state?: 'void' | 'dispatched') => {
      const execution_id = await rows.addRecord(found);
      if (state) await rows.addJournal({ execution_id, wallet: 'wallet', listing: 'listing', state });
      const record = tables.index.db.selectFrom('executions').select('record').where('execution_id', '=', execution_id);
      return (await record.executeTakeFirstOrThrow()).record;
    };
    const landedAfterAll = await add('void');
    const unknown = await add();
    await add('dispatched');
    await rows.addRecord({ ...found, status: 'refunded' });
    expect(await readUnknownOpen(tables.views.db, deadline - 1n)).to.deep.equal([landedAfterAll]);
    expect(await readUnknownOpen(tables.views.db, deadline)).to.have.members([landedAfterAll, unknown]);
    expect(await readUnknownOpen(tables.views.db)).to.have.members([landedAfterAll, unknown]);
  });

  it('are also those of returned deposits that paid for them: their rows are parked, and keep what can prove it', async () => {
    const rows = createRows(tables.index.db, tables.ledger.db, { nowMs: EPOCH * 1_000 });
    const terms = { wallet: 'payer', listing: 'listing', error_code: 'agent_paused', error_message: 'Sent back' };
    const add = async (state: 'returned' | 'returning', record: { isOurs: boolean; status?: 'refunded' } | null) => {
      const ended = { settled_at: BigInt(EPOCH), refund_state: 'done' as const };
      const execution_id = newExecutionId();
      const deposit = `deposit of ${execution_id}`;
      await rows.addJournal({ ...terms, ...ended, execution_id, state, deposit });
      await rows.addTransaction(execution_id, 'open', { signature: 'our open', outcome: 'expired' });
      const found = { execution_id, caller: 'payer', listing: 'listing', status: record?.status ?? ('open' as const) };
      if (record) await rows.addRecord({ ...found, deposit: record.isOurs ? deposit : null });
      return execution_id;
    };
    const landed = await add('returned', { isOurs: true });
    const landing = await add('returning', { isOurs: true });
    // Opened by the payer itself, refunded since, or never opened.
    await add('returned', { isOurs: false });
    await add('returned', { isOurs: true, status: 'refunded' });
    await add('returned', null);
    const found = await readLandedReturns(tables.views.db);
    expect(found.map((row) => row.execution_id)).to.have.members([landed, landing]);
    const journal = createJournal(tables.writes, tables.ledger.db, 'leader');
    for (const row of found) await journal.parkEnded(row);
    for (const id of [landed, landing]) {
      const row = (await journal.get(id))!;
      expect(row).to.include({ state: 'parked', lease_owner: null, refund_state: null, settled_at: null });
      expect(row).to.include({ deposit: `deposit of ${id}`, task: 'a task' });
      // It counted as expired, but it may have landed.
      expect(row.transactions.map(({ signature, outcome }) => [signature, outcome])).to.deep.equal([
        ['our open', null],
      ]);
      expect([row.error_code, row.error_message]).to.deep.equal([null, null]);
    }
    expect(await readLandedReturns(tables.views.db)).to.deep.equal([]);
  });
});
