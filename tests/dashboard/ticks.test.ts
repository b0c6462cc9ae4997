/** The grid lines of a chart: evenly spaced, whole numbers for counts, and up to at least the highest figure. */
import { expect } from 'chai';
import { splitsOf } from '../../app/dashboard/parts/ticks.ts';

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
