/** Small choices side by side, of which one is taken. */
import { SEGMENT, SEGMENTS } from './tabRow.ts';

interface SegmentsProps<Value> {
  label: string;
  choices: readonly (readonly [value: Value, name: string])[];
  chosen: Value;
  onChoose(value: Value): void;
}

export function Segments<Value extends string | number>({ label, choices, chosen, onChoose }: SegmentsProps<Value>) {
  return (
    <fieldset className={SEGMENTS} aria-label={label}>
      {choices.map(([value, name]) => (
        <button
          key={value}
          type="button"
          aria-pressed={chosen === value}
          onClick={() => onChoose(value)}
          className={SEGMENT}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}
