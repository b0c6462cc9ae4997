/**
 * /openapi.json: the table of routes and the schemas of sdk/wire.ts as one OpenAPI 3.1 document. Answers are described
 * open, because fields may be added to them; what is sent now is held to the closed schemas by the relay itself.
 */
import { z } from 'zod';
import { ERROR_CODES, RequestIssue } from '../../sdk/errorCodes.ts';
import * as wire from '../../sdk/wire.ts';
import { ERRORS, errorBodyOf } from '../../sdk/wire.ts';
import { ANSWERS, BODIES, CONFIG_ANSWER, errorExample, PARAMS, procedureErrorExample } from './examples.ts';
import { GLOSSARY } from './glossary.ts';
import { CONFIG_ERRORS, CONFIG_PATH, ConfigAnswer, ProcedureError } from './procedures.ts';
import {
  type Answer,
  CACHING,
  errorsOf,
  type ResponseHeader,
  ROUTE_IDS,
  type Route,
  type RouteId,
  routeOf,
} from './routes.ts';

export type Json = Record<string, unknown>;
type Schemas = Record<string, Json>;

/** The document as far as its readers here need to know it. */
export interface OpenApi {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; contact: Json; license: Json };
  servers: { url: string; description: string }[];
  tags: { name: Route['tag']; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Schemas; headers: Schemas; securitySchemes: Schemas };
}

export interface Operation {
  operationId: RouteId | 'getConfig';
  tags: string[];
  summary: string;
  description: string;
  security: Json[];
  parameters: { name: string; in: string; required: boolean; description: string; schema: Json; example?: unknown }[];
  requestBody?: { required: true; description: string; content: Content };
  responses: Record<string, { description: string; headers: Json; content?: Content }>;
}

type Content = Record<string, { schema: Json; examples: Record<string, { value: unknown }> }>;

const isSchema = (entry: [string, unknown]): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType;
/** The schemas by their names in sdk/wire.ts. */
const NAMED = Object.entries<unknown>(wire).filter(isSchema);
const bodies = ROUTE_IDS.map((id) => routeOf(id).body?.schema);
/** What callers send, and what they get: a schema may look different from both sides. */
const REQUESTS = Object.fromEntries(NAMED.filter(([, schema]) => bodies.includes(schema)));
const ANSWER_SCHEMAS = {
  ...Object.fromEntries(NAMED.filter(([name]) => !(name in REQUESTS) && !/Query$|^ErrorBody$/.test(name))),
  RequestIssue,
  ConfigAnswer,
  ProcedureError,
  ...Object.fromEntries(ERROR_CODES.map((code) => [`error_${code}`, errorBodyOf(code)])),
};

/** An empty way stands for what the body itself can prove. */
const SECURITY: Record<Route['access'], Json[]> = { public: [], key: [{ apiKey: [] }], wallet: [{ apiKey: [] }, {}] };

const HEADERS: Record<string, { description: string; schema: Json }> = {
  'X-Request-Id': {
    description: 'Names this request in the logs.',
    schema: { type: 'string', format: 'uuid' },
  },
  'Idempotent-Replayed': {
    description: '`true` where the answer was made for an earlier request.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  ETag: { description: 'Names this version of the answer, for `If-None-Match`.', schema: { type: 'string' } },
  Allow: { description: 'The methods of this address.', schema: { type: 'string' } },
};

const TAGS: OpenApi['tags'] = [
  { name: 'Agents', description: 'What can be executed, and what it costs.' },
  { name: 'Executions', description: 'Paid calls and their records.' },
  { name: 'Creators', description: 'For those who offer agents.' },
  { name: 'Service', description: 'The service itself.' },
];

/** Writes the document for a deployment. */
export function createDocument(deployment: { baseUrl: string; environment: 'live' | 'test' }): OpenApi {
  const { baseUrl, environment } = deployment;
  const paths: OpenApi['paths'] = {};
  for (const id of ROUTE_IDS) {
    const { path, method } = routeOf(id);
    paths[path] = { ...paths[path], [method]: operationOf(id) };
  }
  paths[CONFIG_PATH] = { get: configOperation() };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Marketplace',
      version: '1.0.0',
      description: `Execute AI agents and pay per call in USDC, held in escrow on Solana until the creator's signed result is there. The guide is at ${baseUrl}/docs.`,
      contact: { name: 'The operator of this deployment', url: `${baseUrl}/docs` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl, description: environment === 'live' ? 'Mainnet, real USDC' : 'Test, no real USDC' }],
    tags: TAGS,
    paths,
    components: {
      schemas: { ...schemasOf(REQUESTS, 'input'), ...schemasOf(ANSWER_SCHEMAS, 'output') },
      headers: HEADERS,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `An API key: crtx_${environment}_... Each key spends from one wallet, up to the caps its owner signed on-chain.`,
        },
      },
    },
  };
}

function operationOf(id: RouteId): Operation {
  const route = routeOf(id);
  const example = BODIES[id];
  return {
    operationId: id,
    tags: [route.tag],
    summary: route.summary,
    description: route.about,
    security: SECURITY[route.access],
    parameters: parametersOf(id, route),
    ...(route.body && {
      requestBody: {
        required: true,
        description: `At most ${route.body.maxBytes} bytes and 64 levels of nesting; no name twice in one object.`,
        content: {
          'application/json': { schema: refOf(route.body.schema), examples: { request: { value: example } } },
        },
      },
    }),
    responses: { ...answersOf(id, route), ...refusalsOf(id, route) },
  };
}

