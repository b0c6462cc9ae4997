/**
 * Validates parameters in the page with an interpreter: Ajv compiles its checks with `eval`, which the page's CSP
 * forbids. The service checks again before any money moves.
 */
import { type Schema as CheckedSchema, type OutputUnit, Validator } from '@cfworker/json-schema';
import { type RJSFSchema, type RJSFValidationError, toErrorSchema, type ValidatorType } from '@rjsf/utils';
import { own } from '../../../sdk/wire/own.ts';
import { isSchema } from './schema.ts';

/** Location of a fault: names and indices from the root. */
export interface Flaw {
  path: string[];
  message: string;
}

const validators = new WeakMap<object, Validator>();

/** Keywords that may refuse more values once a pattern or format in them or beside them is removed. */
const STRICTER = new Set(['not', 'if', 'oneOf', 'contains', 'patternProperties']);
/** NAMED: keywords whose keys are names from the schema's author. DATA: keywords whose values are data. */
const NAMED = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);
const DATA = new Set(['const', 'enum', 'default', 'examples']);

/** Formats for which the interpreter refuses nothing that the service takes, unlike durations with fractions. */
const FORMATS: unknown[] = ['date', 'email', 'ipv4', 'ipv6', 'uri'];

/**
 * A copy, because the interpreter modifies the schema. It has no patterns, because a creator's pattern could block the
 * page for minutes; the service checks them with RE2, and most formats. Throws if the copy might refuse allowed values.
 */
function withoutPatterns(root: object): CheckedSchema {
  let hasPatterns = false;
  let isStricter = false;
  const copy = (value: unknown, isNamed = false): unknown => {
    if (Array.isArray(value)) return value.map((one) => copy(one));
    if (!isSchema(value)) return value;
    const entries = Object.entries(value).flatMap(([name, inner]) => {
      if (isNamed) return [[name, copy(inner)]];
      const isPattern =
        (name === 'pattern' && typeof inner === 'string') || (name === 'format' && !FORMATS.includes(inner));
      hasPatterns ||= isPattern || name === 'patternProperties';
      isStricter ||= STRICTER.has(name);
      if (isPattern) return [];
      return [[name, DATA.has(name) ? structuredClone(inner) : copy(inner, NAMED.has(name))]];
    });
    return Object.fromEntries(entries);
  };
  const schema = copy(root);
  if (hasPatterns && isStricter) throw new Error('Only the service can check this schema.');
  return schema as CheckedSchema;
}

function validatorOf(schema: object): Validator {
  const known = validators.get(schema);
  if (known) return known;
  const validator = new Validator(withoutPatterns(schema), '2020-12', false);
  validators.set(schema, validator);
  return validator;
}

/** The faults of the value; empty if there are none, or if this interpreter cannot handle the schema. */
export function findFlaws(schema: object, value: unknown): Flaw[] {
  try {
    return leaves(validatorOf(schema).validate(withoutUndefined(value)).errors);
  } catch {
    // The service checks the value anyway.
    return [];
  }
}

/** Keywords that only report a fault below them. */
const OUTER = ['properties', 'items', 'prefixItems', 'additionalProperties', '$ref', 'allOf', 'false'];

function leaves(errors: OutputUnit[]): Flaw[] {
  const flaws: Flaw[] = [];
  // If no alternative of a union fits, the faults of the alternatives are noise.
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  for (const unit of errors) {
    const isWithin = unions.some(
      (union) => union !== unit && unit.keywordLocation.startsWith(`${union.keywordLocation}/`),
    );
    const isRefused = unit.keyword === 'additionalProperties' && !errors.some((other) => isBelow(other, unit));
    if (isWithin || (OUTER.includes(unit.keyword) && !isRefused)) continue;
    flaws.push(flawOf(unit));
  }
  return flaws;
}

const isBelow = (other: OutputUnit, unit: OutputUnit): boolean =>
  other !== unit && other.keyword !== 'false' && other.instanceLocation.startsWith(`${unit.instanceLocation}/`);

const MESSAGES: Record<string, string> = {
  anyOf: 'This matches none of the allowed forms.',
  oneOf: 'This must match exactly one of the allowed forms.',
  enum: 'This is not one of the allowed values.',
  const: 'This is not the allowed value.',
  uniqueItems: 'The list contains the same entry twice.',
  additionalProperties: 'The agent has no parameter with this name.',
};

const TYPES: Record<string, string> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
};

function flawOf({ keyword, instanceLocation, error }: OutputUnit): Flaw {
  const path = instanceLocation
    .split('/')
    .slice(1)
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
  const missing = keyword === 'required' ? /property "(.*)"/.exec(error)?.[1] : undefined;
  if (missing !== undefined) return { path: [...path, missing], message: 'This is needed.' };
  if (keyword === 'type') {
    const [, got, expected = ''] = /type "(.*?)" is invalid. Expected "(.*)"/.exec(error) ?? [];
    // An entry that was added and not filled in.
    return { path, message: got === 'null' ? 'This is needed.' : `This must be ${own(TYPES, expected) ?? expected}.` };
  }
  return { path, message: own(MESSAGES, keyword) ?? error };
}

/** The value as it is sent: empty fields are absent. */
function withoutUndefined(value: unknown): unknown {
  return value === undefined ? {} : JSON.parse(JSON.stringify(value));
}

/** A fault in one line, for places without a field. */
export const describeFlaw = ({ path, message }: Flaw): string => `${path.join('.') || 'parameters'}: ${message}`;

const toErrors = (flaws: Flaw[]): RJSFValidationError[] =>
  flaws.map(({ path, message }) => ({
    property: path.map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${name}`)).join(''),
    message,
    stack: path.length > 0 ? `${path.join('.')}: ${message}` : message,
  }));

/** The validator interface of RJSF. */
export const validator: ValidatorType = {
  validateFormData(formData, schema) {
    const errors = toErrors(findFlaws(schema, formData));
    return { errors, errorSchema: toErrorSchema(errors) };
  },
  isValid(schema, formData, rootSchema) {
    try {
      return validatorOf(rooted(schema, rootSchema)).validate(withoutUndefined(formData)).valid;
    } catch {
      return false;
    }
  },
  rawValidation: (schema, formData) => ({ errors: findFlaws(schema, formData) as never[] }),
};

const rooteds = new WeakMap<object, RJSFSchema>();

/** A part of a schema with the root's definitions. An `$id` would change the base of the references. */
function rooted(schema: RJSFSchema, root: RJSFSchema): RJSFSchema {
  if (schema === root) return schema;
  const known = rooteds.get(schema);
  if (known) return known;
  const { $defs, definitions } = root;
  const { $id: _, ...own } = schema;
  const whole = { ...($defs && { $defs }), ...(definitions && { definitions }), ...own };
  rooteds.set(schema, whole);
  return whole;
}
