/** A field for JSON that shows the faults of its value. */
import { useDeferredValue } from 'react';
import { TextArea } from './ui.tsx';

/** A fault of the value: names and indices from the root, joined by dots; empty for the whole value. */
export interface JsonFault {
  path: string;
  message: string;
}

interface JsonEditorProps {
  label: string;
  hint: string;
  value: string;
  onChange(text: string): void;
  /** Returns the faults of a value that is JSON. */
  check(value: unknown): JsonFault[];
}

/** Maximum number of listed faults: nobody reads a longer list. */
const MAX_SHOWN = 8;

export function JsonEditor({ value, onChange, check, ...labels }: JsonEditorProps) {
  // Typing does not wait for the check.
  const faults = findFaults(useDeferredValue(value), check);
  const more = faults.length - MAX_SHOWN;
  return (
    <TextArea
      {...labels}
      className="field-sizing-content max-h-112 min-h-40 font-mono text-[0.8125rem]"
      spellCheck={false}
      value={value}
      error={[...faults.slice(0, MAX_SHOWN), ...(more > 0 ? [`and ${more} more`] : [])].join('\n')}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

function findFaults(text: string, check: JsonEditorProps['check']): string[] {
  if (text.trim() === '') return ['Write a JSON value.'];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return [`Invalid JSON: ${(error as Error).message}`];
  }
  return check(value).map(({ path, message }) => `${path} ${message}`.trim());
}
