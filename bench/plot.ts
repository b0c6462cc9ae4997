/** Draws the chart of docs/measured.md: the slowest list and the longest event-loop block by size, with goals. */
import { HOLD_GOAL_MS, LIST_GOAL_MS } from './figures.ts';
import type { ListFigures } from './lists.ts';

/** A number of executions, and the milliseconds measured with it. */
type Point = [size: number, ms: number];

interface Line {
  /** A class of STYLE. */
  kind: 'slowest' | 'held' | 'goal';
  name: string;
  points: Point[];
}

/** The width of a phone, so that the text has its full size there. */
const [WIDTH, HEIGHT] = [380, 240];
const PLOT = { left: 34, right: 22, top: 48, bottom: 30 };
const STYLE = `
text { font: 11px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600 } .paper { fill: #fff }
polyline { fill: none; stroke-width: 2 } .axis { stroke: #d0d7de } polyline.slowest { stroke: #b4531a } polyline.held { stroke: #1a7f5a }
polyline.goal { stroke: #6e7781; stroke-width: 1; stroke-dasharray: 4 3 }
text.slowest, circle.slowest { fill: #b4531a } text.held, circle.held { fill: #1a7f5a } text.goal { fill: #6e7781 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .paper { fill: #0d1117 } .axis { stroke: #30363d } polyline.slowest { stroke: #f0883e } polyline.held { stroke: #56d364 }
polyline.goal { stroke: #9ea7b3 }
text.slowest, circle.slowest { fill: #f0883e } text.held, circle.held { fill: #56d364 } text.goal { fill: #9ea7b3 }
}`;

/** The x axis has a logarithmic scale of executions, the y axis milliseconds from zero. Throws without figures. */
export function drawLists(lists: readonly ListFigures[]): string {
  if (lists.length === 0) throw new Error('no lists were measured');
  const pointsOf = (pick: (figures: ListFigures) => number) =>
    lists.map((figures): Point => [figures.executions, pick(figures)]);
  const lines: Line[] = [
    { kind: 'goal', name: `goal of p99: ${LIST_GOAL_MS}`, points: pointsOf(() => LIST_GOAL_MS) },
    { kind: 'goal', name: `goal of a hold: ${HOLD_GOAL_MS}`, points: pointsOf(() => HOLD_GOAL_MS) },
    {
      kind: 'held',
      name: 'longest hold of the event loop',
      points: pointsOf(({ lines }) => Math.max(...lines.map(({ held_ms }) => held_ms))),
    },
    {
      kind: 'slowest',
      name: 'slowest list, p99',
      points: pointsOf(({ lines }) => Math.max(...lines.map(({ ms }) => ms.p99))),
    },
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${2 * WIDTH}" role="img">
<title>Lists by executions in the tables, beside their goals</title>
<style>${STYLE}</style>
<rect class="paper" width="100%" height="100%"/>
${draw(lines)}
</svg>
`;
}

function draw(lines: readonly Line[]): string {
  const points = lines.flatMap((line) => line.points);
  const sizes = [...new Set(points.map(([size]) => size))];
  const [least, most] = [Math.log10(Math.min(...sizes)), Math.log10(Math.max(...sizes))];
  const highest = Math.max(...points.map(([, ms]) => ms)) * 1.1;
  const x = (size: number) =>
    PLOT.left + ((Math.log10(size) - least) / (most - least || 1)) * (WIDTH - PLOT.left - PLOT.right);
  const y = (ms: number) => HEIGHT - PLOT.bottom - (ms / highest) * (HEIGHT - PLOT.top - PLOT.bottom);
  const at = ([size, ms]: Point) => `${x(size).toFixed(1)},${y(ms).toFixed(1)}`;
  const nameOf = (name: string, kind: string, index: number) => text(kind, 10 + 150 * index, 34, 'start', name);
  return [
    text('title', 10, 16, 'start', 'Lists, searches and filters by executions in the tables, ms'),
    ...lines.filter(({ kind }) => kind !== 'goal').map(({ name, kind }, index) => nameOf(name, kind, 1 - index)),
    `<path class="axis" d="M${PLOT.left - 6},${y(0).toFixed(1)}H${WIDTH - PLOT.right + 6}"/>`,
    ...sizes.map((size) => text('', x(size), HEIGHT - 12, 'middle', nameOfSize(size))),
    ...lines.flatMap(({ kind, name, points }) => [
      `<polyline class="${kind}" points="${points.map(at).join(' ')}"/>`,
      ...(kind === 'goal'
        ? [text(kind, WIDTH - PLOT.right, y(points[0]![1]) - 4, 'end', name)]
        : points.flatMap(([size, ms]) => [
            `<circle class="${kind}" cx="${x(size).toFixed(1)}" cy="${y(ms).toFixed(1)}" r="2.5"/>`,
            text(kind, x(size), y(ms) - 6, 'middle', ms.toLocaleString('en', { maximumSignificantDigits: 2 })),
          ])),
    ]),
  ].join('\n');
}

function nameOfSize(size: number): string {
  return size >= 1e6 ? `${size / 1e6}M` : size >= 1e3 ? `${size / 1e3}k` : String(size);
}

function text(kind: string, x: number, y: number, anchor: 'start' | 'middle' | 'end', content: string): string {
  return `<text class="${kind}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${content}</text>`;
}
