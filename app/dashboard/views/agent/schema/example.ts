/** Example parameters from an agent's schema: its author's examples, or else the simplest values. */
import Big from 'big.js';
import { own as ownOf } from '../../../../sdk/wire/own.ts';
import { formsOf, isSchema, namesIn, resolve, type Schema } from '../../../parts/form/schema.ts';

const MAX_DEPTH = 8;

const FORMATS: Record<string, string> = {
  date: '2026-01-31',
  time: '12:00:00Z',
  'date-time': '2026-01-31T12:00:00Z',
  duration: 'P1D',
  email: 'name@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/** Required parameters, and those with an example or a default. */
export function exampleParameters(root: Schema): Record<string, unknown> {
  const example = exampleOf(root, root, 0);
  return isSchema(example) ? example : {};
}

/** True if the author gave examples, so that filling them in is useful. */
export function hasExamples(root: Schema): boolean {
  const properties = resolve(root, root).properties;
  return (
    isSchema(properties) && Object.values(properties).some((property) => given(resolve(property, root)) !== undefined)
  );
}

function given(schema: Schema): unknown {
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  return schema.default ?? schema.const ?? (Array.isArray(schema.enum) ? schema.enum[0] : undefined);
}

function exampleOf(raw: unknown, root: Schema, depth: number): unknown {
  const schema = resolve(raw, root);
  const own = given(schema);
  if (own !== undefined || depth > MAX_DEPTH) return own ?? null;
  const [type] = Array.isArray(schema.type) ? schema.type : [schema.type];
  const [form] = formsOf(schema);
  if (form !== undefined && !isSchema(schema.properties)) return exampleOf(form, root, depth + 1);
  if (type === 'object' || isSchema(schema.properties)) return objectOf(schema, root, depth);
  if (type === 'array') {
    const count = Math.min(Number(schema.minItems ?? 0), 3);
    return Array.from({ length: count }, () => exampleOf(schema.items ?? {}, root, depth + 1));
  }
  if (type === 'integer' || type === 'number') return numberOf(schema);
  if (type === 'boolean') return false;
  if (type === 'string') return textOf(schema);
  return null;
}

function objectOf(schema: Schema, root: Schema, depth: number): Schema {
  const required = namesIn(schema.required);
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  return Object.fromEntries(
    properties
      .filter(([name, property]) => required.includes(name) || given(resolve(property, root)) !== undefined)
      .map(([name, property]) => [name, exampleOf(property, root, depth + 1)]),
  );
}

function numberOf({ minimum, exclusiveMinimum, maximum, multipleOf }: Schema): number {
  // In decimals: 0.1 * 3 is not a multiple of 0.1 as a binary fraction.
  const step = Big(typeof multipleOf === 'number' ? multipleOf : 1);
  const least =
    typeof minimum === 'number'
      ? Big(minimum)
      : typeof exclusiveMinimum === 'number'
        ? step.plus(exclusiveMinimum)
        : step;
  const whole = least.div(step).round(0, least.gt(0) ? Big.roundUp : Big.roundDown);
  const value = whole.times(step).toNumber();
  return typeof maximum === 'number' && value > maximum ? maximum : value;
}

function textOf({ format, minLength, maxLength }: Schema): string {
  const known = typeof format === 'string' ? ownOf(FORMATS, format) : undefined;
  if (known !== undefined) return known;
  const text = 'example'.padEnd(Number(minLength ?? 0), '.');
  return typeof maxLength === 'number' ? text.slice(0, maxLength) : text;
}
