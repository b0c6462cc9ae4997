/** The allowed value of each keyword of a creator's JSON Schema, and the keywords that contain further schemas. */
import { own, valueAt } from '../own.ts';
import { MAX_FORMS, type SchemaKeyword } from '../schemaKeywords.ts';

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

export type Schema = Record<string, unknown>;

/** How a keyword's value contains schemas: it is one, an array of them, or an object of them by name. */
type Holds = 'schema' | 'list' | 'names';

interface Rule {
  check: (value: unknown) => boolean;
  /** The rule in words. */
  expected: string;
  holds?: Holds;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `true` and `false` are schemas too: they accept everything and nothing. */
export const isSchema = (value: unknown): value is Schema | boolean => typeof value === 'boolean' || isObject(value);

const isText = (value: unknown) => typeof value === 'string';
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
/** Ajv does not notice that a property without a name is missing. */
const isNames = (value: unknown) =>
  Array.isArray(value) && value.every((name) => isText(name) && name !== '') && new Set(value).size === value.length;
const isTypes = (value: unknown) =>
  Array.isArray(value)
    ? value.length > 0 && new Set(value).size === value.length && value.every((type) => TYPES.includes(type))
    : TYPES.includes(value as string);

const schema: Rule = { check: isSchema, expected: 'must be a schema', holds: 'schema' };
const schemas: Rule = {
  check: (value) => Array.isArray(value) && value.length > 0 && value.length <= MAX_FORMS,
  expected: `must be an array of 1 to ${MAX_FORMS} schemas`,
  holds: 'list',
};
const named: Rule = { check: isObject, expected: 'must be an object of schemas', holds: 'names' };
const number: Rule = { check: (value) => typeof value === 'number', expected: 'must be a number' };
const bound: Rule = { ...number, expected: 'must be a number: the bound itself, in place of `minimum` or `maximum`' };
const count: Rule = { check: isCount, expected: 'must be a whole number of at least 0' };
const text: Rule = { check: isText, expected: 'must be a string' };
const flag: Rule = { check: (value) => typeof value === 'boolean', expected: 'must be true or false' };
const anything: Rule = { check: () => true, expected: '' };

/** Typed by the published list, so that rules and list have the same keywords. */
export const RULES: Record<SchemaKeyword, Rule> = {
  type: { check: isTypes, expected: `must be one or several of ${TYPES.join(', ')}` },
  enum: {
    check: (value) => Array.isArray(value) && value.length > 0,
    expected: 'must be an array of at least one value',
  },
  const: anything,
  anyOf: schemas,
  oneOf: schemas,
  allOf: schemas,
  not: schema,
  $ref: { check: isText, expected: 'must be text such as #/$defs/Name' },
  $defs: named,
  definitions: named,
  properties: named,
  required: { check: isNames, expected: 'must be an array of different property names' },
  additionalProperties: schema,
  patternProperties: named,
  propertyNames: schema,
  minProperties: count,
  maxProperties: count,
  items: { ...schema, expected: 'must be a schema; write the array of schemas of a tuple as `prefixItems`' },
  prefixItems: schemas,
  minItems: count,
  maxItems: count,
  uniqueItems: flag,
  minLength: count,
  maxLength: count,
  pattern: text,
  format: text,
  minimum: number,
  maximum: number,
  exclusiveMinimum: bound,
  exclusiveMaximum: bound,
  multipleOf: { check: (value) => typeof value === 'number' && value > 0, expected: 'must be a number above 0' },
  title: text,
  description: text,
  default: anything,
  examples: anything,
  deprecated: anything,
  readOnly: anything,
  writeOnly: anything,
  discriminator: anything,
  contentEncoding: anything,
  contentMediaType: anything,
  contentSchema: anything,
  $schema: text,
  $id: text,
  $comment: text,
  id: text,
};

/** Advice for keywords of other dialects: OpenAPI 3.0, older drafts, form libraries, other models' function schemas. */
const REPLACEMENTS = new Map([
  ['nullable', 'allow null by `type`, such as "type": ["string", "null"], or by `anyOf`'],
  ['example', 'write `examples`, an array'],
  ['enumNames', 'write `x-enumNames`, or explain the values in `description`'],
  ['propertyOrdering', 'remove it, because `properties` keep their order'],
  ['additionalItems', 'write the array of `items` as `prefixItems`, and this schema as `items`'],
  ['unevaluatedProperties', 'write `additionalProperties`'],
  ['unevaluatedItems', 'write `items`'],
]);

/** The fault of an unknown keyword, and its replacement if it belongs to another dialect. */
export function unknownKeyword(keyword: string): string {
  const replacement = REPLACEMENTS.get(keyword);
  return `is not among the keywords that are allowed${replacement ? `: ${replacement}` : ''}`;
}

/** The field of a tool that holds its input schema, if this is a tool of OpenAI, Anthropic or MCP; else null. */
export function schemaFieldOfTool(value: Schema): string | null {
  if (isObject(value.function) && isObject(value.function.parameters)) return 'function.parameters';
  return ['parameters', 'inputSchema', 'input_schema'].find((field) => isObject(value[field])) ?? null;
}

/** The rule of a keyword; undefined for an unknown one, also for a name such as "constructor". */
export function ruleOf(keyword: string): Rule | undefined {
  return own<Rule>(RULES, keyword);
}

/** One schema directly inside another. */
export interface Child {
  keyword: string;
  /** Path from the outer schema: the keyword, and the name or index in it. */
  steps: string[];
  schema: unknown;
}

/** The schemas directly inside this one, in the order of its keywords. */
export function childrenOf(outer: Schema): Child[] {
  return Object.entries(outer).flatMap(([keyword, value]): Child[] => {
    const rule = ruleOf(keyword);
    if (!rule?.holds || !rule.check(value)) return [];
    if (rule.holds === 'schema') return [{ keyword, steps: [keyword], schema: value }];
    return Object.entries(value as object).map(([name, schema]) => ({ keyword, steps: [keyword, name], schema }));
  });
}

/** The path of a local `$ref` from the root; null if it is not local or its escapes are broken. */
export function stepsOf(ref: string): string[] | null {
  if (ref !== '#' && !ref.startsWith('#/')) return null;
  try {
    const steps = decodeURIComponent(ref.slice(1)).split('/').slice(1);
    return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return null;
  }
}

/** The value that a `$ref` names in this root; undefined if there is none. */
export function resolveRef(root: Schema, ref: string): unknown {
  const steps = stepsOf(ref);
  return steps ? valueAt(root, steps) : undefined;
}
