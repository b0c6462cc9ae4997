/**
 * A creator's schema compiled by Ajv, with a meter in every schema of it: checking ends when its work is used up, however
 * schema and parameters play together.
 */
import { _, type ErrorObject, type KeywordCxt } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import canonicalize from 'canonicalize';
import { CHECKED_FORMATS } from '../../../sdk/wire/schemaKeywords.ts';
import { type Pattern, readPattern } from '../../../sdk/wire/schemas/patterns.ts';
import { isObject, resolveRef, ruleOf, type Schema } from '../../../sdk/wire/schemas/rules.ts';

/** Units of work for one check, about 20 ns each: half a second. Ordinary checks need thousands. */
export const MAX_WORK = 20_000_000;
/** A schema applied to a value once, with the error where it fails. */
const VISIT = 2;
/** One form of a union that may fail: its error is made, and thrown away. */
const FORM = 10;
/** One name of an object that is walked, or one character of an item that must be unique. */
const NAME = 50;
const UNIQUE_STEP = 4;
/** One character by an expression so small that its states are soon known, and by one whose states never repeat. */
const SMALL_PATTERN = 20;
const SMALL_PATTERN_STEP = 10;
const PATTERN_STEP = 250;
/** Longer text is refused before a format's expression sees it. No real value of these formats is longer. */
const MAX_FORMATTED_LENGTH = 2048;
/** Keywords that walk all names of an object. */
const WALKERS = ['additionalProperties', 'patternProperties', 'propertyNames', 'minProperties', 'maxProperties'];
/** Keywords that say nothing about validity, and those that are resolved here. */
const LEFT_OUT = ['$schema', '$id', 'id', '$comment', '$defs', 'definitions', 'discriminator', 'default', 'examples'];

/** The parameters and the schema together would take too long to check. */
export class TooMuchWork extends Error {
  override name = 'TooMuchWork';
}

export interface CompiledSchema {
  /** What is wrong with a value, as Ajv says it; empty where it fits. Throws TooMuchWork. */
  validate(value: unknown): ErrorObject[];
}

/**
 * Compiles a schema that `findSchemaFaults` has passed. `allErrors`: tell all that is wrong, else what is found first;
 * `maxWork`: the units that one check may take.
 */
export function compileSchema(
  root: Schema,
  { allErrors, maxWork }: { allErrors: boolean; maxWork: number },
): CompiledSchema {
  let left = maxWork;
  const spend = (units: number): void => {
    left -= units;
    if (left < 0) throw new TooMuchWork();
  };
  const patternOf = createPatterns();
  const regExp = (source: string) => meteredPattern(source, patternOf(source) as Pattern, spend);
  // An instance of its own is forgotten together with the check; a shared one would keep every schema for ever.
  const ajv = new Ajv2020({
    strict: false,
    allErrors,
    ownProperties: true,
    validateSchema: false,
    logger: false,
    inlineRefs: false,
    // 0.3 is a multiple of 0.1 for everybody but a processor.
    multipleOfPrecision: 9,
    // Ajv's own optimizing takes ten times as long as it ever saves here.
    code: { optimize: false, regExp: Object.assign(regExp, { code: 'RE2' }) },
  });
  addMeter(ajv, spend);
  addUniqueItems(ajv, spend);
  addEquality(ajv, spend);
  addBoundedFormats(ajv, spend);
  const validate = ajv.compile(withMeters(root, (source) => patternOf(source) !== null));
  return {
    validate(value) {
      left = maxWork;
      return validate(value) ? [] : (validate.errors ?? []);
    },
  };
}

/**
 * The schema as Ajv gets it: each one behind its meter, without what is only said, and with what `$ref` names moved to
 * plain names, so that escapes and odd places are settled here.
 */
function withMeters(root: Schema, isReadable: (pattern: string) => boolean): Schema {
  const names = new Map<unknown, string>();
  const waiting: [name: string, schema: unknown][] = [];
  function copy(schema: unknown): unknown {
    if (!isObject(schema)) return schema;
    const inner: Schema = {};
    for (const [keyword, value] of Object.entries(schema)) {
      const rule = ruleOf(keyword);
      if (!rule || LEFT_OUT.includes(keyword)) continue;
      if (keyword === '$ref') inner.$ref = `#/$defs/${nameOf(resolveRef(root, String(value)))}`;
      else if (keyword === 'pattern' && !isReadable(String(value))) continue;
      else if (rule.holds === 'schema') inner[keyword] = copy(value);
      else if (rule.holds === 'list') inner[keyword] = (value as unknown[]).map(copy);
      else if (rule.holds === 'names') {
        inner[keyword] = Object.fromEntries(Object.entries(value as Schema).map(([name, one]) => [name, copy(one)]));
      } else inner[keyword] = value;
    }
    const walks = WALKERS.some((keyword) => keyword in inner);
    return { allOf: [{ meter: [VISIT + workOf(schema), walks] }, inner] };
  }
  function nameOf(target: unknown): string {
    const known = names.get(target);
    if (known !== undefined) return known;
    const name = `s${names.size}`;
    names.set(target, name);
    waiting.push([name, target]);
    return name;
  }
  const whole = copy(root) as Schema;
  const $defs: Schema = {};
  for (let next = waiting.pop(); next; next = waiting.pop()) $defs[next[0]] = copy(next[1]);
  return { ...whole, $defs };
}

