/** The drawings of docs/measured.md, from figures as the bench prints them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { drawFigures, readFigures } from '../../bench/plot.ts';

describe('drawings of figures by size', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plot-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const fileOf = (name: string, content: object): string => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };
  const fills = [
    { executions: 1_000, per_second: 20_000 },
    { executions: 1_000_000, per_second: 5_000 },
  ];
  const index = { fills };

  it('put together what several files have, the last of each part', () => {
    const older = fileOf('older.json', {
      machine: {},
      index: { fills: [{ executions: 1_000, per_second: 1 }] },
      starts: null,
    });
    const starts = [{ executions: 1_000, ready_ms: 3_000, list_ms: 3_100, call_ms: 3_200 }];
    const figures = readFigures([older, fileOf('index.json', { index }), fileOf('starts.json', { starts })]);
    expect(figures.index).to.deep.equal(index);
    const drawn = drawFigures(figures);
    expect(drawn).to.contain('Indexed, a second').and.to.contain('Start to /ready, ms').and.to.contain('>3,000<');
    expect(drawn).not.to.contain('Agent by id');
  });

  it('stand over and under their goal as they should, at even distances for each power of ten', () => {
    const drawn = drawFigures({ index: { fills: [...fills, { executions: 31_622.776, per_second: 10_000 }] } });
    const [high, low, atGoal] = [...drawn.matchAll(/<circle class="dot" cx="([\d.]+)" cy="([\d.]+)"/g)].map(
      ([, x, y]) => {
        return { x: Number(x), y: Number(y) };
      },
    );
    const goal = Number(/class="goal" points="[\d.]+,([\d.]+)/.exec(drawn)?.[1]);
    expect(high?.y).to.be.below(goal);
    expect(low?.y).to.be.above(goal);
    expect(atGoal?.y).to.equal(goal);
    expect(atGoal?.x).to.be.closeTo(((high?.x ?? 0) + (low?.x ?? 0)) / 2, 0.11);
  });

  it('rejects: what no bench has printed, and nothing', () => {
    const other = fileOf('other.json', { index: { fills: [{ executions: '1000' }] } });
    expect(() => readFigures([other])).to.throw(`${other} is not what --json prints`);
    expect(() => drawFigures(readFigures([fileOf('none.json', { index: null })]))).to.throw('no figures by size');
  });
});
