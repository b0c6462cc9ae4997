/** A choice between all rows of a list, those of one kind, and the others. */
import { Select } from '../../parts/ui.tsx';

interface WhichProps {
  /** Undefined for all. */
  value: boolean | undefined;
  words: readonly [all: string, one: string, others: string];
  onChange(value: boolean | undefined): void;
}

export function Which({ value, words: [all, one, others], onChange }: WhichProps) {
  return (
    <Select
      label="Show"
      value={String(value ?? '')}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value === 'true')}
    >
      <option value="">{all}</option>
      <option value="true">{one}</option>
      <option value="false">{others}</option>
    </Select>
  );
}
