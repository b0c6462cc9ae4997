/**
 * Creators' JSON Schemas. They come from strangers and run on strangers' data, so only keywords whose cost is linear are
 * allowed: no `$ref`, no `pattern`, no combinators. What is allowed is compiled by Ajv and checked before money moves.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';

const MAX_SCHEMA_DEPTH = 8;
const MAX_SCHEMA_BYTES = 32 * 1024;
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
/** Formats whose check is cheap for any text of the length allowed below. */
const FORMATS = ['date', 'time', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'] as const;
/** Longer text is refused before a format's expression sees it. No real value of these formats is longer. */
const MAX_FORMATTED_LENGTH = 2048;

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isNames = (value: unknown): boolean =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const isTypes = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0 && new Set(value).size === value.length && value.every((type) => TYPES.includes(type))
    : TYPES.includes(value as string);

/** Every keyword with its rule in words; `properties` and `items` are walked by themselves. */
const KEYWORDS: Record<string, [check: (value: unknown) => boolean, rule: string]> = {
  type: [isTypes, `must be one or several of ${TYPES.join(', ')}`],
  properties: [isPlainObject, 'must be an object of schemas'],
  items: [isPlainObject, 'must be a schema'],
  required: [isNames, 'must be an array of different property names'],
  additionalProperties: [(value) => typeof value === 'boolean', 'must be true or false'],
  enum: [(value) => Array.isArray(value) && value.length > 0, 'must be an array of at least one value'],
  format: [(value) => FORMATS.some((format) => format === value), `must be one of ${FORMATS.join(', ')}`],
  minimum: [isNumber, 'must be a number'],
  maximum: [isNumber, 'must be a number'],
  exclusiveMinimum: [isNumber, 'must be a number'],
  exclusiveMaximum: [isNumber, 'must be a number'],
  minLength: [isCount, 'must be a whole number of at least 0'],
  maxLength: [isCount, 'must be a whole number of at least 0'],
  minItems: [isCount, 'must be a whole number of at least 0'],
  maxItems: [isCount, 'must be a whole number of at least 0'],
  minProperties: [isCount, 'must be a whole number of at least 0'],
  maxProperties: [isCount, 'must be a whole number of at least 0'],
  title: [isText, 'must be a string'],
  description: [isText, 'must be a string'],
  default: [() => true, ''],
};

/** What is wrong with a schema, beginning with where; null where it may be listed. */
export function findSchemaFault(schema: Record<string, unknown>, where: string): string | null {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES) {
    return `${where} must be at most ${MAX_SCHEMA_BYTES} bytes`;
  }
  return findFault(schema, where, 1);
}

/** The same for an input schema, which besides must describe an object with its properties. */
export function findInputSchemaFault(schema: Record<string, unknown>, where: string): string | null {
  if (schema.type !== 'object') return `${where}.type must be "object"`;
  if (schema.properties === undefined) return `${where}.properties is missing`;
  return findSchemaFault(schema, where);
}

function findFault(schema: Record<string, unknown>, where: string, depth: number): string | null {
  if (depth > MAX_SCHEMA_DEPTH) return `${where} is nested deeper than ${MAX_SCHEMA_DEPTH} schemas`;
  for (const [keyword, value] of Object.entries(schema)) {
    // Object.hasOwn, because a name such as "constructor" is no keyword of ours.
    const known = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
    if (!known) return `${where}.${keyword} is not allowed; use ${Object.keys(KEYWORDS).join(', ')}`;
    const [check, rule] = known;
    if (!check(value)) return `${where}.${keyword} ${rule}`;
  }
  const { properties, items } = schema;
  const children: [string, unknown][] = isPlainObject(properties)
    ? Object.entries(properties).map(([name, child]) => [`${where}.properties.${name}`, child])
    : [];
  if (items !== undefined) children.push([`${where}.items`, items]);
  for (const [path, child] of children) {
    if (!isPlainObject(child)) return `${path} must be a schema`;
    const fault = findFault(child, path, depth + 1);
    if (fault) return fault;
  }
  return null;
}

/** The first thing that is wrong with `parameters`: where, as `parameters.name`, and what is right there. */
export interface ParameterFault {
  path: string;
  expected: string;
  /** What came instead. */
  got: unknown;
  /** The same in words for the caller. */
  message: string;
}

/** What is wrong with `parameters`; null where they fit. */
export type ParameterCheck = (parameters: Record<string, unknown>) => ParameterFault | null;

/** Compiles a schema that `findInputSchemaFault` has passed. */
export function compileParameterCheck(schema: Record<string, unknown>): ParameterCheck {
  // An instance of its own is forgotten together with the check; a shared one would keep every schema for ever.
  const ajv = new Ajv({ strict: false, allErrors: false, ownProperties: true, validateSchema: false, logger: false });
  addFormats.default(ajv, { mode: 'full', formats: [...FORMATS] });
  boundFormats(ajv);
  const validate: ValidateFunction = ajv.compile(schema);
  return (parameters) => (validate(parameters) ? null : explain(validate.errors?.[0], parameters));
}

function boundFormats(ajv: Ajv): void {
  for (const name of FORMATS) {
    const format = ajv.formats[name];
    const test = format instanceof RegExp ? (text: string) => format.test(text) : undefined;
    const check = test ?? formatFunction(format);
    ajv.addFormat(name, (text: string) => text.length <= MAX_FORMATTED_LENGTH && check(text));
  }
}

function formatFunction(format: unknown): (text: string) => boolean {
  if (typeof format === 'function') return format as (text: string) => boolean;
  const { validate } = format as { validate: RegExp | ((text: string) => boolean) };
  return validate instanceof RegExp ? (text) => validate.test(text) : validate;
}

function explain(error: ErrorObject | undefined, parameters: Record<string, unknown>): ParameterFault {
  const steps = (error?.instancePath ?? '').split('/').slice(1);
  const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const describe = (path: string[], expected: string, words = expected): ParameterFault => {
    const where = ['parameters', ...path].join('.');
    return { path: where, expected, got: at(parameters, path), message: `${where} ${words}` };
  };
  switch (error?.keyword) {
    case 'required':
      return describe([...names, error.params.missingProperty], 'is required', 'is missing');
    case 'additionalProperties': {
      const path = [...names, error.params.additionalProperty];
      return describe(path, 'no parameter of this name', 'is not a parameter of this agent');
    }
    case 'enum':
      return describe(names, `must be one of ${JSON.stringify(error.params.allowedValues)}`);
    default:
      return describe(names, error?.message ?? 'must fit the input schema');
  }
}

function at(value: unknown, path: string[]): unknown {
  return path.reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], value);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
