/** How the form library's parts look here. */
import {
  ADDITIONAL_PROPERTY_FLAG,
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  canExpand,
  type FieldTemplateProps,
  type IconButtonProps,
  type MultiSchemaFieldTemplateProps,
  type ObjectFieldTemplateProps,
  type TemplatesType,
  type UnsupportedFieldProps,
  type WrapIfAdditionalTemplateProps,
} from '@rjsf/utils';
import type { ReactNode } from 'react';
import { Button, cx } from './ui.tsx';

function FieldTemplate(props: FieldTemplateProps) {
  const { id, label, children, rawErrors, rawDescription, required, displayLabel, hidden, schema } = props;
  if (hidden) return <div className="hidden">{children}</div>;
  const isCheckbox = schema.type === 'boolean';
  const isGroup = schema.type === 'object' || schema.type === 'array';
  return (
    <WrapIfAdditionalTemplate {...props}>
      <div className="grid gap-1.5">
        {displayLabel && !isCheckbox && (
          <label htmlFor={id} className="text-sm font-medium">
            {label}
            {required && <Required />}
          </label>
        )}
        {children}
        {rawDescription && displayLabel && !isCheckbox && (
          <p id={`${id}__description`} className="text-xs text-faint">
            {rawDescription}
          </p>
        )}
        {!isGroup && rawErrors?.map((error) => <Wrong key={error}>{error}</Wrong>)}
      </div>
    </WrapIfAdditionalTemplate>
  );
}

function Required() {
  return (
    <span className="font-normal text-faint" title="required">
      {' '}
      (required)
    </span>
  );
}

function Wrong({ children }: { children: ReactNode }) {
  return <p className="text-xs text-bad">{children}</p>;
}

/** A property that the schema does not name: its name is the caller's to give. */
function WrapIfAdditionalTemplate(props: WrapIfAdditionalTemplateProps) {
  const { id, label, schema, disabled, readonly, children, onKeyRenameBlur, onRemoveProperty } = props;
  if (!(ADDITIONAL_PROPERTY_FLAG in schema)) return <div className={props.classNames}>{children}</div>;
  return (
    <div className="grid items-end gap-3 sm:grid-cols-[10rem_1fr_auto]">
      <div className="grid gap-1.5">
        <label htmlFor={`${id}-key`} className="text-sm font-medium">
          Name
        </label>
        <input
          id={`${id}-key`}
          className="form-control"
          defaultValue={label}
          disabled={disabled || readonly}
          onBlur={onKeyRenameBlur}
        />
      </div>
      {children}
      <Button small onClick={onRemoveProperty} disabled={disabled || readonly} aria-label={`Remove ${label}`}>
        Remove
      </Button>
    </div>
  );
}

/** The outermost object is the form itself; each within it is a group. */
function ObjectFieldTemplate(props: ObjectFieldTemplateProps) {
  const { title, description, properties, fieldPathId, schema, uiSchema, formData, onAddProperty, disabled } = props;
  if ((schema.oneOf || schema.anyOf) && !schema.properties && properties.length === 0) return null;
  const isRoot = fieldPathId.path.length === 0;
  return (
    <fieldset className={cx('grid min-w-0 gap-5', !isRoot && 'border-l-2 border-line pl-4')}>
      {title && !isRoot && <legend className="mb-2 text-sm font-medium">{title}</legend>}
      {description && <p className="text-sm text-faint">{description}</p>}
      {properties.map(({ name, content }) => (
        <div key={name}>{content}</div>
      ))}
      {properties.length === 0 && isRoot && <p className="text-sm text-faint">This agent takes no parameters.</p>}
      {canExpand(schema, uiSchema, formData) && (
        <div>
          <Button small onClick={onAddProperty} disabled={disabled}>
            Add a property
          </Button>
        </div>
      )}
    </fieldset>
  );
}

function ArrayFieldTemplate(props: ArrayFieldTemplateProps) {
  const { title, schema, items, canAdd, onAddClick, disabled, required, rawErrors } = props;
  return (
    <fieldset className="grid min-w-0 gap-3 border-l-2 border-line pl-4">
      <legend className="mb-2 text-sm font-medium">
        {title}
        {required && <Required />}
      </legend>
      {schema.description && <p className="text-xs text-faint">{schema.description}</p>}
      {items}
      {rawErrors?.map((error) => (
        <Wrong key={error}>{error}</Wrong>
      ))}
      {canAdd && (
        <div>
          <Button small onClick={onAddClick} disabled={disabled}>
            Add to {title || 'the list'}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

function ArrayFieldItemTemplate({ children, buttonsProps, hasToolbar, index }: ArrayFieldItemTemplateProps) {
  return (
    <div className="flex items-start gap-2">
      <div className="min-w-0 flex-1">{children}</div>
      {hasToolbar && buttonsProps.hasRemove && (
        <Button small onClick={buttonsProps.onRemoveItem} aria-label={`Remove item ${index + 1}`} className="mt-6">
          Remove
        </Button>
      )}
    </div>
  );
}

function MultiSchemaFieldTemplate({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps) {
  return (
    <div className="grid gap-4">
      {selector}
      {optionSchemaField}
    </div>
  );
}

function UnsupportedFieldTemplate({ reason }: UnsupportedFieldProps) {
  return <p className="text-sm text-faint">This part can only be written as JSON{reason ? ` (${reason})` : ''}.</p>;
}

function AddButton({ onClick, disabled }: IconButtonProps) {
  return (
    <Button small onClick={onClick} disabled={disabled}>
      Add
    </Button>
  );
}

export const templates: Partial<Omit<TemplatesType, 'ButtonTemplates'>> & {
  ButtonTemplates: Partial<TemplatesType['ButtonTemplates']>;
} = {
  FieldTemplate,
  WrapIfAdditionalTemplate,
  ObjectFieldTemplate,
  ArrayFieldTemplate,
  ArrayFieldItemTemplate,
  MultiSchemaFieldTemplate,
  UnsupportedFieldTemplate,
  ButtonTemplates: { AddButton },
};
