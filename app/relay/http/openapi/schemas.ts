/**
 * The schemas of the document: those of sdk/wire/wire.ts by name, as JSON Schema for generators and linters of other
 * languages. The glossary describes every field.
 */
import { z } from 'zod';
import { ERROR_CODES } from '../../../sdk/wire/errorCodes.ts';
import { RequestIssue } from '../../../sdk/wire/errorDetails.ts';
import { MarketplaceEvent } from '../../../sdk/wire/events.ts';
import { Receipt } from '../../../sdk/wire/receipt.ts';
import * as wire from '../../../sdk/wire/wire.ts';
import { errorBodyOf } from '../../../sdk/wire/wire.ts';
import { errorsOf, ROUTE_IDS, routeOf } from '../routes/table.ts';
import { GLOSSARY } from './glossary.ts';
import { ChangesAnswer, ConfigAnswer, ProcedureError } from './procedures.ts';

export type Json = Record<string, unknown>;
export type Schemas = Record<string, Json>;

const isSchema = (entry: [string, unknown]): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType;
/** The schemas by their export names. */
const NAMED = Object.entries<unknown>({
  ...wire,
  Receipt,
  MarketplaceEvent,
  ConfigAnswer,
  ChangesAnswer,
  ProcedureError,
}).filter(isSchema);
const bodies = ROUTE_IDS.map((id) => routeOf(id).body?.schema);
/** Schemas of requests and of answers: one schema may differ between the two. */
const REQUESTS = Object.fromEntries(NAMED.filter(([, schema]) => bodies.includes(schema)));
/** Codes that routes can return. The other codes belong to procedures alone. */
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

/** A reference to a named schema; a union becomes references to its options. */
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

/** Adds the glossary's text to every field of an object, at every depth. */
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

/** A schema without a name in the document. */
export function toJson(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...json } = z.toJSONSchema(schema, OPTIONS[io]) as Json;
  return json;
}

/** A pattern for ECMA-262 without the flag `u` and for Python's `re`: neither has Unicode classes by name. */
const portable = (pattern: string): string =>
  pattern.replaceAll('\\p{Cc}', '\\u0000-\\u001f\\u007f-\\u009f').replaceAll('\\p{Surrogate}', '');

const optionsOf = (io: 'input' | 'output') => ({
  io,
  // Rules that only code can check are described by `.meta()` beside them.
  unrepresentable: 'any' as const,
  override({ jsonSchema }: { jsonSchema: Json }): void {
    if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    // The format of a time is enough. The pattern of a number only checks its text in a query.
    if (jsonSchema.format === 'date-time' || jsonSchema.format === 'uri' || jsonSchema.type !== 'string') {
      delete jsonSchema.pattern;
    }
    if (typeof jsonSchema.pattern === 'string') jsonSchema.pattern = portable(jsonSchema.pattern);
    // Generated clients treat a field with a default as always present; the glossary names the default.
    if (io === 'input') delete jsonSchema.default;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  },
});
const OPTIONS = { input: optionsOf('input'), output: optionsOf('output') };
