/** However the chain forks, the node lies and the process crashes, the tables end up equal to the chain. */
import { expect } from 'chai';
import { onPostgres } from '../harness/postgres.ts';
import { type Recorded, recordHistory } from './schedule/record.ts';
import { runSchedules } from './schedule/run.ts';

/** Number of schedules. `indexer-postgres` sets more by SCHEDULES, and `npm run chaos -- index` plays any number. */
const COUNT = Number(process.env.SCHEDULES ?? 10);

describe('indexer, schedules of faults', function () {
  this.timeout(900_000);
  let history: Recorded[];

  before(async () => {
    history = await recordHistory();
  });

  it('are recorded with failed transactions and truncated logs', () => {
    expect(history.length).to.be.greaterThan(35);
    expect(history.filter(({ hasFailed }) => hasFailed)).to.have.length(2);
    expect(history.filter(({ logs }) => logs.includes('Log truncated'))).to.have.length(3);
  });

  it(`all end with the same hash (${COUNT} schedules)`, async () => {
    const database = onPostgres ? 'postgres' : 'sqlite';
    const { whole, wrong, ...total } = await runSchedules(history, { database, first: 1, count: COUNT });
    expect(wrong, 'seeds that ended with other tables').to.deep.equal([]);
    expect(whole.get(1)!.here).to.not.equal(whole.get(6)!.here);
    for (const { here, sqlite } of whole.values()) expect(here, 'on the other database').to.equal(sqlite);
    for (const kind of ['crashes', 'forks', 'faults'] as const) expect(total[kind], kind).to.be.greaterThan(COUNT);
  });
});
