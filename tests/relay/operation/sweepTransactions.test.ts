import { expect } from 'chai';
import { sql } from 'kysely';
import { createLeadership } from '../../../app/relay/ledger/leadership.ts';
import { createSweepTransactions, SWEEP } from '../../../app/relay/ledger/sweepTransactions.ts';
import { until } from '../../harness/edge/until.ts';
import { onPostgres } from '../../harness/postgres.ts';
import { useTables } from '../../harness/tables.ts';

describe('the transactions of the sweeper', () => {
  const tables = useTables({ each: true });
  const signed = (signature: string) => ({ bytes: Buffer.from(signature), signature, lastValidHeight: 7n });
  const relay = (owner: string, ledger = tables.ledger.db, writes = tables.writes) => ({
    ...createLeadership(ledger, owner),
    ...createSweepTransactions(writes, ledger, owner),
  });

  beforeEach(async () => {
    const rows = ['first', 'second'].map((owner) => ({ owner, alive_until_ms: 10n ** 15n }));
    await tables.ledger.db.insertInto('relays').values(rows).execute();
  });

  it('are stored by the relay that leads alone, several at a time, and known to its successor', async () => {
    const [first, second] = [relay('first'), relay('second')];
    expect(await first.store(signed('none leads'))).to.equal(false);
    expect([await first.leads(SWEEP), await second.leads(SWEEP)]).to.deep.equal([true, false]);
    expect(await second.store(signed('not the leader'))).to.equal(false);
    expect([await first.store(signed('one')), await first.store(signed('two'))]).to.deep.equal([true, true]);
    // The first relay is dead.
    await tables.ledger.db.deleteFrom('relays').where('owner', '=', 'first').execute();
    expect(await second.leads(SWEEP)).to.equal(true);
    expect(await first.store(signed('too late'))).to.equal(false);
    expect(await second.pending()).to.deep.equal([signed('one'), signed('two')]);
    await second.clear('one');
    await second.clear('one');
    expect(await second.store(signed('three'))).to.equal(true);
    expect(await second.pending()).to.deep.equal([signed('three'), signed('two')]);
  });

  it('wait for a relay that takes the lead, and are then refused', async function () {
    // SQLite has one writer.
    if (!onPostgres) this.skip();
    const first = relay('first');
    expect(await first.leads(SWEEP)).to.equal(true);
    const again = tables.openAgain();
    let stored: Promise<boolean> | null = null;
    await again.db.transaction().execute(async (taking) => {
      await taking.updateTable('leaderships').set({ owner: 'second' }).where('name', '=', SWEEP).execute();
      stored = first.store(signed('one'));
      await until('it waits for the lock', async () => {
        const { rows } = await sql`SELECT 1 FROM pg_locks WHERE NOT granted`.execute(taking);
        return rows.length > 0;
      });
    });
    expect(await stored).to.equal(false);
    expect(await first.pending()).to.deep.equal([]);
    await again.close();
  });
});
