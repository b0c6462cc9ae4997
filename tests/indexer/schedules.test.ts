/** However the chain forks, the node lies and the process ends, the tables come to be what the chain says. */
import { expect } from 'chai';
import { type Recorded, recordHistory } from './schedule/record.ts';
import { hashUndisturbed, runSchedule } from './schedule/run.ts';

const SCHEDULES = 200;

describe('indexer, schedules of faults', function () {
  this.timeout(600_000);
  let history: Recorded[];
  const whole = new Map<number, string>();

  before(async () => {
    history = await recordHistory();
    for (const apart of [1, 6]) whole.set(apart, await hashUndisturbed(history, apart));
  });

  it('is recorded with failed transactions and logs that were cut', () => {
    expect(history.length).to.be.greaterThan(35);
    expect(history.filter(({ hasFailed }) => hasFailed)).to.have.length(2);
    expect(history.filter(({ logs }) => logs.includes('Log truncated'))).to.have.length(3);
    expect(whole.get(1)).to.not.equal(whole.get(6));
  });

  it(`ends with the same hash after each of ${SCHEDULES}`, async () => {
    const total = { crashes: 0, forks: 0, faults: 0 };
    const wrong: number[] = [];
    for (let seed = 1; seed <= SCHEDULES; seed += 1) {
      const run = await runSchedule(history, seed).catch((cause) => {
        throw new Error(`seed ${seed}: ${cause.message}`, { cause });
      });
      if (run.hash !== whole.get(run.slotsApart)) wrong.push(seed);
      for (const kind of ['crashes', 'forks', 'faults'] as const) total[kind] += run[kind];
    }
    expect(wrong, 'seeds that ended with other tables').to.deep.equal([]);
    for (const kind of ['crashes', 'forks', 'faults'] as const) expect(total[kind], kind).to.be.greaterThan(SCHEDULES);
  });
});
