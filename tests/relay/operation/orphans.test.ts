/** The search for open records that no row of the ledger follows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readUnknownOpen } from '../../../app/relay/ledger/unfinished.ts';
import { createRows, EPOCH } from '../../harness/edge/rows.ts';
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
});
