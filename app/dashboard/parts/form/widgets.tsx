/** RJSF's controls in the style of this page. */
import {
  ariaDescribedByIds,
  enumOptionsDeselectValue,
  enumOptionsSelectValue,
  getInputProps,
  type WidgetProps,
} from '@rjsf/utils';
import { CONTROL, cx } from '../ui.tsx';

/** A text that may be longer than this gets a growing field. */
const SHORT = 120;

function common({ id, disabled, readonly, rawErrors, required, hideLabel, label }: WidgetProps) {
  return {
    id,
    name: id,
    disabled: disabled || readonly,
    'aria-describedby': `${ariaDescribedByIds(id)} ${id}__error`,
    ...(required && { 'aria-required': true }),
    ...(hideLabel && { 'aria-label': label || 'Value' }),
    ...(rawErrors && rawErrors.length > 0 && { 'aria-invalid': true as const }),
  };
}

function InputWidget(props: WidgetProps) {
  const { value, onChange, options, schema, type, id } = props;
  const { type: inputType, step, min, max } = getInputProps(schema, type, options);
  const isLong =
    inputType === 'text' && schema.type === 'string' && (schema.maxLength ?? SHORT + 1) > SHORT && !schema.pattern;
  const change = (text: string) => onChange(text === '' ? options.emptyValue : text);
  if (isLong) {
    return (
      <textarea
        {...common(props)}
        rows={3}
        value={value ?? ''}
        onChange={({ target }) => change(target.value)}
        className={cx(CONTROL, 'field-sizing-content max-h-80 min-h-20 resize-y py-2.5 leading-5')}
      />
    );
  }
  const examples = Array.isArray(schema.examples) ? schema.examples.map(String) : [];
  return (
    <>
      <input
        {...common(props)}
        type={inputType}
        {...(step !== undefined && { step })}
        {...(min !== undefined && { min })}
        {...(max !== undefined && { max })}
        {...(examples.length > 0 && { list: `${id}__examples` })}
        value={value ?? ''}
        onChange={({ target }) => change(target.value)}
        className={CONTROL}
      />
      {examples.length > 0 && (
        <datalist id={`${id}__examples`}>
          {examples.map((example) => (
            <option key={example} value={example} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** A choice. Options are identified by index, because a value may be anything. */
function SelectWidget(props: WidgetProps) {
  const { value, onChange, options, schema, required, multiple } = props;
  const choices = options.enumOptions ?? [];
  if (multiple) return <ChoicesWidget {...props} />;
  const chosen = choices.findIndex((choice) => JSON.stringify(choice.value) === JSON.stringify(value));
  const isEmptyOffered = !required || chosen < 0 || schema.default === undefined;
  return (
    <select
      {...common(props)}
      value={chosen < 0 ? '' : chosen}
      onChange={({ target }) =>
        onChange(target.value === '' ? options.emptyValue : choices[Number(target.value)]?.value)
      }
      className={cx(CONTROL, 'pr-8')}
    >
      {isEmptyOffered && <option value="">{required ? 'Choose …' : '–'}</option>}
      {choices.map(({ label }, index) => (
        <option key={index} value={index}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** Several options of a list. */
function ChoicesWidget(props: WidgetProps) {
  const { id, value, onChange, options, disabled, readonly, label } = props;
  const choices = options.enumOptions ?? [];
  const chosen: unknown[] = Array.isArray(value) ? value : [];
  return (
    <fieldset id={id} aria-label={label} className="flex flex-wrap gap-x-5 gap-y-2">
      {choices.map((choice, index) => (
        <div key={index} className="flex items-center gap-2 text-sm">
          <input
            id={`${id}-${index}`}
            type="checkbox"
            className="size-4.5 accent-accent"
            disabled={disabled || readonly}
            checked={chosen.some((one) => JSON.stringify(one) === JSON.stringify(choice.value))}
            onChange={({ target }) =>
              onChange(
                target.checked
                  ? enumOptionsSelectValue(index, chosen, choices)
                  : enumOptionsDeselectValue(index, chosen, choices),
              )
            }
          />
          <label htmlFor={`${id}-${index}`}>{choice.label}</label>
        </div>
      ))}
    </fieldset>
  );
}

function CheckboxWidget(props: WidgetProps) {
  const { value, onChange, label, schema, options } = props;
  const description = options.description ?? schema.description;
  return (
    <div className="flex items-start gap-2.5">
      <input
        {...common(props)}
        type="checkbox"
        className="mt-0.5 size-4.5 accent-accent"
        checked={value === true}
        onChange={({ target }) => onChange(target.checked)}
      />
      <label htmlFor={props.id} className="text-sm">
        <span className={schema.title === undefined ? 'font-mono font-medium' : 'font-medium'}>{label}</span>
        {typeof description === 'string' && <span className="block text-faint">{description}</span>}
      </label>
    </div>
  );
}

/** Other widgets are RJSF's own, based on the input. */
export const widgets = {
  TextWidget: InputWidget,
  TextareaWidget: InputWidget,
  FileWidget: InputWidget,
  SelectWidget,
  RadioWidget: SelectWidget,
  CheckboxesWidget: ChoicesWidget,
  CheckboxWidget,
};

export { InputWidget };
