/** A JSON Schema for people: its fields as rows, each with its type and limits as text. */
import { own } from '../../../../sdk/wire/own.ts';
import { formsOf, isSchema, namesIn, resolve, type Schema } from '../../../parts/form/schema.ts';

export interface SchemaField {
  /** Path from the root, such as `rows[].name`; empty for the value itself. */
  path: string;
  depth: number;
  type: string;
  required: boolean;
  description: string;
  /** The allowed values, one rule each. */
  rules: string[];
}

/** Maximum depth and number of listed fields. The JSON shows all. */
const MAX_DEPTH = 6;
const MAX_FIELDS = 200;

/** The rows of a schema in its order; `isCut` if there are more. */
export function fieldsOf(root: Schema): { fields: SchemaField[]; isCut: boolean } {
  const fields: SchemaField[] = [];
  let isCut = false;
  function add(raw: unknown, path: string, depth: number, required: boolean): void {
    if (fields.length >= MAX_FIELDS || depth > MAX_DEPTH) {
      isCut = true;
      return;
    }
    const schema = resolve(raw, root);
    const isTop = path === '';
    const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
    if (!isTop || properties.length === 0) {
      fields.push({
        path,
        depth,
        type: typeOf(schema, root),
        required,
        description: describe(schema),
        rules: rulesOf(schema),
      });
    }
    const inner = isTop ? 0 : depth + 1;
    const needed = namesIn(schema.required);
    for (const [name, property] of properties)
      add(property, isTop ? name : `${path}.${name}`, inner, needed.includes(name));
    if (isSchema(schema.items)) {
      const items = resolve(schema.items, root);
      if (isSchema(items.properties) || isSchema(items.items) || describe(items)) add(items, `${path}[]`, inner, false);
    }
    const forms = formsOf(schema).filter((form) => isSchema(resolve(form, root).properties));
    for (const [index, form] of forms.entries())
      add(form, `${path}${forms.length > 1 ? ` (form ${index + 1})` : ''}`, inner, false);
  }
  add(root, '', 0, true);
  return { fields, isCut };
}

const describe = ({ description, title }: Schema): string =>
  typeof description === 'string' ? description : typeof title === 'string' ? title : '';

const TYPES: Record<string, string> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  object: 'object',
  array: 'list',
  null: 'null',
};

/** Such as `lists of numbers`. */
const pluralOf = (type: string): string =>
  type.replace(/^list\b/, 'lists').replace(/^(object|number|whole number)$/, '$1s');

function typeOf(schema: Schema, root: Schema, depth = 0): string {
  const types = Array.isArray(schema.type)
    ? namesIn(schema.type)
    : typeof schema.type === 'string'
      ? [schema.type]
      : [];
  if (types.length > 0) {
    return types
      .map((type) => {
        const items =
          type === 'array' && isSchema(schema.items) && depth < MAX_DEPTH ? resolve(schema.items, root) : null;
        return items ? `list of ${pluralOf(typeOf(items, root, depth + 1))}` : (own(TYPES, type) ?? type);
      })
      .join(' or ');
  }
  const forms = depth < MAX_DEPTH ? formsOf(schema).map((form) => typeOf(resolve(form, root), root, depth + 1)) : [];
  if (forms.length > 0) return [...new Set(forms)].join(' or ');
  if (isSchema(schema.properties)) return 'object';
  if (Array.isArray(schema.enum) || 'const' in schema) return 'one of a list';
  return 'anything';
}

const MAX_SHOWN = 20;
/** All digits of a number: a bound of 0.0001 must not be shown as 0. */
const exact = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 20 });
const show = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
};

function rulesOf(schema: Schema): string[] {
  const rules: string[] = [];
  const number = (name: string) => (typeof schema[name] === 'number' ? exact(schema[name]) : null);
  const range = (least: string | null, most: string | null, units = '', unit = units) => {
    const of = (text: string) => `${text} ${text === '1' ? unit : units}`.trimEnd();
    if (least && most) rules.push(least === most ? `exactly ${of(least)}` : `${least} to ${of(most)}`);
    else if (least) rules.push(`at least ${of(least)}`);
    else if (most) rules.push(`at most ${of(most)}`);
  };
  if (Array.isArray(schema.enum)) {
    const more = schema.enum.length > MAX_SHOWN ? `, and ${schema.enum.length - MAX_SHOWN} more` : '';
    rules.push(`one of ${schema.enum.slice(0, MAX_SHOWN).map(show).join(', ')}${more}`);
  }
  if ('const' in schema) rules.push(`always ${show(schema.const)}`);
  range(number('minimum'), number('maximum'));
  if (number('exclusiveMinimum')) rules.push(`more than ${number('exclusiveMinimum')}`);
  if (number('exclusiveMaximum')) rules.push(`less than ${number('exclusiveMaximum')}`);
  if (number('multipleOf')) rules.push(`a multiple of ${number('multipleOf')}`);
  range(number('minLength'), number('maxLength'), 'characters', 'character');
  range(number('minItems'), number('maxItems'), 'entries', 'entry');
  if (schema.uniqueItems === true) rules.push('no duplicate entries');
  if (typeof schema.format === 'string') rules.push(`format ${schema.format}`);
  if (typeof schema.pattern === 'string') rules.push(`pattern ${show(schema.pattern)}`);
  if (schema.default !== undefined) rules.push(`${show(schema.default)} if left out`);
  if (schema.deprecated === true) rules.push('deprecated');
  return rules;
}
