/**
 * Checks creators' JSON Schemas. Anyone can write them and they run on anyone's data, so their cost is bounded here:
 * bytes, number of schemas, depth with every `$ref` followed, and patterns. The relay refuses schemas by these checks,
 * and the web page shows the faults to the creator. Not exported by `wire`'s index, because RE2 is heavy.
 */
import {
  MAX_SCHEMA_BYTES,
  MAX_SCHEMA_DEPTH,
  MAX_SCHEMAS,
  MAX_SCHEMAS_FOLLOWED,
  SCHEMA_KEYWORDS,
} from '../schemaKeywords.ts';
import { type Pattern, readPattern } from './patterns.ts';
import {
  childrenOf,
  isObject,
  isSchema,
  ruleOf,
  type Schema,
  schemaFieldOfTool,
  stepsOf,
  unknownKeyword,
} from './rules.ts';

/** Limits for all patterns of a schema: characters, and compiled instructions. They take at most 0.2 s to compile. */
const MAX_PATTERN_CHARACTERS = 8_192;
const MAX_PATTERN_SIZE = 10_000;
/** Definitions only name schemas; they apply where a `$ref` names them. */
const DEFINITIONS = ['$defs', 'definitions'];

/** Number of faults that a message names. */
const MAX_TOLD = 20;

/** One fault; `path` is the path of the keyword or schema from the document's root. */
export interface SchemaFault {
  path: string;
  /** The rule, as a phrase that starts with a verb. */
  expected: string;
  got: unknown;
}

/** All faults of a schema; empty if it may be listed. `where` starts each path. */
export function findSchemaFaults(schema: Schema, where: string): SchemaFault[] {
  const bytes = new TextEncoder().encode(JSON.stringify(schema)).length;
  if (bytes > MAX_SCHEMA_BYTES) {
    return [{ path: where, expected: `must be at most ${MAX_SCHEMA_BYTES} bytes`, got: bytes }];
  }
  const survey = new Survey(where);
  survey.read(schema, []);
  if (survey.faults.length === 0) survey.requireReferences();
  if (survey.faults.length === 0) survey.requireSize(schema);
  return survey.faults;
}

/** The same for an input schema, which must also describe an object. */
export function findInputSchemaFaults(schema: Schema, where: string): SchemaFault[] {
  const field = schemaFieldOfTool(schema);
  if (field)
    return [{ path: where, expected: `must be a schema and not a whole tool: pass its \`${field}\``, got: schema }];
  const isCombined = ['$ref', 'anyOf', 'oneOf', 'allOf'].some((keyword) => keyword in schema);
  const isObjects = schema.type === 'object' || (schema.type === undefined && isCombined);
  const own = isObjects ? [] : [{ path: `${where}.type`, expected: 'must be "object"', got: schema.type }];
  return [...own, ...findSchemaFaults(schema, where)];
}

const keyOf = (steps: string[]): string => JSON.stringify(steps);

/** Collects facts about a schema while it is read. */
class Survey {
  readonly faults: SchemaFault[] = [];
  /** Every schema in it by path. */
  private readonly schemas = new Map<string, Schema | boolean>();
  private readonly references = new Map<Schema, { path: string; ref: string }>();
  /** Each pattern, or its error. */
  private readonly patterns = new Map<string, Pattern | string>();
  private patternSize = 0;
  private patternCharacters = 0;
  private readonly where: string;

  constructor(where: string) {
    this.where = where;
  }

  private pathOf(steps: string[]): string {
    return [this.where, ...steps].join('.');
  }

  private refuse(steps: string[], expected: string, got: unknown): void {
    this.faults.push({ path: this.pathOf(steps), expected, got });
  }

  /** Reads a schema and all schemas in it. Bodies nest at most 64 levels, so recursion is safe. */
  read(schema: unknown, steps: string[]): void {
    if (!isSchema(schema)) {
      this.refuse(steps, 'must be a schema', schema);
      return;
    }
    this.schemas.set(keyOf(steps), schema);
    if (!isObject(schema)) return;
    for (const [keyword, value] of Object.entries(schema)) this.readKeyword(schema, keyword, value, steps);
    for (const child of childrenOf(schema)) this.read(child.schema, [...steps, ...child.steps]);
  }

  private readKeyword(schema: Schema, keyword: string, value: unknown, steps: string[]): void {
    if (keyword.startsWith('x-')) return;
    const rule = ruleOf(keyword);
    const here = [...steps, keyword];
    if (!rule) this.refuse(here, unknownKeyword(keyword), value);
    else if (!rule.check(value)) this.refuse(here, rule.expected, value);
    else if (keyword === '$id' && steps.length > 0) this.refuse(here, 'is allowed only at the top level', value);
    else if (keyword === '$ref') this.references.set(schema, { path: this.pathOf(here), ref: String(value) });
    else if (keyword === 'pattern') this.readPattern(String(value), here);
    else if (keyword === 'patternProperties') {
      for (const pattern of Object.keys(value as object)) this.readPattern(pattern, [...here, pattern]);
    }
  }

