/** The parameters of a call to read: one line for each value. The exact JSON is the alternative. */
import { useState } from 'react';
import { Segments } from './segments.tsx';
import { TextBox } from './textBox.tsx';
import { Copy } from './values.tsx';

/** Text with line breaks is indented, not escaped. */
export const parameterLines = (parameters: Record<string, unknown>): string =>
  Object.entries(parameters)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value.trimEnd() : JSON.stringify(value, null, 2);
      return text.includes('\n') ? `${name}:\n${text.replace(/^/gm, '  ')}` : `${name}: ${text}`;
    })
    .join('\n');

const FORMS = [
  ['lines', 'Lines'],
  ['json', 'JSON'],
] as const;

interface ParametersProps {
  parameters: Record<string, unknown>;
  /** Begins with the JSON, for a reader who checks it. */
  isExact?: boolean;
}

export function Parameters({ parameters, isExact = false }: ParametersProps) {
  const [form, setForm] = useState<'lines' | 'json'>(isExact ? 'json' : 'lines');
  const text = form === 'json' ? JSON.stringify(parameters, null, 2) : parameterLines(parameters);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2 print:hidden">
        <Segments label="Form of the parameters" choices={FORMS} chosen={form} onChoose={(one) => setForm(one)} />
        <Copy text={text} />
      </div>
      <TextBox label="Parameters" text={text} isExact />
    </div>
  );
}
