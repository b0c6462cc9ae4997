/** A form made from a JSON Schema, and a field of JSON where a form cannot be made from it. */
// Not the package's index, which also has a registry for its own tests and with it a validator over Ajv.
import Form from '@rjsf/core/lib/components/Form.js';
import type { RJSFSchema } from '@rjsf/utils';
import { Component, type ReactNode, useEffect, useImperativeHandle, useRef, useState } from 'react';
import { TextArea } from '../../../parts/ui.tsx';
import { isSchema, resolve, type Schema } from '../schema/schema.ts';
import { templates } from './templates.tsx';
import { findFlaws, validator } from './validator.ts';
import { InputWidget, widgets } from './widgets.tsx';

export interface SchemaFormHandle {
  /** Whether the value may be sent; what is wrong is shown where it is. */
  validate(): boolean;
}

interface SchemaFormProps {
  schema: Schema;
  value: Record<string, unknown>;
  onChange(value: Record<string, unknown>): void;
  disabled?: boolean;
  /** Shows the JSON where a form could be shown. */
  asJson?: boolean;
  ref?: React.Ref<SchemaFormHandle>;
}

const ALL_TEMPLATES = { ...templates, BaseInputTemplate: InputWidget };
/** Optional objects and lists stay out until somebody puts something into them. */
const DEFAULTS = {
  emptyObjectFields: 'populateRequiredDefaults',
  arrayMinItems: { populate: 'requiredOnly' },
} as const;
const UI = { 'ui:submitButtonOptions': { norender: true } };

export function SchemaForm(props: SchemaFormProps) {
  const { schema, value, onChange, disabled = false, asJson = false, ref } = props;
  if (asJson || !isFormable(schema)) return <JsonField {...props} />;
  return (
    <Guard key={JSON.stringify(schema)} instead={<JsonField {...props} />}>
      <RjsfForm schema={schema} value={value} onChange={onChange} disabled={disabled} ref={ref} />
    </Guard>
  );
}

function RjsfForm({ schema, value, onChange, disabled, ref }: SchemaFormProps) {
  const form = useRef<InstanceType<typeof Form>>(null);
  const [isChecked, setChecked] = useState(false);
  useImperativeHandle(ref, () => ({
    validate() {
      setChecked(true);
      return form.current?.validateForm() ?? false;
    },
  }));
  return (
    <Form
      ref={form}
      tagName="div"
      idPrefix="parameters"
      schema={schema as RJSFSchema}
      uiSchema={UI}
      formData={value}
      validator={validator}
      templates={ALL_TEMPLATES}
      widgets={widgets}
      disabled={disabled ?? false}
      noHtml5Validate
      showErrorList={false}
      liveValidate={isChecked ? 'onChange' : false}
      experimental_defaultFormStateBehavior={DEFAULTS}
      onChange={({ formData }) => onChange(formData ?? {})}
      // What is wrong stands at its field; without this it would be written to the console as well.
      onError={() => undefined}
    >
      <span hidden />
    </Form>
  );
}

/** The parameters as JSON; what is no object is told at once, and goes nowhere. */
function JsonField({ schema, value, onChange, disabled, ref }: SchemaFormProps) {
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
      const said = flaws.map(({ path, message }) => `${path.join('.') || 'parameters'}: ${message}`).join(' ');
      setError(read.error ?? (said || null));
      return read.value !== undefined && flaws.length === 0;
    },
  }));
  return (
    <TextArea
      label="Parameters as JSON"
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

/** Keywords that a form cannot show as they are meant. */
const BEYOND = ['prefixItems', 'patternProperties', 'not'];

/** Whether RJSF can show every field of the schema. */
export function isFormable(root: Schema): boolean {
  const isShown = (raw: unknown, depth: number): boolean => {
    const schema = resolve(raw, root);
    if (depth > 8 || BEYOND.some((name) => name in schema)) return false;
    const { properties, items, anyOf, oneOf, type } = schema;
    const inner = [
      ...(isSchema(properties) ? Object.values(properties) : []),
      ...(isSchema(items) ? [items] : []),
      ...(Array.isArray(anyOf) ? anyOf : []),
      ...(Array.isArray(oneOf) ? oneOf : []),
    ];
    if (type === 'array' && !isSchema(items)) return false;
    const isTyped = type !== undefined || 'enum' in schema || 'const' in schema || inner.length > 0;
    return isTyped && inner.every((one) => isShown(one, depth + 1));
  };
  return isSchema(root) && isShown(root, 0);
}

/** Whether there is anything to fill in. */
export function hasFields(root: Schema): boolean {
  const { properties, anyOf, oneOf } = resolve(root, root);
  return (isSchema(properties) && Object.keys(properties).length > 0) || Boolean(anyOf ?? oneOf);
}

/** Shows something else where the form throws, which a schema that nobody thought of may bring about. */
class Guard extends Component<{ instead: ReactNode; children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? this.props.instead : this.props.children;
  }
}
