/** Draws charts with uPlot, which is loaded with the first chart. Colours follow the page's theme. */
import 'uplot/dist/uPlot.min.css';
import uPlot from 'uplot';
import { type ChartSeries, DAY_SECONDS, type DailyFigures, nameOfDay } from './days.ts';

const HEIGHT = 220;
const AXIS_HEIGHT = 28;
const FONT = '11px "Inter Variable", system-ui, sans-serif';
/** Space beside the labels of the vertical axis. */
const AXIS_GAP = 8;
/** Steps between the labels of days, and the width of one with the space around it. */
const DAY_STEPS = [1, 2, 5, 7, 14, 30].map((days) => days * DAY_SECONDS);
const DAY_SPACE = 64;
/** Steps between the lines of whole numbers. */
const WHOLE_STEPS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
const LINE_SPACE = 44;
/** Half of the last day's label. */
const RIGHT = 18;
/** Space above the highest line. */
const HEADROOM = 1.05;

/** A colour for the canvas, computed from a CSS variable. */
function resolve(host: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--color-${name})`;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Adds each series to those before it. */
function stack(series: readonly ChartSeries[]): (number | null)[][] {
  const sums: number[] = [];
  return series.map(({ values }) =>
    values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + (value ?? 0);
      return sums[index] ?? 0;
    }),
  );
}

/** The width of the vertical axis, which its longest label decides. */
function widthOf(context: CanvasRenderingContext2D, labels: readonly string[]): number {
  context.save();
  context.font = FONT;
  const widest = Math.max(0, ...labels.map((label) => context.measureText(label).width));
  context.restore();
  return Math.ceil(widest) + AXIS_GAP;
}

/**
 * Draws into `host` and follows its width and the theme. `onPoint` gets the day under the pointer. Returns a function
 * that removes the chart.
 */
export function draw(
  host: HTMLElement,
  { days, series, kind, formatShort }: DailyFigures,
  onPoint: (index: number | null) => void,
): () => void {
  const isBars = kind === 'bars';
  const times = days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1_000);
  const values = isBars ? stack(series) : series.map((one) => [...one.values]);
  // The tallest of a stack is drawn first, so that the others are in front of it.
  const order = series.map((_, index) => index);
  if (isBars) order.reverse();
  const data = [times, ...order.map((index) => values[index]!)] as uPlot.AlignedData;
  // A single day with a value has no line, so it needs a visible point.
  const pointSize = days.length > 31 ? 3 : 6;
  const isWhole = series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)));
  let plot: uPlot | null = null;

  function begin(): void {
    plot?.destroy();
    const [faint, line, raised] = ['faint', 'line', 'raised'].map((name) => resolve(host, name)) as [
      string,
      string,
      string,
    ];
    const axis = { stroke: faint, font: FONT, ticks: { show: false }, grid: { stroke: line, width: 1 } };
    plot = new uPlot(
      {
        width: host.clientWidth,
        height: HEIGHT,
        padding: [12, RIGHT, 0, 0],
        legend: { show: false },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
        cursor: { y: false, drag: { x: false, y: false, setScale: false }, points: { show: !isBars } },
        scales: {
          x: { time: true, range: (_, least, most) => [least - DAY_SECONDS / 2, most + DAY_SECONDS / 2] },
          y: { range: (_, _least, most) => [0, most > 0 ? most * HEADROOM : 1] },
        },
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: AXIS_HEIGHT,
            incrs: DAY_STEPS,
            space: DAY_SPACE,
            values: (_, splits) => splits.map((split) => nameOfDay(new Date(split * 1_000).toISOString().slice(0, 10))),
          },
          {
            ...axis,
            size: ({ ctx }, labels) => widthOf(ctx, labels ?? []),
            space: LINE_SPACE,
            ...(isWhole && { incrs: WHOLE_STEPS }),
            values: (_, splits) => splits.map((split) => formatShort(split)),
          },
        ],
        series: [
          {},
          ...order.map((index): uPlot.Series => {
            const colour = resolve(host, series[index]!.tone);
            return isBars
              ? {
                  fill: colour,
                  width: 0,
                  paths: uPlot.paths.bars!({ size: [0.7, 28], radius: 0.15 }),
                  points: { show: false },
                }
              : {
                  stroke: colour,
                  width: 2,
                  spanGaps: true,
                  points: { show: true, size: pointSize, fill: raised, stroke: colour },
                };
          }),
        ],
        hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
      },
      data,
      host,
    );
  }

  begin();
  const size = new ResizeObserver(() => plot?.setSize({ width: host.clientWidth, height: HEIGHT }));
  size.observe(host);
  const theme = new MutationObserver(begin);
  theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', begin);
  return () => {
    size.disconnect();
    theme.disconnect();
    system.removeEventListener('change', begin);
    plot?.destroy();
  };
}
