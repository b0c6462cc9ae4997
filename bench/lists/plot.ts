/** The figures of lists as one small drawing for each line: sizes to the right, milliseconds up, both by powers of ten. */
import type { ListFigures } from '../lists.ts';

const WIDTH = 260;
const HEIGHT = 130;
const COLUMNS = 4;
const MARGIN = 28;
/** Milliseconds at the lower and the upper edge, as powers of ten. */
const [LOWEST, HIGHEST] = [-1, 4];

export function drawLists(all: ListFigures[]): string {
  const sizes = all.map(({ executions }) => Math.log10(executions));
  const [first, last] = [sizes[0] ?? 0, sizes.at(-1) ?? 1];
  const x = (size: number) => MARGIN + ((size - first) / (last - first || 1)) * (WIDTH - 2 * MARGIN);
  const y = (ms: number) => {
    const share = (Math.log10(ms) - LOWEST) / (HIGHEST - LOWEST);
    return HEIGHT - MARGIN - Math.min(Math.max(share, 0), 1) * (HEIGHT - 2 * MARGIN);
  };
  const line = (values: number[], color: string) => {
    const points = values.map((ms, at) => `${x(sizes[at] ?? 0).toFixed(1)},${y(ms).toFixed(1)}`).join(' ');
    return `<polyline points="${points}" fill="none" stroke="${color}" stroke-width="2"/>`;
  };
  const names = all[0]?.lines ?? [];
  const drawings = names.map(({ name, goal }, at) => {
    const figures = all.flatMap(({ lines }) => lines[at] ?? []);
    const [left, top] = [(at % COLUMNS) * WIDTH, Math.floor(at / COLUMNS) * HEIGHT];
    const marks = sizes.map((size) => text(x(size), HEIGHT - 12, `1e${size}`, 'middle'));
    return `<g transform="translate(${left},${top})">${text(MARGIN, 16, name, 'start')}
<path d="M${MARGIN},${y(goal).toFixed(1)}H${WIDTH - MARGIN}" stroke="#999" stroke-dasharray="4"/>
${text(MARGIN - 2, y(goal) + 3, String(goal), 'end')}${marks.join('')}
${line(
  figures.map(({ own }) => own.p50),
  '#1a7f5a',
)}${line(
  figures.map(({ own }) => own.p99),
  '#b4531a',
)}</g>`;
  });
  const height = Math.ceil(names.length / COLUMNS) * HEIGHT;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH * COLUMNS} ${height + 20}" font-family="sans-serif">
<rect width="100%" height="100%" fill="white"/>
${drawings.join('\n')}
${text(MARGIN, height + 12, 'Milliseconds in the relay by executions in the tables: p50 green, p99 brown, the goal for p99 dashed.', 'start')}
</svg>
`;
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="10" fill="#333" text-anchor="${anchor}">${escaped}</text>`;
}
