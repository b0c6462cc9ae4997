/** A form made from a JSON Schema, or a JSON field if that is impossible. Large: views load it lazily. */
// Not the package's index, which also loads a test registry with an Ajv validator.
import Form from '@rjsf/core/lib/components/Form.js';
import type { RJSFSchema } from '@rjsf/utils';
import { Component, type ReactNode, useId, useImperativeHandle, useRef, useState } from 'react';
import { JsonField, type SchemaFormProps } from './jsonField.tsx';
import { hasFields, isFormable } from './schema.ts';
import { templates } from './templates.tsx';
import { validator } from './validator.ts';
import { InputWidget, widgets } from './widgets.tsx';

const ALL_TEMPLATES = { ...templates, BaseInputTemplate: InputWidget };
/** Optional objects and lists stay absent until the user adds something. */
const DEFAULTS = {
  emptyObjectFields: 'populateRequiredDefaults',
  arrayMinItems: { populate: 'requiredOnly' },
} as const;
const UI = { 'ui:submitButtonOptions': { norender: true } };

export default function SchemaForm(props: SchemaFormProps) {
  const { schema, asJson = false } = props;
  if (asJson || !isFormable(schema)) return <JsonField {...props} />;
  if (!hasFields(schema)) {
    return <p className="text-sm text-faint">This agent has no fixed parameters. It needs only the task.</p>;
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
      // Faults are shown at their fields; without this they would also be logged to the console.
      onError={() => undefined}
    >
      <span hidden />
    </Form>
  );
}

/** Shows the fallback if the form throws, which an unexpected schema may cause. */
class Guard extends Component<{ instead: ReactNode; children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? this.props.instead : this.props.children;
  }
}
