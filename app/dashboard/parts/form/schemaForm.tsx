/** A form made from a JSON Schema, and a field of JSON where a form cannot be made from it. Heavy: views load it lazily. */
// Not the package's index, which also has a registry for its own tests and with it a validator over Ajv.
import Form from '@rjsf/core/lib/components/Form.js';
import type { RJSFSchema } from '@rjsf/utils';
import { Component, type ReactNode, useId, useImperativeHandle, useRef, useState } from 'react';
import { JsonField, type SchemaFormProps } from './jsonField.tsx';
import { hasFields, isFormable } from './schema.ts';
import { templates } from './templates.tsx';
import { validator } from './validator.ts';
import { InputWidget, widgets } from './widgets.tsx';

const ALL_TEMPLATES = { ...templates, BaseInputTemplate: InputWidget };
/** Optional objects and lists stay out until somebody puts something into them. */
const DEFAULTS = {
  emptyObjectFields: 'populateRequiredDefaults',
  arrayMinItems: { populate: 'requiredOnly' },
} as const;
const UI = { 'ui:submitButtonOptions': { norender: true } };

export default function SchemaForm(props: SchemaFormProps) {
  const { schema, asJson = false } = props;
  if (asJson || !isFormable(schema)) return <JsonField {...props} />;
  if (!hasFields(schema)) {
    return <p className="text-sm text-faint">This agent has no fixed parameters: the task is all that it needs.</p>;
  }
  return (
    <Guard key={JSON.stringify(schema)} instead={<JsonField {...props} />}>
      <RjsfForm {...props} />
    </Guard>
  );
}

function RjsfForm({ schema, value, onChange, disabled = false, live = false, ref }: SchemaFormProps) {
  const form = useRef<InstanceType<typeof Form>>(null);
  const [isChecked, setChecked] = useState(live);
  const id = useId();
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
      idPrefix={id}
      schema={schema as RJSFSchema}
      uiSchema={UI}
      formData={value}
      validator={validator}
      templates={ALL_TEMPLATES}
      widgets={widgets}
      disabled={disabled}
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
