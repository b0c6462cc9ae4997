/** A form made from a creator's JSON Schema, or the same value as JSON. Heavy, so that views load it when they show it. */
import Form from '@rjsf/core/lib/components/Form.js';
import type { RJSFSchema, UiSchema } from '@rjsf/utils';
import { Component, type ReactNode, useMemo, useState } from 'react';
import JsonEditor from './jsonEditor.tsx';
import { templates } from './schemaTemplates.tsx';
import { findValueFaults, validator } from './schemaValidator.ts';
import { cx, Note } from './ui.tsx';

interface SchemaFormProps {
  /** As the creator wrote it: a stranger's. */
  schema: Record<string, unknown>;
  value: Record<string, unknown>;
  onChange(value: Record<string, unknown>): void;
  /** Whether what is wrong is said while it is written. */
  live?: boolean;
}

/** Text longer than this is written in a box of several lines. */
const LONG_TEXT = 120;

const LOOK = cx(
  '[&_.form-control]:w-full [&_.form-control]:rounded-lg [&_.form-control]:border [&_.form-control]:border-strong',
  '[&_.form-control]:bg-raised [&_.form-control]:px-3 [&_.form-control]:min-h-10 [&_.form-control]:text-sm',
  '[&_textarea.form-control]:min-h-24 [&_textarea.form-control]:py-2',
  '[&_.checkbox_label]:flex [&_.checkbox_label]:items-center [&_.checkbox_label]:gap-2.5 [&_.checkbox_label]:text-sm',
  '[&_input[type=checkbox]]:size-4.5 [&_input[type=checkbox]]:accent-(--accent)',
);

/** Whether a value fits a schema; null where the schema cannot be read here, which the service then decides. */
export function fits(schema: Record<string, unknown>, value: unknown): boolean | null {
  try {
    return findValueFaults(schema, value).length === 0;
  } catch {
    return null;
  }
}

export default function SchemaForm({ schema, value, onChange, live = true }: SchemaFormProps) {
  const [asJson, setAsJson] = useState(false);
  const [text, setText] = useState('');
  // The form keeps what it has made of a schema, so another schema is another form.
  const key = useMemo(() => JSON.stringify(schema), [schema]);
  const uiSchema = useMemo(() => layOut(schema), [schema]);

  function change() {
    setText(JSON.stringify(value, null, 2));
    setAsJson(!asJson);
  }
  function write(next: string) {
    setText(next);
    try {
      const parsed: unknown = JSON.parse(next);
      if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
        onChange(parsed as Record<string, unknown>);
      }
    } catch {
      // The editor says so.
    }
  }
  const json = (
    <JsonEditor
      label="Parameters as JSON"
      value={text || JSON.stringify(value, null, 2)}
      onChange={write}
      check={checkBy(schema)}
    />
  );
  return (
    <div className={cx('grid gap-3', LOOK)}>
      <div className="flex justify-end">
        <button type="button" className="rounded text-xs font-medium text-accent hover:underline" onClick={change}>
          {asJson ? 'Fill in the form' : 'Write as JSON'}
        </button>
      </div>
      {asJson ? (
        json
      ) : (
        <Fallback key={key} instead={json}>
          <Form
            key={key}
            tagName="div"
            schema={schema as RJSFSchema}
            uiSchema={uiSchema}
            validator={validator}
            templates={templates}
            formData={value}
            liveValidate={live ? 'onChange' : false}
            showErrorList={false}
            noHtml5Validate
            onChange={({ formData }) => onChange((formData ?? {}) as Record<string, unknown>)}
          >
            {/* Whoever shows the form has a button of its own. */}
            <span />
          </Form>
        </Fallback>
      )}
    </div>
  );
}

const checkBy = (schema: Record<string, unknown>) => (value: unknown) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ path: '', message: 'must be an object' }];
  }
  try {
    return findValueFaults(schema, value).map(({ property = '', message = '' }) => ({
      path: property.replace(/^\./, ''),
      message,
    }));
  } catch {
    return [];
  }
};

/** Several lines for text that may be long; by properties of the outermost object, where nearly all of it is. */
function layOut({ properties }: Record<string, unknown>): UiSchema {
  if (typeof properties !== 'object' || properties === null) return {};
  const isLong = (property: Record<string, unknown> | null | undefined) =>
    property?.type === 'string' &&
    !property.enum &&
    !property.format &&
    (property.maxLength === undefined || Number(property.maxLength) > LONG_TEXT);
  return Object.fromEntries(
    Object.entries(properties as Record<string, Record<string, unknown>>)
      .filter(([, property]) => isLong(property))
      .map(([name]) => [name, { 'ui:widget': 'textarea', 'ui:options': { rows: 3 } }]),
  );
}

/** A schema that the form library cannot show must not take the view down. */
class Fallback extends Component<{ instead: ReactNode; children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false };
  static getDerivedStateFromError() {
    return { isBroken: true };
  }
  override render() {
    if (!this.state.isBroken) return this.props.children;
    return (
      <div className="grid gap-3">
        <Note tone="warn">This schema cannot be shown as a form. Callers write the parameters as JSON.</Note>
        {this.props.instead}
      </div>
    );
  }
}