  private readPattern(source: string, steps: string[]): void {
    if (!this.patterns.has(source)) {
      this.patternCharacters += source.length;
      if (this.patternCharacters > MAX_PATTERN_CHARACTERS) {
        this.refuse(
          steps,
          `and all other patterns must be at most ${MAX_PATTERN_CHARACTERS} characters together`,
          source,
        );
        return;
      }
      // Beyond the limit no further pattern is compiled.
      if (this.patternSize > MAX_PATTERN_SIZE) return;
      const compiled = readPattern(source);
      this.patternSize += typeof compiled === 'string' ? 0 : compiled.size;
      this.patterns.set(source, compiled);
    }
    const pattern = this.patterns.get(source);
    if (typeof pattern === 'string') this.refuse(steps, pattern, source);
  }

  requireReferences(): void {
    for (const { path, ref } of this.references.values()) {
      const steps = stepsOf(ref);
      if (steps && this.schemas.has(keyOf(steps))) continue;
      this.faults.push({ path, expected: 'must name a schema of the same document, such as #/$defs/Name', got: ref });
    }
  }

  /** Bounds its size with every `$ref` followed. The check itself follows each `$ref` once. */
  requireSize(root: Schema): void {
    const known = new Map<Schema, { schemas: number; depth: number }>();
    const open = new Set<Schema>();
    const measure = (schema: Schema | boolean): { schemas: number; depth: number } => {
      if (!isObject(schema)) return { schemas: 1, depth: 1 };
      const before = known.get(schema);
      if (before) return before;
      open.add(schema);
      const size = { schemas: 1, depth: 1 };
      for (const inner of this.appliedBy(schema, open)) {
        const { schemas, depth } = measure(inner);
        size.schemas += schemas;
        size.depth = Math.max(size.depth, depth + 1);
      }
      open.delete(schema);
      known.set(schema, size);
      return size;
    };
    const size = measure(root);
    // Unused definitions must not form a cycle either.
    for (const schema of this.schemas.values()) measure(schema);
    if (this.faults.length > 0) return;
    if (size.depth > MAX_SCHEMA_DEPTH) {
      this.refuse(
        [],
        `must not be nested deeper than ${MAX_SCHEMA_DEPTH} schemas, if each $ref counts as the schema that it names`,
        size.depth,
      );
    }
    if (this.schemas.size > MAX_SCHEMAS) {
      this.refuse([], `must not contain more than ${MAX_SCHEMAS} schemas`, this.schemas.size);
    }
    if (size.schemas > MAX_SCHEMAS_FOLLOWED) {
      const expected = `must not contain more than ${MAX_SCHEMAS_FOLLOWED} schemas, if each $ref counts as the schema that it names`;
      this.refuse([], expected, size.schemas);
    }
    if (this.patternSize > MAX_PATTERN_SIZE) {
      this.refuse([], `must have patterns of at most ${MAX_PATTERN_SIZE} instructions together`, this.patternSize);
    }
  }

  /** The schemas that apply with this one, or to its contents. Refuses a schema that is still `open`: a cycle. */
  private appliedBy(schema: Schema, open: Set<Schema>): (Schema | boolean)[] {
    const children = childrenOf(schema).filter(({ keyword }) => !DEFINITIONS.includes(keyword));
    const applied = children.map((child) => child.schema as Schema | boolean);
    const reference = this.references.get(schema);
    if (!reference) return applied;
    const target = this.schemas.get(keyOf(stepsOf(reference.ref) ?? []));
    if (isObject(target) && open.has(target)) {
      this.faults.push({ path: reference.path, expected: 'must not form a cycle', got: reference.ref });
      return applied;
    }
    return target === undefined ? applied : [...applied, target];
  }
}

/** The faults in words: the first few, and their total number. */
export function describeFaults(faults: SchemaFault[]): string {
  const shown = faults.slice(0, MAX_TOLD).map(({ path, expected }) => `${path} ${expected}`);
  const rest = faults.length > MAX_TOLD ? `; and ${faults.length - MAX_TOLD} more` : '';
  const isUnknown = faults.some(({ expected }) => expected.startsWith('is not among'));
  const hint = isUnknown ? `. Allowed: ${Object.values(SCHEMA_KEYWORDS).flat().join(', ')}` : '';
  return `${shown.join('; ')}${rest}${hint}`;
}
