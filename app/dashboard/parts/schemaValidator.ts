/** The form library's validator over an interpreter of JSON Schema: the page's policy forbids those that compile. */
import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { type RJSFSchema, type RJSFValidationError, toErrorSchema, type ValidatorType } from '@rjsf/utils';

/** Keywords that only say that something within them does not fit, which is said there. */
const OUTER = ['properties', 'items', 'prefixItems', '$ref', 'allOf', 'additionalProperties', 'patternProperties'];
const WITHIN = /^(Property|Items?) .* (does not match|did not match)/;

const compiled = new WeakMap<object, WeakMap<object, Validator>>();

function compile(schema: RJSFSchema | boolean, root: RJSFSchema): Validator {
  if (typeof schema === 'boolean') return new Validator(schema);
  const known = compiled.get(root) ?? new WeakMap<object, Validator>();
  compiled.set(root, known);
  const before = known.get(schema);
  if (before) return before;
  // A part of a schema refers to the definitions of the whole. An $id would change what references are read against.
  const { $id: _, ...own } = schema;
  const { $defs, definitions } = root;
  const whole = { ...($defs && { $defs }), ...(definitions && { definitions }), ...own };
  const validator = new Validator(whole as Schema, '2020-12', false);
  known.set(schema, validator);
  return validator;
}

/** Everything that is wrong with a value; empty where it fits. Throws where the schema cannot be read. */
export function findValueFaults(schema: RJSFSchema, value: unknown): RJSFValidationError[] {
  const { valid, errors } = compile(schema, schema).validate(value);
  if (valid) return [];
  const inner = errors.filter(({ keyword, error }) => !(OUTER.includes(keyword) && WITHIN.test(error)));
  return (inner.length > 0 ? inner : errors).map(toFault);
}

function toFault({ keyword, instanceLocation, error }: OutputUnit): RJSFValidationError {
  const steps = instanceLocation
    .split('/')
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  const missing = keyword === 'required' ? /"(.*)"/.exec(error)?.[1] : undefined;
  const message = missing === undefined ? error : 'is required';
  const path = missing === undefined ? steps : [...steps, missing];
  return {
    name: keyword,
    message,
    property: `.${path.join('.')}`,
    stack: `${path.join('.') || 'the value'}: ${message}`,
  };
}

export const validator: ValidatorType = {
  validateFormData(value, schema, _customValidate, transformErrors, uiSchema) {
    const found = findValueFaults(schema, value ?? {});
    const errors = transformErrors ? transformErrors(found, uiSchema) : found;
    return { errors, errorSchema: toErrorSchema(errors) };
  },
  isValid(schema, value, root) {
    try {
      return compile(schema, root).validate(value).valid;
    } catch {
      return false;
    }
  },
  rawValidation(schema, value) {
    try {
      return { errors: findValueFaults(schema, value) as never[] };
    } catch (error) {
      return { validationError: error as Error };
    }
  },
};
