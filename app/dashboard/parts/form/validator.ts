/**
 * Validation of parameters in the page, by an interpreter: Ajv compiles its checks with `eval`, which the page's policy
 * forbids. The service checks again before any money moves.
 */
import { type Schema as CheckedSchema, type OutputUnit, Validator } from '@cfworker/json-schema';
import type { RJSFSchema, RJSFValidationError, ValidatorType } from '@rjsf/utils';
import { createErrorHandler, toErrorSchema, unwrapErrorHandler, validationDataMerge } from '@rjsf/utils';

/** Where something is wrong: names and indices from the top. */
export interface Flaw {
  path: string[];
  message: string;
}

const validators = new WeakMap<object, Validator>();

/** Of a copy, because the interpreter writes into what it is given. */
function validatorOf(schema: object): Validator {
  const known = validators.get(schema);
  if (known) return known;
  const validator = new Validator(structuredClone(schema) as CheckedSchema, '2020-12', false);
  validators.set(schema, validator);
  return validator;
}

/** What is wrong with the value; empty where nothing is, or the schema is beyond this interpreter. */
export function findFlaws(schema: object, value: unknown): Flaw[] {
  try {
    return leaves(validatorOf(schema).validate(withoutUndefined(value)).errors);
  } catch {
    // Such as a pattern that only RE2 reads: the service decides then.
    return [];
  }
}

/** Keywords that only say that something below them is wrong. */
const OUTER = ['properties', 'items', 'prefixItems', 'additionalProperties', '$ref', 'allOf', 'false'];

function leaves(errors: OutputUnit[]): Flaw[] {
  const flaws: Flaw[] = [];
  // Of a union that fits no form, the forms' own flaws are noise.
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
  anyOf: 'This fits none of the allowed forms.',
  oneOf: 'This must fit exactly one of the allowed forms.',
  enum: 'This is not one of the allowed values.',
  const: 'This is not the allowed value.',
  uniqueItems: 'The same entry is there twice.',
  additionalProperties: 'There is a parameter that this agent does not know.',
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
    // An entry that is added and not filled in.
    return { path, message: got === 'null' ? 'This is needed.' : `This must be ${TYPES[expected] ?? expected}.` };
  }
  return { path, message: MESSAGES[keyword] ?? error };
}

/** As it is sent: fields that are empty are not there. */
function withoutUndefined(value: unknown): unknown {
  return value === undefined ? {} : JSON.parse(JSON.stringify(value));
}

/** In one line, for where there is no field to say it at. */
export const describeFlaw = ({ path, message }: Flaw): string => `${path.join('.') || 'parameters'}: ${message}`;

const toErrors = (flaws: Flaw[]): RJSFValidationError[] =>
  flaws.map(({ path, message }) => ({
    property: path.map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${name}`)).join(''),
    message,
    stack: path.length > 0 ? `${path.join('.')}: ${message}` : message,
  }));

/** What RJSF asks of a validator. */
export const validator: ValidatorType = {
  validateFormData(formData, schema, customValidate, transformErrors, uiSchema) {
    const found = toErrors(findFlaws(schema, formData));
    const errors = transformErrors ? transformErrors(found, uiSchema) : found;
    const data = { errors, errorSchema: toErrorSchema(errors) };
    if (!customValidate) return data;
    const handler = customValidate(formData, createErrorHandler(formData ?? {}), uiSchema);
    return validationDataMerge(data, unwrapErrorHandler(handler));
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

/** A part of a schema with the definitions that its references name. An `$id` would change what they are read against. */
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
