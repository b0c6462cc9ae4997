/** A range of UTC days, and downloads of the service's files for it. */
import { toError } from '../../sdk/client/http.ts';
import { STATEMENT_DAYS } from '../../sdk/wire/choices.ts';
import { DAY_MS, toDay } from '../../sdk/wire/time.ts';
import { Input } from './ui.tsx';
import { saveFile } from './values.tsx';

export interface DayRange {
  from: string;
  to: string;
}

const USUAL_DAYS = 30;

/** The last `days` days, including today. */
export function lastDays(days = USUAL_DAYS): DayRange {
  const today = Math.floor(Date.now() / DAY_MS);
  return { from: toDay(today - days + 1), to: toDay(today) };
}

/** The reason why the service would refuse a range; null if it accepts the range. */
export function faultOf({ from, to }: DayRange): string | null {
  if (!from || !to) return 'Choose both days.';
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) return 'The first day is after the last one.';
  return days > STATEMENT_DAYS ? `At most ${STATEMENT_DAYS} days, not ${days}.` : null;
}

/** Fields for a range. The typed range may be invalid (`faultOf`). */
export function RangeFields({ range, onChange }: { range: DayRange; onChange(range: DayRange): void }) {
  const field = (name: keyof DayRange, label: string, error: string | null) => (
    <Input
      type="date"
      label={label}
      value={range[name]}
      error={error}
      onChange={(event) => onChange({ ...range, [name]: event.target.value })}
    />
  );
  return (
    <div className="grid grid-cols-2 items-start gap-3 max-sm:w-full sm:grid-cols-[repeat(2,12rem)]">
      {field('from', 'From (UTC)', faultOf(range))}
      {field('to', 'To (UTC)', null)}
    </div>
  );
}

/** Saves exactly the service's bytes. Throws MarketplaceError for an error answer. */
export async function download(path: string, name: string, type: string): Promise<void> {
  const response = await fetch(path);
  if (!response.ok) throw toError(response, await response.json().catch(() => null));
  saveFile(name, await response.text(), type);
}
