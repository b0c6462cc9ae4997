/** A time as a number and a unit, because seconds make a tenfold slip easy. */
import { CONTROL, cx, Field, type FieldProps } from '../../parts/ui.tsx';
import { UNITS } from './draft.ts';

interface SpanInputProps extends FieldProps {
  /** Such as `3 days`. */
  value: string;
  onChange(value: string): void;
}

export function SpanInput({ value, onChange, ...field }: SpanInputProps) {
  const space = value.lastIndexOf(' ');
  const [count, unit] = [value.slice(0, space), value.slice(space + 1)];
  return (
    <Field {...field}>
      {(props) => (
        <span className="grid grid-cols-[minmax(0,1fr)_7.5rem] gap-2">
          <input
            className={cx(CONTROL, 'tabular-nums')}
            value={count}
            inputMode="numeric"
            autoComplete="off"
            onChange={({ target }) => onChange(`${target.value} ${unit}`)}
            {...props}
          />
          <select
            className={cx(CONTROL, 'pr-8')}
            value={unit}
            aria-label={`Unit of ${field.label}`}
            onChange={({ target }) => onChange(`${count} ${target.value}`)}
          >
            {Object.keys(UNITS).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </span>
      )}
    </Field>
  );
}
