/** Small choices side by side, of which one is taken. */
import { cx } from './ui.tsx';

interface SegmentsProps<Value> {
  label: string;
  choices: readonly (readonly [value: Value, name: string])[];
  chosen: Value;
  onChoose(value: Value): void;
}

export function Segments<Value extends string | number>({ label, choices, chosen, onChoose }: SegmentsProps<Value>) {
  return (
    <fieldset className="flex rounded-lg border border-line bg-raised p-0.5" aria-label={label}>
      {choices.map(([value, name]) => (
        <button
          key={value}
          type="button"
          aria-pressed={chosen === value}
          onClick={() => onChoose(value)}
          className={cx(
            'min-h-8 rounded-md px-3 text-sm tabular-nums',
            chosen === value ? 'bg-accent-soft font-medium text-accent' : 'text-faint hover:text-ink',
          )}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}
