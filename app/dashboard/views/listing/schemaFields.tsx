/** Input and output schema, each with its faults, and a preview of the form for callers. */
import { lazy, Suspense, useState } from 'react';
import { JsonEditor } from '../../parts/jsonEditor.tsx';
import { Away } from '../../parts/links.tsx';
import { Card, Skeleton } from '../../parts/ui.tsx';
import type { FieldsProps } from './detailsFields.tsx';
import { readSchema } from './draft.ts';
import { checkInput, checkOutput } from './schemaCheck.ts';

const SchemaForm = lazy(() => import('../../parts/form/schemaForm.tsx'));

export default function SchemaFields({ draft, onChange }: FieldsProps) {
  const input = readSchema(draft.input_schema);
  return (
    <div className="grid gap-8">
      <div className="grid gap-6 lg:grid-cols-2">
        <JsonEditor
          label="Input schema"
          hint="JSON Schema of the parameters. Calls that do not match it are refused before any payment."
          value={draft.input_schema}
          onChange={(input_schema) => onChange({ input_schema })}
          check={checkInput}
        />
        <Preview schema={input && checkInput(input).length === 0 ? input : null} />
      </div>
      <JsonEditor
        label="Output schema"
        hint="JSON Schema of the result, for callers to read. It is not enforced, because a result is text."
        value={draft.output_schema}
        onChange={(output_schema) => onChange({ output_schema })}
        check={checkOutput}
      />
      <p className="text-sm">
        <Away href="/docs#schemas-allowed">Rules for schemas</Away>
      </p>
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
