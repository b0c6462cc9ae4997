/** The plot of docs/measured.md, drawn from sample figures of the benchmark. */
import { expect } from 'chai';
import type { ListFigures } from '../../bench/lists.ts';
import { drawLists } from '../../bench/plot.ts';

const figures = (executions: number, p99: number, held_ms: number): ListFigures => ({
  ...{ executions, agents: executions / 10, ready_ms: 3_000, first_list_ms: 3_100, first_list_held_ms: 5, rss_mb: 200 },
  lines: [
    { name: 'quick', ms: { p50: 0.1, p99: 0.2 }, held_ms: 0.5 },
    { name: 'slow', ms: { p50: p99 / 2, p99 }, held_ms },
  ],
});

/** Centres of the dots of one line, from left to right. */
function dotsOf(svg: string, kind: 'slowest' | 'held'): { x: number; y: number }[] {
  const dots = svg.matchAll(new RegExp(`<circle class="${kind}" cx="([\\d.]+)" cy="([\\d.]+)"`, 'g'));
  return [...dots].map(([, x, y]) => ({ x: Number(x), y: Number(y) }));
}

describe('the drawing of lists by size', () => {
  const svg = drawLists([figures(1_000, 10, 1), figures(31_622.776, 50, 20), figures(1_000_000, 70, 30)]);

  it('shows the slowest list and the longest hold of each size against their goals', () => {
    const goals = [...svg.matchAll(/class="goal" points="[\d.]+,([\d.]+)/g)].map(([, y]) => Number(y));
    for (const [index, kind] of (['slowest', 'held'] as const).entries()) {
      const [low, atGoal, high] = dotsOf(svg, kind);
      expect(low!.y, kind).to.be.above(goals[index]!);
      expect(atGoal!.y, kind).to.equal(goals[index]!);
      expect(high!.y, kind).to.be.below(goals[index]!);
    }
    expect(svg).to.contain('>70<').and.to.contain('>1M<').and.not.to.contain('>0.2<');
  });

  it('spaces powers of ten evenly', () => {
    const [small, middle, large] = dotsOf(svg, 'slowest');
    expect(middle!.x).to.be.closeTo((small!.x + large!.x) / 2, 0.11);
  });

  it('refuses an empty list', () => {
    expect(() => drawLists([])).to.throw('no lists were measured');
  });
});
