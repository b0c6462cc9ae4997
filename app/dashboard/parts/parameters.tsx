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

export function Parameters({ parameters }: { parameters: Record<string, unknown> }) {
  const [isJson, setJson] = useState(false);
  return (
    <Code text={isJson ? JSON.stringify(parameters, null, 2) : parameterLines(parameters)} label="Parameters">
      <Button small aria-pressed={isJson} onClick={() => setJson(!isJson)}>
        JSON
      </Button>
    </Code>
  );
}
