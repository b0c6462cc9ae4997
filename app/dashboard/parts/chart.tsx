/** Figures by day, as a chart and as a table. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type DailyFigures, nameOfDay } from './days.ts';
import { AtRight, Table } from './table.tsx';
import { Card, cx, LINK, Skeleton } from './ui.tsx';
import { formatShort as shortly } from './values.tsx';

interface ChartProps
  extends Omit<DailyFigures, 'kind' | 'formatShort'>,
    Partial<Pick<DailyFigures, 'kind' | 'formatShort'>> {
  title: string;
  /** Its level among the headings of the view. */
  level?: 2 | 3;
  /** The total, as text. */
  summary: ReactNode;
  format(value: number): string;
  /** Unit of the axis, if its labels have none. */
  unit?: string;
}

/** With values on fewer days, charts say less than a sentence. */
export const CHARTED_DAYS = 3;

/** In place of charts: a sentence for each day with values. */
export const DaySentences = ({ texts }: { texts: readonly string[] }) => (
  <div className="grid gap-1 text-sm text-faint empty:hidden">
    {texts.map((text) => (
      <p key={text}>{text}</p>
    ))}
  </div>
);

const TONES = { accent: 'bg-accent', sky: 'bg-sky', good: 'bg-good', bad: 'bg-bad', strong: 'bg-strong' };

export function Chart(props: ChartProps) {
  const { title, level = 3, summary, days, series, format, kind = 'bars' } = props;
  const Heading = level === 2 ? 'h2' : 'h3';
  const [asTable, setAsTable] = useState(false);
  const [point, setPoint] = useState<number | null>(null);
  const day = point === null ? undefined : days[point];
  const show = (value: number | null | undefined) => (value === null || value === undefined ? '–' : format(value));
  return (
    <Card className="min-w-0">
      <div className="flex items-start justify-between gap-3">
        <div>
          <Heading className="text-sm text-faint">{title}</Heading>
          <p className="text-xl font-semibold tabular-nums">{summary}</p>
        </div>
        <button
          type="button"
          className={cx('shrink-0 rounded text-sm font-medium', LINK)}
          aria-pressed={asTable}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? 'Show as chart' : 'Show as table'}
          <span className="sr-only"> ({title})</span>
        </button>
      </div>
      {asTable ? (
        <div className="mt-4 max-h-56 overflow-y-auto">
          <Table
            label={title}
            head={['Day (UTC)', ...series.map(({ label }) => <AtRight key={label}>{label}</AtRight>)]}
          >
            {days
              .map((day, index) => (
                <tr key={day}>
                  <td className="whitespace-nowrap">{nameOfDay(day)}</td>
                  {series.map(({ label, values }) => (
                    <td key={label} className="text-right whitespace-nowrap tabular-nums">
                      {show(values[index])}
                    </td>
                  ))}
                </tr>
              ))
              .reverse()}
          </Table>
        </div>
      ) : (
        <>
          <div
            className={cx(
              'mt-2 flex min-h-5 flex-wrap gap-x-4 text-xs text-faint',
              // A single series has no legend: the pointed day shares the line of the unit.
              series.length === 1 && props.unit ? '-mb-5 justify-end' : 'mb-1',
            )}
            aria-hidden="true"
          >
            {day && <span className="font-medium text-ink">{nameOfDay(day)}</span>}
            {(series.length > 1 || day) &&
              series.map(({ label, tone, values }) => (
                <span key={label} className="inline-flex items-center gap-1.5">
                  <span className={cx('size-2 rounded-full', TONES[tone])} />
                  {label}
                  {point !== null && day && <span className="text-ink tabular-nums">{show(values[point])}</span>}
                </span>
              ))}
          </div>
          {series.some(({ values }) => values.some((value) => (kind === 'lines' ? value !== null : value))) ? (
            <Plot {...props} onPoint={setPoint} />
          ) : (
            <p className="grid h-[220px] place-items-center text-sm text-faint">
              No data for these {days.length} days.
            </p>
          )}
        </>
      )}
    </Card>
  );
}

function Plot({ onPoint, ...props }: ChartProps & { onPoint(index: number | null): void }) {
  const host = useRef<HTMLDivElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  const { days, series, kind = 'bars', formatShort = shortly } = props;
  // Draw again only if the figures change, not if the same ones come in another array.
  const drawn = JSON.stringify([days, series]);
  const latest = useRef({ days, series, kind, formatShort });
  latest.current = { days, series, kind, formatShort };
  useEffect(() => {
    let end: (() => void) | null = null;
    let isGone = false;
    void import('./plot.ts').then(({ draw }) => {
      if (isGone || !host.current) return;
      end = draw(host.current, latest.current, onPoint);
      setDrawn(true);
    });
    return () => {
      isGone = true;
      end?.();
    };
  }, [drawn, onPoint]);
  const last = days.at(-1);
  return (
    <div
      role="img"
      aria-label={`${props.title} from ${days[0] ? nameOfDay(days[0]) : ''} to ${last ? nameOfDay(last) : ''}; the table has the figures`}
      className="min-w-0"
    >
      {props.unit && <p className="pt-2 text-[11px] leading-none text-faint">{props.unit}</p>}
      <div className="relative h-[220px] overflow-hidden">
        {!isDrawn && <Skeleton className="absolute inset-0" />}
        <div ref={host} />
      </div>
    </div>
  );
}
