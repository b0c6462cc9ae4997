/** Reads creators' JSON Schemas: resolves references, and decides if a form is possible. */
import { resolveRef } from '../../../sdk/wire/schemas/rules.ts';

export type Schema = Record<string, unknown>;

/** Limits chains of references, which may form a cycle. */
const MAX_REFERENCES = 6;

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Resolves a `$ref`, merged with the keywords beside it, and merges the parts of an `allOf`. */
export function resolve(schema: unknown, root: Schema, depth = 0): Schema {
  if (!isSchema(schema) || depth > MAX_REFERENCES) return isSchema(schema) ? schema : {};
  let found: Schema = schema;
  if (typeof schema.$ref === 'string') {
    const { $ref, ...beside } = schema as Schema & { $ref: string };
    found = { ...resolve(resolveRef(root, $ref), root, depth + 1), ...beside };
  }
  if (!Array.isArray(found.allOf)) return found;
  const { allOf, ...own } = found;
  const parts = [...allOf.map((part) => resolve(part, root, depth + 1)), own];
  const properties = parts.flatMap((part) => (isSchema(part.properties) ? Object.entries(part.properties) : []));
  const required = parts.flatMap((part) => namesIn(part.required));
  const whole: Schema = Object.fromEntries(parts.flatMap((part) => Object.entries(part)));
  if (properties.length > 0) whole.properties = Object.fromEntries(properties);
  if (required.length > 0) whole.required = [...new Set(required)];
  return whole;
}

export const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

export const formsOf = ({ anyOf, oneOf }: Schema): unknown[] => [
  ...(Array.isArray(anyOf) ? anyOf : []),
  ...(Array.isArray(oneOf) ? oneOf : []),
];

/** Keywords that a form cannot show correctly. */
const BEYOND = ['prefixItems', 'patternProperties', 'not'];

/** True if RJSF can show every field of the schema. */
export function isFormable(root: Schema): boolean {
  const isShown = (raw: unknown, depth: number): boolean => {
    const schema = resolve(raw, root);
    if (depth > 8 || BEYOND.some((name) => name in schema)) return false;
    const { properties, items, type } = schema;
    // RJSF would find the inherited value of such a name.
    if (isSchema(properties) && Object.keys(properties).some((name) => name in Object.prototype)) return false;
    const inner = [
      ...(isSchema(properties) ? Object.values(properties) : []),
      ...(isSchema(items) ? [items] : []),
      ...formsOf(schema),
    ];
    if (type === 'array' && !isSchema(items)) return false;
    const isTyped = type !== undefined || 'enum' in schema || 'const' in schema || inner.length > 0;
    return isTyped && inner.every((one) => isShown(one, depth + 1));
  };
  return isSchema(root) && isShown(root, 0);
}

/** Names of the required parameters that are still empty, by their titles. */
export function missingIn(root: Schema, value: Record<string, unknown>): string[] {
  const { properties, required } = resolve(root, root);
  const isEmpty = (one: unknown) => one === undefined || one === null || one === '';
  const named = isSchema(properties) ? properties : {};
  return namesIn(required)
    .filter((name) => isEmpty(value[name]))
    .map((name) => {
      const { title } = resolve(named[name], root);
      return typeof title === 'string' ? title : name;
    });
}

/** True if there is anything to fill in. */
export function hasFields(root: Schema): boolean {
  const { properties, anyOf, oneOf } = resolve(root, root);
  return (isSchema(properties) && Object.keys(properties).length > 0) || Boolean(anyOf ?? oneOf);
}
