/** Input and output schema, each with its faults, and a preview of the form for callers. */
import { lazy, Suspense, useState } from 'react';
import { describeSchemaRules } from '../../../sdk/wire/schemaKeywords.ts';
import { JsonEditor } from '../../parts/jsonEditor.tsx';
import { Button, Card, Skeleton } from '../../parts/ui.tsx';
import type { FieldsProps } from './detailsFields.tsx';
import { readSchema } from './draft.ts';
import { checkInput, checkOutput } from './schemaCheck.ts';

const SchemaForm = lazy(() => import('../../parts/form/schemaForm.tsx'));

export default function SchemaFields({ draft, onChange }: FieldsProps) {
  const input = readSchema(draft.input_schema);
  return (
    <div className="grid gap-8">
      <div className="grid gap-6 lg:grid-cols-2">
        <div className="grid content-start gap-3">
          <JsonEditor
            label="Input schema"
            hint="JSON Schema of the parameters. Calls that do not match it are refused before any payment."
            value={draft.input_schema}
            onChange={(input_schema) => onChange({ input_schema })}
            check={checkInput}
          />
          <Format
            text={draft.input_schema}
            what="input schema"
            onChange={(input_schema) => onChange({ input_schema })}
          />
        </div>
        <Preview schema={input && checkInput(input).length === 0 ? input : null} />
      </div>
      <div className="grid gap-3">
        <JsonEditor
          label="Output schema"
          hint="JSON Schema of the result, for callers to read. It is not enforced, because a result is text."
          value={draft.output_schema}
          onChange={(output_schema) => onChange({ output_schema })}
          check={checkOutput}
        />
        <Format
          text={draft.output_schema}
          what="output schema"
          onChange={(output_schema) => onChange({ output_schema })}
        />
      </div>
      <Rules />
    </div>
  );
}

function Format({ text, what, onChange }: { text: string; what: string; onChange(text: string): void }) {
  const schema = readSchema(text);
  const formatted = schema && JSON.stringify(schema, null, 2);
  return (
    <div>
      <Button
        small
        disabled={formatted === null || formatted === text}
        onClick={() => formatted && onChange(formatted)}
      >
        Format<span className="sr-only"> the {what}</span>
      </Button>
    </div>
  );
}

function Preview({ schema }: { schema: Record<string, unknown> | null }) {
  const [value, setValue] = useState<Record<string, unknown>>({});
  return (
    <div className="grid content-start gap-1.5">
      <h3 className="text-sm font-medium">The form that callers fill in</h3>
      <Card className="min-h-40">
        {schema ? (
          <Suspense fallback={<Skeleton className="h-40" />}>
            <SchemaForm schema={schema} value={value} onChange={setValue} />
          </Suspense>
        ) : (
          <p className="text-sm text-faint">It appears once the input schema is valid.</p>
        )}
      </Card>
    </div>
  );
}

/** The library's rules; keywords are in backticks. */
function Rules() {
  return (
    <details className="rounded-xl border border-line bg-raised px-5 py-3.5 text-sm">
      <summary>Rules for schemas</summary>
      <div className="mt-3 grid gap-2 text-faint">
        {describeSchemaRules().map((rule) => (
          <p key={rule}>
            {rule.split('`').map((part, index) =>
              index % 2 === 1 ? (
                <code key={index} className="rounded bg-sunken px-1 font-mono text-[0.8125rem] text-ink">
                  {part}
                </code>
              ) : (
                part
              ),
            )}
          </p>
        ))}
      </div>
    </details>
  );
}
