/** Rents that the operator lent, on a real ledger. */
import { expect } from 'chai';
import { sql } from 'kysely';
import { FREE, free } from '../../harness/edge/funding.ts';
import { executionOf, type Journals, openJournals, SIGNED, TIMES } from '../../harness/edge/journals.ts';
import { until } from '../../harness/edge/until.ts';
import { onPostgres } from '../../harness/postgres.ts';

const idOf = (number: number) => `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`;

describe('lent rents', () => {
  let opened: Journals;
  let mine: Journals['mine'];
  before(async () => {
    opened = await openJournals();
    mine = opened.mine;
  });
  after(() => opened.close());
  beforeEach(() => opened.clear());

  it('counts rents that came back without a deadlock with another call', async function () {
    // SQLite has one writer.
    if (!onPostgres) this.skip();
    const ways = [{ ...FREE, recordRent: 100n, escrowRent: 7n }];
    const lend = async (number: number, listing: string) => {
      const changes = { listing, wallet: `wallet ${number}` };
      const row = await mine.claim(executionOf(idOf(number), changes), number, { ...free(), ways });
      await mine.openSigned(row, SIGNED, 60n);
      await mine.openConfirmed(row, TIMES, 1);
      await mine.refunding(row, SIGNED, { reason: 0, code: 'execution_failed', message: '', rebuilds: 0n });
      return row;
    };
    const ended = [await lend(1, 'one agent'), await lend(2, 'another agent')];
    const running = await lend(3, 'another agent');
    for (const row of ended) await mine.refunded(row, 2n);
    const areWaiting = (count: number) =>
      until(`${count} transactions wait`, async () => {
        const [{ n }] = await opened.run('SELECT count(*) AS n FROM pg_locks WHERE NOT granted');
        return n >= count;
      });
    // The sum is locked until both others wait.
    const both = await opened.ledger.transaction().execute(async (locking) => {
      await sql`UPDATE lent_sums SET lamports = lamports WHERE kind = 'keys'`.execute(locking);
      const counting = mine.rentReturned(ended.map((row) => row.execution_id));
      await areWaiting(1);
      const moving = mine.refunded(running, 2n);
      await areWaiting(2);
      return { ends: Promise.allSettled([counting, moving]) };
    });
    expect((await both.ends).map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled']);
  });
});