/** What a schema compares with one by one, and the forms that it tries. */
function workOf({ enum: values, const: value, required, properties, anyOf, oneOf }: Schema): number {
  const names = isObject(properties) ? Object.keys(properties).length : 0;
  const forms = [anyOf, oneOf].reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
  return sizeOf(values) + sizeOf(value) + sizeOf(required) + names + FORM * forms;
}

function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 1;
  return Object.values(value).reduce<number>((sum, item) => sum + sizeOf(item), 1);
}

/** Each expression compiled once; null for what RE2 cannot read, which stands beside a format that is checked. */
function createPatterns(): (source: string) => Pattern | null {
  const known = new Map<string, Pattern | null>();
  return (source) => {
    const before = known.get(source);
    if (before !== undefined) return before;
    const pattern = readPattern(source);
    known.set(source, pattern);
    return pattern;
  };
}

type Spend = (units: number) => void;

function addMeter(ajv: Ajv2020, spend: Spend): void {
  // Counting names is itself a walk, so each object is counted once.
  const counted = new WeakMap<object, number>();
  const countNames = (value: object): number => {
    const known = counted.get(value) ?? Object.keys(value).length;
    counted.set(value, known);
    return known;
  };
  const meter = (units: number, walks: boolean, value: unknown): void => {
    // Lengths of texts are counted by their characters.
    if (typeof value === 'string') spend(units + value.length / 4);
    else spend(walks && isObject(value) ? units + NAME * countNames(value) : units);
  };
  ajv.addKeyword({
    keyword: 'meter',
    schemaType: 'array',
    code({ gen, schema, data }: KeywordCxt) {
      const [units, walks] = schema as [number, boolean];
      gen.code(_`${gen.scopeValue('func', { ref: meter })}(${units}, ${walks}, ${data})`);
    },
  });
}

/** By the items' canonical text, because Ajv compares objects each with each. */
function addUniqueItems(ajv: Ajv2020, spend: Spend): void {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not hold an item twice' },
    validate(isUnique: boolean, items: unknown[]): boolean {
      if (!isUnique) return true;
      const seen = new Set<string>();
      for (const item of items) {
        const text = canonicalize(item) ?? '';
        spend(VISIT + text.length * UNIQUE_STEP);
        if (seen.has(text)) return false;
        seen.add(text);
      }
      return true;
    },
  });
}

/** `const` and `enum` by canonical text: Ajv's own comparison calls what an object has under `toString` or `valueOf`. */
function addEquality(ajv: Ajv2020, spend: Spend): void {
  const isAmong = (allowed: unknown[]) => {
    const texts = new Set(allowed.map((one) => canonicalize(one)));
    const hasObjects = allowed.some((one) => typeof one === 'object' && one !== null);
    return (value: unknown): boolean => {
      const isComposed = typeof value === 'object' && value !== null;
      if (isComposed && !hasObjects) return false;
      const text = canonicalize(value) ?? '';
      if (isComposed) spend(VISIT + text.length * UNIQUE_STEP);
      return texts.has(text);
    };
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

function meteredPattern(
  source: string,
  pattern: Pattern,
  spend: Spend,
): Pick<Pattern, 'test'> & { toString(): string } {
  const step = pattern.size <= SMALL_PATTERN ? SMALL_PATTERN_STEP : PATTERN_STEP + pattern.size;
  return {
    test(text) {
      spend(VISIT + text.length * step);
      return pattern.test(text);
    },
    // Ajv tells expressions apart by it.
    toString: () => source,
  };
}

function addBoundedFormats(ajv: Ajv2020, spend: Spend): void {
  addFormats.default(ajv, { mode: 'full', formats: [...CHECKED_FORMATS] });
  for (const name of CHECKED_FORMATS) {
    const check = formatCheck(ajv.formats[name]);
    ajv.addFormat(name, (text: string) => {
      // Some of these expressions try an end for each beginning.
      spend(VISIT + (text.length * Math.min(text.length, MAX_FORMATTED_LENGTH)) / 64);
      return text.length <= MAX_FORMATTED_LENGTH && check(text);
    });
  }
}

function formatCheck(format: unknown): (text: string) => boolean {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return format as (text: string) => boolean;
  return formatCheck((format as { validate: unknown }).validate);
}
