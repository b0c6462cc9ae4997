/** The parameters of a call to read: one line for each value. The exact JSON is the alternative. */
import { useState } from 'react';
import { Button } from './ui.tsx';
import { Code } from './values.tsx';

/** Text with line breaks is indented, not escaped. */
export const parameterLines = (parameters: Record<string, unknown>): string =>
  Object.entries(parameters)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value.trimEnd() : JSON.stringify(value, null, 2);
      return text.includes('\n') ? `${name}:\n${text.replace(/^/gm, '  ')}` : `${name}: ${text}`;
    })
    .join('\n');

interface ParametersProps {
  parameters: Record<string, unknown>;
  /** Begins with the JSON, for a reader who checks it. */
  isExact?: boolean;
}

export function Parameters({ parameters, isExact = false }: ParametersProps) {
  const [isJson, setJson] = useState(isExact);
  return (
    <Code text={isJson ? JSON.stringify(parameters, null, 2) : parameterLines(parameters)} label="Parameters">
      <Button small onClick={() => setJson(!isJson)}>
        {isJson ? 'As lines' : 'JSON'}
      </Button>
    </Code>
  );
}
