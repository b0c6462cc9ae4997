/** A field for JSON, used if a form is impossible or not wanted. */
import { useEffect, useImperativeHandle, useRef, useState } from 'react';
import { TextArea } from '../ui.tsx';
import { isFormable, isSchema, type Schema } from './schema.ts';
import { describeFlaw, findFlaws } from './validator.ts';

export interface SchemaFormHandle {
  /** Returns true if the value may be sent; shows faults at their fields. */
  validate(): boolean;
}

export interface SchemaFormProps {
  schema: Schema;
  value: Record<string, unknown>;
  onChange(value: Record<string, unknown>): void;
  disabled?: boolean;
  /** Shows JSON even if a form is possible. */
  asJson?: boolean;
  /** Shows faults from the first change on, not only after `validate`. */
  live?: boolean;
  ref?: React.Ref<SchemaFormHandle>;
}

/** The parameters as JSON. A text that is not an object shows an error at once and is not passed on. */
export function JsonField({ schema, value, onChange, disabled, ref }: SchemaFormProps) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [error, setError] = useState<string | null>(null);
  const own = useRef(text);
  useEffect(() => {
    // The value was changed elsewhere, for example by "Fill in an example".
    const { value: present } = readObject(own.current);
    if (JSON.stringify(present ?? {}) === JSON.stringify(value)) return;
    own.current = JSON.stringify(value, null, 2);
    setText(own.current);
    setError(null);
  }, [value]);
  useImperativeHandle(ref, () => ({
    validate() {
      const read = readObject(text);
      const flaws = read.value ? findFlaws(schema, read.value) : [];
      const said = flaws.map(describeFlaw).join(' ');
      setError(read.error ?? (said || null));
      return read.value !== undefined && flaws.length === 0;
    },
  }));
  return (
    <TextArea
      label="Parameters as JSON"
      hint={isFormable(schema) ? undefined : 'A form cannot show these parameters.'}
      className="min-h-40 font-mono text-[0.8125rem]"
      spellCheck={false}
      value={text}
      error={error}
      disabled={disabled}
      onChange={({ target }) => {
        own.current = target.value;
        setText(target.value);
        const read = readObject(target.value);
        setError(read.error ?? null);
        if (read.value) onChange(read.value);
      }}
    />
  );
}

function readObject(text: string): { value?: Record<string, unknown>; error?: string } {
  if (text.trim() === '') return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    return isSchema(value) ? { value } : { error: 'The parameters must be an object: { … }.' };
  } catch (error) {
    return { error: `Invalid JSON: ${(error as Error).message}` };
  }
}
