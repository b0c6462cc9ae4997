/**
 * A creator's schema, compiled by Ajv. Some schemas with some values take Ajv minutes. Set a time limit
 * (`timeLimit.ts`) to run a compiled schema on a stranger's value.
 */
import { _, type ErrorObject, str } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import Big from 'big.js';
import canonicalize from 'canonicalize';
import { CHECKED_FORMATS, SCHEMA_KEYWORDS } from '../../../sdk/wire/schemaKeywords.ts';
import { readPattern } from '../../../sdk/wire/schemas/patterns.ts';
import { isObject, ruleOf, type Schema } from '../../../sdk/wire/schemas/rules.ts';

/**
 * Longer text fits no format: no real value of these formats is longer, and Ajv's expressions are slow on long text.
 */
const MAX_FORMATTED_LENGTH = 2048;
/** Removed, because Ajv acts on some of them: on an `$id`, even within an example. */
const ANNOTATIONS: readonly string[] = SCHEMA_KEYWORDS.annotations;

const NUMBER = '\\d+(?:[.,]\\d+)?';
/** ISO 8601 with fractions and a sign, as pydantic writes them. Ajv's own expression is that of RFC 3339. */
const DURATION = new RegExp(
  `^[+-]?P(?!$)(${NUMBER}Y)?(${NUMBER}M)?(${NUMBER}W)?(${NUMBER}D)?(T(?=\\d)(${NUMBER}H)?(${NUMBER}M)?(${NUMBER}S)?)?$`,
);

/** Ajv's errors of a value; empty if it fits. */
export type CompiledSchema = (value: unknown) => ErrorObject[];

/** Compiles a schema that `findSchemaFaults` has passed. `allErrors` reports all faults, otherwise only the first. */
export function compileSchema(root: Schema, { allErrors }: { allErrors: boolean }): CompiledSchema {
  // A separate instance is freed together with the check. A shared one would keep every schema permanently.
  const ajv = new Ajv2020({
    strict: false,
    allErrors,
    ownProperties: true,
    validateSchema: false,
    logger: false,
    inlineRefs: false,
    // Ajv's optimization takes ten times as long as it ever saves here.
    code: { optimize: false, regExp: Object.assign(toRegExp, { code: 'RE2' }) },
  });
  addMultipleOf(ajv);
  addUniqueItems(ajv);
  addEquality(ajv);
  addBoundedFormats(ajv);
  const validate = ajv.compile(onlyRules(root) as Schema);
  return (value) => (validate(value) ? [] : (validate.errors ?? []));
}

/** The schema without annotations. */
function onlyRules(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const rules: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const rule = ruleOf(keyword);
    if (!rule || ANNOTATIONS.includes(keyword)) continue;
    if (rule.holds === 'schema') rules[keyword] = onlyRules(value);
    else if (rule.holds === 'list') rules[keyword] = (value as unknown[]).map(onlyRules);
    else if (rule.holds === 'names') {
      rules[keyword] = Object.fromEntries(Object.entries(value as Schema).map(([name, one]) => [name, onlyRules(one)]));
    } else rules[keyword] = value;
  }
  return rules;
}

function toRegExp(source: string) {
  const pattern = readPattern(source);
  if (typeof pattern === 'string') throw new Error(`the pattern ${source} ${pattern}`);
  // Ajv caches expressions by their text.
  return { test: pattern.test, toString: () => source };
}

/**
 * Divides decimals: as binary fractions, neither 0.3 nor 1070468.14 is a multiple of 0.01. Ajv's tolerance for that does
 * not fit small steps and large numbers.
 */
function addMultipleOf(ajv: Ajv2020): void {
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: {
      message: ({ schemaCode }) => str`must be multiple of ${schemaCode}`,
      params: ({ schemaCode }) => _`{ multipleOf: ${schemaCode} }`,
    },
    compile: (step: number) => {
      const decimal = Big(step);
      const isWhole = Number.isSafeInteger(step);
      // The remainder of whole numbers is exact, and a hundred times as fast.
      return (value: number): boolean =>
        isWhole && Number.isSafeInteger(value) ? value % step === 0 : Big(value).mod(decimal).eq(0);
    },
  });
}

/** Compares the items' canonical text, because Ajv compares every pair of objects. */
function addUniqueItems(ajv: Ajv2020): void {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not contain an item twice' },
    validate: (isUnique: boolean, items: unknown[]) =>
      !isUnique || new Set(items.map((item) => canonicalize(item))).size === items.length,
  });
}

/** `const` and `enum` by canonical text: Ajv's own comparison calls the object's `toString` or `valueOf`. */
function addEquality(ajv: Ajv2020): void {
  const isAmong = (allowed: unknown[]) => {
    const texts = new Set(allowed.map((one) => canonicalize(one)));
    return (value: unknown): boolean => texts.has(canonicalize(value));
  };
  ajv.removeKeyword('const');
  ajv.addKeyword({
    keyword: 'const',
    error: {
      message: 'must be equal to constant',
      params: ({ schemaCode }) => _`{ allowedValue: ${schemaCode} }`,
    },
    compile: (allowed: unknown) => isAmong([allowed]),
  });
  ajv.removeKeyword('enum');
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    error: {
      message: 'must be equal to one of the allowed values',
      params: ({ schemaCode }) => _`{ allowedValues: ${schemaCode} }`,
    },
    compile: (allowed: unknown[]) => isAmong(allowed),
  });
}

function addBoundedFormats(ajv: Ajv2020): void {
  addFormats.default(ajv, { mode: 'full', formats: [...CHECKED_FORMATS, 'iso-time', 'iso-date-time'] });
  // Times without a zone too, as pydantic and zod write them.
  const CHECKS: Partial<Record<string, unknown>> = {
    ...ajv.formats,
    duration: DURATION,
    time: ajv.formats['iso-time'],
    'date-time': ajv.formats['iso-date-time'],
  };
  for (const name of CHECKED_FORMATS) {
    const check = formatCheck(CHECKS[name]);
    ajv.addFormat(name, (text: string) => text.length <= MAX_FORMATTED_LENGTH && check(text));
  }
}

function formatCheck(format: unknown): (text: string) => boolean {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return format as (text: string) => boolean;
  return formatCheck((format as { validate: unknown }).validate);
}
