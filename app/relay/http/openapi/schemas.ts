/**
 * The schemas of the document: those of sdk/wire.ts by their names, as JSON Schema that generators and linters of other
 * languages take, every field with its meaning from the glossary.
 */
import { z } from 'zod';
import { ERROR_CODES, RequestIssue } from '../../../sdk/wire/errorCodes.ts';
import { Receipt } from '../../../sdk/wire/receipt.ts';
import * as wire from '../../../sdk/wire/wire.ts';
import { errorBodyOf } from '../../../sdk/wire/wire.ts';
import { errorsOf, ROUTE_IDS, routeOf } from '../routes/table.ts';
import { GLOSSARY } from './glossary.ts';
import { ConfigAnswer, ProcedureError } from './procedures.ts';

export type Json = Record<string, unknown>;
export type Schemas = Record<string, Json>;

const isSchema = (entry: [string, unknown]): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType;
/** The schemas by the names that they are exported by. */
const NAMED = Object.entries<unknown>({ ...wire, Receipt, ConfigAnswer, ProcedureError }).filter(isSchema);
const bodies = ROUTE_IDS.map((id) => routeOf(id).body?.schema);
/** What callers send, and what they get: a schema may look different from both sides. */
const REQUESTS = Object.fromEntries(NAMED.filter(([, schema]) => bodies.includes(schema)));
/** What routes can answer: the other codes are of procedures alone. */
const ANSWERED = ERROR_CODES.filter((code) => ROUTE_IDS.some((id) => errorsOf(routeOf(id)).includes(code)));
const ANSWER_SCHEMAS = {
  ...Object.fromEntries(
    NAMED.filter(([name]) => !(name in REQUESTS) && !/Query$|^ErrorBody$|^ArchiveLine$/.test(name)),
  ),
  RequestIssue,
  ...Object.fromEntries(ANSWERED.map((code) => [`error_${code}`, errorBodyOf(code)])),
};

/** Every schema by its name, for `components`. */
export function componentSchemas(): Schemas {
  return { ...schemasOf(REQUESTS, 'input'), ...schemasOf(ANSWER_SCHEMAS, 'output') };
}

/** A reference by name. */
export const pointTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** A reference to a named schema; unions of named ones are written out. */
export function refOf(schema: z.ZodType): Json {
  if (schema instanceof z.ZodUnion) return { anyOf: (schema.options as z.ZodType[]).map(refOf) };
  const name = NAMED.find(([, known]) => known === schema)?.[0];
  if (!name) throw new Error('a schema of the table of routes has no name in the document');
  return pointTo(name);
}

function schemasOf(schemas: Record<string, z.ZodType>, io: 'input' | 'output'): Schemas {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const options = { ...OPTIONS[io], uri: (id: string) => `#/components/schemas/${id}` };
  const written = z.toJSONSchema(registry, options).schemas as Schemas;
  return Object.fromEntries(
    Object.entries(written).map(([id, { $schema, $id, ...schema }]) => [id, describeFields(id, schema)]),
  );
}

/** Adds what the glossary says to every field of an object and of what it holds. */
export function describeFields(owner: string, schema: Json): Json {
  for (const [name, field] of Object.entries((schema.properties ?? {}) as Schemas)) {
    const meaning = GLOSSARY[`${owner}.${name}`] ?? GLOSSARY[name];
    if (meaning) field.description ??= meaning;
  }
  for (const part of Object.values(schema)) {
    for (const inner of [part].flat()) if (isObject(inner)) describeFields(owner, inner);
  }
  return schema;
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** A schema that has no name in the document. */
export function toJson(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...json } = z.toJSONSchema(schema, OPTIONS[io]) as Json;
  return json;
}

/** A pattern as ECMA-262 reads it without the flag `u`, and Python's `re`: neither knows classes of Unicode by name. */
const portable = (pattern: string): string =>
  pattern.replaceAll('\\p{Cc}', '\\u0000-\\u001f\\u007f-\\u009f').replaceAll('\\p{Surrogate}', '');

const optionsOf = (io: 'input' | 'output') => ({
  io,
  // What only code can check is described by `.meta()` beside it.
  unrepresentable: 'any' as const,
  override({ jsonSchema }: { jsonSchema: Json }): void {
    if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    // Of a time its format says enough; a pattern beside a number is what checked its text in a query.
    if (jsonSchema.format === 'date-time' || jsonSchema.format === 'uri' || jsonSchema.type !== 'string') {
      delete jsonSchema.pattern;
    }
    if (typeof jsonSchema.pattern === 'string') jsonSchema.pattern = portable(jsonSchema.pattern);
    // A generated client takes a field with a default for one that is always there; the glossary names the default.
    if (io === 'input') delete jsonSchema.default;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  },
});
const OPTIONS = { input: optionsOf('input'), output: optionsOf('output') };
