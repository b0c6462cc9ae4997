/**
 * Figures by size as one SVG of small drawings, each with its goal: executions to the right by powers of ten, what was
 * measured up from zero. Drawn from what `--json` has printed, so that figures of a quiet machine can be drawn on any.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const Spread = z.object({ p50: z.number(), p99: z.number() });
const rowsOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.array(z.object({ executions: z.number().positive(), ...shape }));

/** What is drawn of the figures that the bench prints as JSON; parts that were not measured are null. */
const Figures = z.object({
  lists: rowsOf({
    start_held_ms: z.number(),
    lines: z.array(z.object({ name: z.string(), own: Spread, held_ms: z.number() })),
  }).nullish(),
  index: z.object({ fills: rowsOf({ per_second: z.number() }) }).nullish(),
  starts: rowsOf({ ready_ms: z.number(), list_ms: z.number() }).nullish(),
});
type Figures = z.infer<typeof Figures>;
type ListsOfSize = NonNullable<Figures['lists']>[number];

/** Executions, and what was measured with so many. */
type Point = [size: number, value: number];

interface Drawing {
  title: string;
  unit: string;
  main: { name: string; points: Point[] };
  other?: { name: string; points: Point[] };
  goal: { name: string; points: Point[] };
}

/** Files as `--json` wrote them, put together; of a part that several have, the last counts. Throws where none has any. */
export function readFigures(files: readonly string[]): Figures {
  const all: Figures = {};
  for (const file of files) {
    const read = Figures.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (!read.success) throw new Error(`${file} is not what --json prints: ${z.prettifyError(read.error)}`);
    for (const [part, figures] of Object.entries(read.data)) if (figures) Object.assign(all, { [part]: figures });
  }
  return all;
}

/** Throws where there is nothing to draw. */
export function drawFigures({ lists, index, starts }: Figures): string {
  const drawings = [
    ...(lists ? drawingsOfLists(lists) : []),
    ...(index ? [drawingOf('Indexed', 'a second', index.fills, 'per_second', '≥ 10,000', 10_000)] : []),
    ...(starts
      ? [
          {
            ...drawingOf('Start to /ready', 'ms', starts, 'ready_ms', '≤ 5,000', 5_000),
            other: { name: 'list', points: starts.map((at): Point => [at.executions, at.list_ms]) },
          },
        ]
      : []),
  ];
  if (drawings.length === 0) throw new Error('There are no figures by size: measure lists, index or starts');
  return svg(drawings);
}

function drawingsOfLists(lists: readonly ListsOfSize[]): Drawing[] {
  /** The worst of the lines with such names. */
  const worst = (names: RegExp, share: 'p50' | 'p99') =>
    lists.map(({ executions, lines }): Point => {
      const values = lines.filter(({ name }) => names.test(name)).map(({ own }) => own[share]);
      if (values.length === 0) throw new Error(`No line of the lists is named like ${names}`);
      return [executions, Math.max(...values)];
    });
  const constant = (value: number) => lists.map(({ executions }): Point => [executions, value]);
  const drawing = (title: string, names: RegExp, goal: number): Drawing => ({
    title,
    unit: 'ms',
    main: { name: 'p99', points: worst(names, 'p99') },
    other: { name: 'median', points: worst(names, 'p50') },
    goal: { name: `≤ ${goal}`, points: constant(goal) },
  });
  const first = /^agents, page 1/;
  const deep = /^agents, the same from the middle/;
  return [
    drawing('Agents: any filter', /^agents, (by|a |verified|page 1)/, 3),
    {
      title: 'Agents: deep page',
      unit: 'ms',
      main: { name: 'p99', points: worst(deep, 'p99') },
      other: { name: 'page 1', points: worst(first, 'p99') },
      goal: { name: '3 x page 1', points: worst(first, 'p99').map(([size, ms]): Point => [size, 3 * ms]) },
    },
    drawing('Agent by id', /^agent by id/, 1),
    drawing("A wallet's list", /^wallet, /, 5),
    drawing('POST /v1/metadata', /^POST/, 5),
    {
      title: 'Longest hold by these',
      unit: 'ms',
      main: {
        name: 'held',
        points: lists.map(({ executions, lines, start_held_ms }) => [
          executions,
          Math.max(start_held_ms, ...lines.map(({ held_ms }) => held_ms)),
        ]),
      },
      goal: { name: '≤ 20', points: constant(20) },
    },
  ];
}

