/** A JSON Schema for people: a row per field, and the JSON on request. */
import { useState } from 'react';
import type { Schema } from '../../../parts/form/schema.ts';
import { Button, cx, Required } from '../../../parts/ui.tsx';
import { Code } from '../../../parts/values.tsx';
import { fieldsOf, type SchemaField } from './rows.ts';

interface SchemaFieldsProps {
  title: string;
  schema: Schema;
  /** Text for a schema without fields. */
  none: string;
  /** True if callers fill it in, so that required fields are marked. */
  isInput?: boolean;
  /** `h3`: within another section. */
  as?: 'h2' | 'h3';
}

export function SchemaFields({ title, schema, none, isInput = false, as: Heading = 'h2' }: SchemaFieldsProps) {
  const [isRaw, setRaw] = useState(false);
  const { fields, isCut } = fieldsOf(schema);
  const [only] = fields;
  const isEmpty = fields.length === 1 && only?.path === '' && only.type === 'object';
  return (
    <section>
      <div className="flex items-center justify-between gap-4">
        <Heading className={Heading === 'h2' ? 'text-lg font-semibold' : 'text-sm font-semibold'}>{title}</Heading>
        <Button small aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          {isRaw ? 'Show fields' : 'Show JSON'}
        </Button>
      </div>
      <div className="mt-3">
        {isRaw ? (
          <Code text={JSON.stringify(schema, null, 2)} label={`${title} as JSON Schema`} />
        ) : isEmpty ? (
          <p className="text-sm text-faint">{only?.description || none}</p>
        ) : (
          <dl className="border-b border-line">
            {fields.map((field, index) => (
              <FieldRow key={`${field.path} ${index}`} field={field} isInput={isInput} />
            ))}
          </dl>
        )}
        {isCut && !isRaw && <p className="mt-2 text-sm text-faint">There are more fields: the JSON shows all.</p>}
      </div>
    </section>
  );
}

const INDENTS = ['', 'pl-4', 'pl-8', 'pl-12'];

function FieldRow({ field, isInput }: { field: SchemaField; isInput: boolean }) {
  const { path, depth, type, required, description, rules } = field;
  // The row above shows the parent's path.
  const start = depth === 0 ? 0 : path.lastIndexOf('.') + 1;
  const indent = INDENTS[Math.min(depth, INDENTS.length - 1)];
  return (
    <div
      className={cx(
        'grid gap-x-6 gap-y-1 text-sm sm:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]',
        depth === 0 ? 'border-t border-line py-3.5' : 'pb-2.5',
      )}
    >
      <dt className={cx('flex flex-wrap content-start items-baseline gap-x-2 gap-y-1', indent)}>
        {path !== '' && (
          <code className="font-mono font-medium">
            {start > 0 && <span className="sr-only">{path.slice(0, start)}</span>}
            {path.slice(start)}
          </code>
        )}
        <span className="text-faint">{path === '' ? `Type: ${type}` : type}</span>
        {isInput && required && path !== '' && <Required />}
      </dt>
      <dd className={cx(indent, 'sm:pl-0')}>
        {description && <p className="whitespace-pre-line">{description}</p>}
        {rules.length > 0 && <p className="text-faint">{sentence(rules.join('; '))}</p>}
      </dd>
    </div>
  );
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
