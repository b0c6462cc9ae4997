/** The grid lines of a chart: evenly spaced, whole numbers for counts, and up to at least the highest figure; and its days. */
import { expect } from 'chai';
import { labelledDays, splitsOf } from '../../app/dashboard/parts/ticks.ts';

describe('the grid lines of a chart', () => {
  it('are even from zero to at least the highest figure, and whole for counts', () => {
    expect(splitsOf(4, true)).to.deep.equal([0, 1, 2, 3, 4]);
    for (const most of [1, 2, 3, 4, 5, 7, 10, 11, 99, 1_000, 12_345]) {
      const lines = splitsOf(most, true);
      const step = lines[1]!;
      expect(lines, `${most}`).to.deep.equal(lines.map((_, index) => index * step));
      expect(lines.every(Number.isInteger), `${most}`).to.equal(true);
      expect(lines.at(-1), `${most}`).to.be.at.least(most);
      expect(lines.length, `${most}`).to.be.within(2, 6);
    }
    for (const most of [0.0495, 0.3, 2.5]) expect(splitsOf(most, false).at(-1)).to.be.at.least(most - 1e-9);
  });
});

describe('the days with a label', () => {
  it('are evenly spaced, fit the width, and always include the last day', () => {
    expect(labelledDays(30, 400, 64)).to.deep.equal([4, 9, 14, 19, 24, 29]);
    expect(labelledDays(7, 1_000, 64)).to.deep.equal([0, 1, 2, 3, 4, 5, 6]);
    for (const [count, width] of [
      [1, 300],
      [7, 250],
      [30, 900],
      [90, 280],
      [90, 0],
    ] as const) {
      const days = labelledDays(count, width, 64);
      expect(days.at(-1)).to.equal(count - 1);
      expect(days[0]).to.be.at.least(0);
      expect(days.length * 64).to.be.at.most(Math.max(width, 64) + 64);
    }
  });
});