function drawingOf<Name extends string, Row extends { executions: number } & Record<Name, number>>(
  title: string,
  unit: string,
  rows: readonly Row[],
  name: Name,
  goalName: string,
  goal: number,
): Drawing {
  return {
    title,
    unit,
    main: { name: 'measured', points: rows.map((row): Point => [row.executions, row[name]]) },
    goal: { name: goalName, points: rows.map((row): Point => [row.executions, goal]) },
  };
}

/** Two beside each other are as wide as a phone, so that what is written is as large as text. */
const WIDTH = 190;
const HEIGHT = 150;
const COLUMNS = 2;
const PLOT = { left: 16, right: 18, top: 34, bottom: 34 };
const STYLE = `
text { font: 10px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600; font-size: 11px } .small { font-size: 9px }
.paper { fill: #fff } .main, .other, .goal { fill: none; stroke-width: 2 } .main { stroke: #b4531a } .other { stroke: #1a7f5a }
.goal { stroke: #6e7781; stroke-width: 1; stroke-dasharray: 4 3 } .axis { stroke: #d0d7de } .dot { fill: #b4531a }
.of-main { fill: #b4531a } .of-other { fill: #1a7f5a } .of-goal { fill: #6e7781 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .paper { fill: #0d1117 } .main { stroke: #f0883e } .other { stroke: #56d364 } .goal { stroke: #9ea7b3 }
.axis { stroke: #30363d } .dot, .of-main { fill: #f0883e } .of-other { fill: #56d364 } .of-goal { fill: #9ea7b3 }
}`;

function svg(drawings: readonly Drawing[]): string {
  const height = Math.ceil(drawings.length / COLUMNS) * HEIGHT;
  const placed = drawings.map((drawing, at) => {
    const [left, top] = [(at % COLUMNS) * WIDTH, Math.floor(at / COLUMNS) * HEIGHT];
    return `<g transform="translate(${left},${top})">\n${draw(drawing)}\n</g>`;
  });
  const width = WIDTH * COLUMNS;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${2 * width}" role="img">
<title>What was measured by executions in the tables, beside its goals</title>
<style>${STYLE}</style>
<rect class="paper" width="100%" height="100%"/>
${placed.join('\n')}
</svg>
`;
}

function draw({ title, unit, main, other, goal }: Drawing): string {
  const lines = [main, other, goal].flatMap((line) => line?.points ?? []);
  const sizes = lines.map(([size]) => Math.log10(size));
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const highest = Math.max(...lines.map(([, value]) => value)) * 1.1 || 1;
  const x = (size: number) =>
    PLOT.left + ((Math.log10(size) - least) / (most - least || 1)) * (WIDTH - PLOT.left - PLOT.right);
  const y = (value: number) => HEIGHT - PLOT.bottom - (value / highest) * (HEIGHT - PLOT.top - PLOT.bottom);
  const line = (kind: string, points: readonly Point[]) =>
    `<polyline class="${kind}" points="${points.map(([size, value]) => `${fixed(x(size))},${fixed(y(value))}`).join(' ')}"/>`;
  const ground = fixed(y(0));
  const names = [
    `<tspan class="of-main">${escapeText(main.name)}</tspan>`,
    ...(other ? [`<tspan class="of-other">${escapeText(other.name)}</tspan>`] : []),
    `<tspan class="of-goal">goal: ${escapeText(goal.name)}</tspan>`,
  ];
  return [
    text('title', PLOT.left - 6, 14, 'start', escapeText(`${title}, ${unit}`)),
    text('small', PLOT.left - 6, 26, 'start', names.join(' · ')),
    `<path class="axis" d="M${PLOT.left - 6},${ground}H${WIDTH - PLOT.right + 6}"/>`,
    line('goal', goal.points),
    ...(other ? [line('other', other.points)] : []),
    line('main', main.points),
    ...main.points.flatMap(([size, value]) => [
      `<circle class="dot" cx="${fixed(x(size))}" cy="${fixed(y(value))}" r="2.5"/>`,
      text('small of-main', x(size), HEIGHT - 8, 'middle', value.toLocaleString('en', { maximumSignificantDigits: 3 })),
      text('small', x(size), HEIGHT - 20, 'middle', nameOfSize(size)),
    ]),
  ].join('\n');
}

function nameOfSize(size: number): string {
  return size >= 1e6 ? `${size / 1e6}M` : size >= 1e3 ? `${size / 1e3}k` : String(size);
}

const fixed = (value: number): string => value.toFixed(1);

const escapeText = (content: string): string => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function text(kind: string, x: number, y: number, anchor: 'start' | 'middle', content: string): string {
  return `<text class="${kind}" x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}">${content}</text>`;
}
