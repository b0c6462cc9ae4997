/** RJSF templates of this page. Every text of the schema comes from a stranger and is shown as plain text. */
import {
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  canExpand,
  type FieldTemplateProps,
  type MultiSchemaFieldTemplateProps,
  type ObjectFieldTemplateProps,
  type RJSFSchema,
  type WrapIfAdditionalTemplateProps,
} from '@rjsf/utils';
import { Button, CONTROL, Required } from '../ui.tsx';

/** A label that only repeats the parameter's name is shown as code. */
function Label({ id, text, isTitle, required }: { id: string; text: string; isTitle: boolean; required: boolean }) {
  return (
    <span className="flex flex-wrap items-baseline gap-x-2">
      <label htmlFor={id} className="flex flex-wrap items-baseline gap-x-2 text-sm font-medium">
        <span className={isTitle ? '' : 'font-mono'}>{text}</span>
        {!required && <span className="text-xs font-normal text-faint">optional</span>}
      </label>
      {required && <Required />}
    </span>
  );
}

function FieldTemplate(props: FieldTemplateProps) {
  const { id, label, children, rawErrors = [], rawDescription, hidden, required = false, displayLabel, schema } = props;
  if (hidden) return <div className="hidden">{children}</div>;
  const { WrapIfAdditionalTemplate } = props.registry.templates;
  const hasLabel = displayLabel && schema.type !== 'boolean';
  // For a list's entry, RJSF invents a name such as `names-1`.
  const place = props.fieldPathId.path.at(-1);
  const isEntry = typeof place === 'number' && schema.title === undefined;
  return (
    <WrapIfAdditionalTemplate {...props}>
      <div className="grid gap-1.5">
        {hasLabel && (
          <Label
            id={id}
            text={isEntry ? `Entry ${place + 1}` : label}
            isTitle={isEntry || schema.title !== undefined}
            required={required || isEntry}
          />
        )}
        {children}
        {hasLabel && rawDescription && (
          <p id={`${id}__description`} className="text-sm whitespace-pre-line text-faint">
            {rawDescription}
          </p>
        )}
        {rawErrors.length > 0 && (
          <ul id={`${id}__error`} className="text-sm text-bad">
            {[...new Set(rawErrors)].map((message) => (
              <li key={message}>{message}</li>
            ))}
          </ul>
        )}
      </div>
    </WrapIfAdditionalTemplate>
  );
}

function Legend({ title, schema, required }: { title: string; schema: RJSFSchema; required: boolean }) {
  return (
    <legend className="float-left w-full text-sm font-medium">
      <span className={schema.title === undefined ? 'font-mono' : ''}>{title}</span>{' '}
      {!required && <span className="text-xs font-normal text-faint">optional</span>}
      {schema.description && <span className="mt-1 block text-sm font-normal text-faint">{schema.description}</span>}
    </legend>
  );
}

function ObjectFieldTemplate(props: ObjectFieldTemplateProps) {
  const { fieldPathId, title, schema, uiSchema, formData, properties, required = false, disabled, readonly } = props;
  const isTop = fieldPathId.path.length === 0;
  const add = canExpand(schema, uiSchema, formData) && (
    <Button small className="justify-self-start" disabled={disabled || readonly} onClick={props.onAddProperty}>
      Add a field
    </Button>
  );
  const content = properties.filter(({ hidden }) => !hidden).map(({ content: field }) => field);
  if (isTop) {
    return (
      <div className="grid gap-5">
        {content}
        {add}
      </div>
    );
  }
  return (
    <fieldset id={fieldPathId.$id} className="grid gap-4 border-l-2 border-line pl-4">
      {title && <Legend title={title} schema={schema} required={required} />}
      {content}
      {add}
    </fieldset>
  );
}

function ArrayFieldTemplate(props: ArrayFieldTemplateProps) {
  const { fieldPathId, title, schema, items, canAdd, onAddClick, required = false, disabled, readonly } = props;
  return (
    <fieldset id={fieldPathId.$id} className="grid gap-3">
      <Legend title={title} schema={schema} required={required} />
      {items}
      {canAdd && (
        <Button
          small
          className="justify-self-start"
          disabled={disabled || readonly}
          onClick={onAddClick}
          aria-label={`Add to ${title}`}
        >
          Add
        </Button>
      )}
    </fieldset>
  );
}

function ArrayFieldItemTemplate({ children, buttonsProps, index, totalItems }: ArrayFieldItemTemplateProps) {
  const { hasMoveUp, hasMoveDown, hasRemove, onMoveUpItem, onMoveDownItem, onRemoveItem, disabled } = buttonsProps;
  const item = `entry ${index + 1}`;
  return (
    <div className="flex flex-wrap items-end justify-end gap-2 sm:flex-nowrap sm:items-start">
      <div className="min-w-0 flex-1 basis-full sm:basis-auto">{children}</div>
      <div className="flex gap-1">
        {totalItems > 1 && (
          <>
            <Mini label={`Move ${item} up`} sign="↑" disabled={disabled || !hasMoveUp} onClick={onMoveUpItem} />
            <Mini label={`Move ${item} down`} sign="↓" disabled={disabled || !hasMoveDown} onClick={onMoveDownItem} />
          </>
        )}
        {hasRemove && <Mini label={`Remove ${item}`} sign="✕" disabled={disabled} onClick={onRemoveItem} />}
      </div>
    </div>
  );
}

interface MiniProps {
  label: string;
  sign: string;
  disabled?: boolean | undefined;
  onClick(): void;
}

function Mini({ label, sign, disabled, onClick }: MiniProps) {
  return (
    <Button kind="quiet" className="px-3" aria-label={label} disabled={disabled} onClick={() => onClick()}>
      <span aria-hidden="true">{sign}</span>
    </Button>
  );
}

function MultiSchemaFieldTemplate({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps) {
  return (
    <div className="grid gap-3">
      {selector}
      {optionSchemaField}
    </div>
  );
}

/** A field that the caller has added; its name can be changed. */
function WrapIfAdditionalTemplate(props: WrapIfAdditionalTemplateProps) {
  const { id, label, schema, children, disabled, readonly, onKeyRenameBlur, onRemoveProperty } = props;
  if (!('__additional_property' in schema)) return children;
  return (
    <div className="flex flex-wrap items-end gap-2 sm:flex-nowrap">
      <div className="grid flex-1 gap-1.5">
        <label htmlFor={`${id}-key`} className="text-sm font-medium">
          Name
        </label>
        <input
          id={`${id}-key`}
          key={label}
          defaultValue={label}
          onBlur={onKeyRenameBlur}
          disabled={disabled || readonly}
          className={CONTROL}
        />
      </div>
      <div className="min-w-0 flex-2">{children}</div>
      <Mini label={`Remove ${label}`} sign="✕" disabled={disabled || readonly} onClick={() => onRemoveProperty()} />
    </div>
  );
}

export const templates = {
  FieldTemplate,
  ObjectFieldTemplate,
  ArrayFieldTemplate,
  ArrayFieldItemTemplate,
  MultiSchemaFieldTemplate,
  WrapIfAdditionalTemplate,
};