function parametersOf(id: RouteId, route: Route): Operation['parameters'] {
  const path = Object.entries(route.params ?? {}).map(([name, description]) => {
    return {
      name,
      in: 'path',
      required: true,
      description,
      schema: { type: 'string', minLength: 1 },
      example: PARAMS[name],
    };
  });
  const described = route.query ? describeFields(id, toJson(route.query, 'input')) : {};
  const query = Object.entries((described.properties ?? {}) as Schemas).map(([name, { description, ...schema }]) => {
    return { name, in: 'query', required: false, description: String(description ?? ''), schema };
  });
  const headers = Object.entries(route.headers ?? {}).map(([name, { about, schema }]) => {
    return { name, in: 'header', required: false, description: about, schema: toJson(schema, 'input') };
  });
  if (route.cache !== CACHING.never) {
    const description = 'An `ETag` that you have: if it is still the right one, the answer is 304 without a body.';
    headers.push({ name: 'If-None-Match', in: 'header', required: false, description, schema: { type: 'string' } });
  }
  return [...path, ...query, ...headers];
}

function answersOf(id: RouteId, route: Route): Operation['responses'] {
  const kept = route.cache !== CACHING.never;
  const responses: Operation['responses'] = {};
  for (const [status, answer] of Object.entries(route.answers)) {
    const names = [...(kept ? ['ETag'] : []), ...(answer.headers ?? [])];
    const examples = valuesOf(ANSWERS[id][Number(status)] ?? {});
    const content: Content = {};
    if (answer.bytes) {
      const schema = { type: answer.bytes === 'application/json' ? 'object' : 'string' };
      content[answer.bytes] = { schema, examples: answer.schema ? {} : examples };
    }
    if (answer.schema) content['application/json'] = { schema: refOf(answer.schema), examples };
    responses[status] = { description: answer.about, headers: headersOf(names), content };
  }
  if (kept) responses[304] = { description: 'You have this version already.', headers: headersOf(['ETag']) };
  return responses;
}

/** `GET /trpc/config.get`: beside the table, because tRPC answers it in its own shape. */
function configOperation(): Operation {
  const content = (schema: z.ZodType, name: string, value: unknown): Content => {
    return { 'application/json': { schema: refOf(schema), examples: { [name]: { value } } } };
  };
  const refusals = Object.entries(CONFIG_ERRORS).map(([status, { code, number }]) => [
    status,
    {
      description: `\`${code}\`: ${ERRORS[code].meaning} ${ERRORS[code].remedy}`,
      headers: headersOf(headersByStatus[Number(status)] ?? []),
      content: content(ProcedureError, code, procedureErrorExample(code, number)),
    },
  ]);
  return {
    operationId: 'getConfig',
    tags: ['Service'],
    summary: 'Read the terms of this deployment',
    description:
      'Addresses, fee, limits and collateral tiers, from the chain as it was at most 2 seconds ago, in the shape of tRPC: the value is `result.data`.',
    security: [],
    parameters: [],
    responses: {
      200: {
        description: 'The terms.',
        headers: headersOf([]),
        content: content(ConfigAnswer, 'config', CONFIG_ANSWER),
      },
      ...Object.fromEntries(refusals),
    },
  };
}

/** What errors carry beside X-Request-Id. */
const headersByStatus: Record<number, ResponseHeader[]> = {
  405: ['Allow'],
  409: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Errors by status; those that share one are told apart by `error.code`. */
function refusalsOf(id: RouteId, route: Route): Operation['responses'] {
  const statuses = [...new Set(errorsOf(route).map((code) => ERRORS[code].status))].sort();
  const responses = statuses.map((status) => {
    const codes = errorsOf(route).filter((code) => ERRORS[code].status === status);
    const own = (route.answers as Record<number, Answer>)[status];
    const schemas = [...(own?.schema ? [refOf(own.schema)] : []), ...codes.map((code) => pointTo(`error_${code}`))];
    const examples = {
      ...valuesOf(ANSWERS[id][status] ?? {}),
      ...valuesOf(Object.fromEntries(codes.map((code) => [code, errorExample(code)]))),
    };
    const description = codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning} ${ERRORS[code].remedy}`).join('\n\n');
    const headers = headersOf(headersByStatus[status] ?? []);
    const schema = schemas.length === 1 ? schemas[0]! : { anyOf: schemas };
    return [status, { description, headers, content: { 'application/json': { schema, examples } } }] as const;
  });
  return Object.fromEntries(responses);
}

function headersOf(names: (ResponseHeader | string)[]): Json {
  return Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function valuesOf(examples: Record<string, unknown>): Record<string, { value: unknown }> {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}

const pointTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** A reference to a named schema; unions of named ones are written out. */
function refOf(schema: z.ZodType): Json {
  if (schema instanceof z.ZodUnion) return { anyOf: (schema.options as z.ZodType[]).map(refOf) };
  const name = [...NAMED, ...Object.entries({ ConfigAnswer, ProcedureError })].find(
    ([, known]) => known === schema,
  )?.[0];
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
function describeFields(owner: string, schema: Json): Json {
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

function toJson(schema: z.ZodType, io: 'input' | 'output'): Json {
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
