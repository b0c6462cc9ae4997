/** The field of JSON that stands where a form cannot be made, or is not wanted. */
import { useEffect, useImperativeHandle, useRef, useState } from 'react';
import { TextArea } from '../ui.tsx';
import { isFormable, isSchema, type Schema } from './schema.ts';
import { describeFlaw, findFlaws } from './validator.ts';

export interface SchemaFormHandle {
  /** Whether the value may be sent; what is wrong is shown where it is. */
  validate(): boolean;
}

export interface SchemaFormProps {
  schema: Schema;
  value: Record<string, unknown>;
  onChange(value: Record<string, unknown>): void;
  disabled?: boolean;
  /** Shows the JSON where a form could be shown. */
  asJson?: boolean;
  /** Says what is wrong from the first change on, not only once `validate` was called. */
  live?: boolean;
  ref?: React.Ref<SchemaFormHandle>;
}

/** The parameters as JSON; what is no object is told at once, and goes nowhere. */
export function JsonField({ schema, value, onChange, disabled, ref }: SchemaFormProps) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [error, setError] = useState<string | null>(null);
  const own = useRef(text);
  useEffect(() => {
    // Something else than typing here has changed it, such as an example that was filled in.
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
      hint={isFormable(schema) ? undefined : 'These parameters are beyond what a form can show.'}
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
    return { error: `This is not JSON yet: ${(error as Error).message}` };
  }
}
