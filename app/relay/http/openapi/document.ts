/**
 * /openapi.json: the table of routes and the schemas of sdk/wire/wire.ts as one OpenAPI 3.1 document. Answers are described
 * as open objects, because fields may be added. The relay itself checks its answers against the closed schemas.
 */
import type { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../../sdk/wire/wire.ts';
import { type Answer, CACHING, type ResponseHeader, type Route } from '../routes/route.ts';
import { errorsOf, ROUTE_IDS, type RouteId, routeOf } from '../routes/table.ts';
import { sizeOf } from '../size.ts';
import { errorExample, procedureErrorExample } from './examples.ts';
import {
  CHANGES_ANSWER,
  CHANGES_PATH,
  ChangesAnswer,
  CONFIG_ANSWER,
  CONFIG_ERRORS,
  CONFIG_PATH,
  ConfigAnswer,
  ProcedureError,
} from './procedures.ts';
import { componentSchemas, describeFields, type Json, pointTo, refOf, type Schemas, toJson } from './schemas.ts';
import { WEBHOOK } from './webhook.ts';

/** The part of an OpenAPI document that this code uses. */
export interface OpenApi {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; contact?: Json; license: Json };
  servers: { url: string; description: string }[];
  tags: { name: Route['tag']; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  /** Requests that this service makes to callers and creators. */
  webhooks: Record<string, Json>;
  components: { schemas: Schemas; headers: Schemas; securitySchemes: Schemas };
}

export interface Operation {
  operationId: RouteId | 'getConfig' | 'getPendingChanges';
  tags: string[];
  summary: string;
  description: string;
  security: Json[];
  parameters: { name: string; in: string; required: boolean; description: string; schema: Json; example?: unknown }[];
  requestBody?: { required: true; description: string; content: Content };
  responses: Record<string, { description: string; headers: Json; content?: Content }>;
}

type Content = Record<string, { schema: Json; examples: Record<string, { value: unknown }> }>;

/** An empty entry means that the body itself can carry the proof. */
const SECURITY: Record<Route['access'], Json[]> = {
  public: [],
  read: [{ apiKey: [] }],
  key: [{ apiKey: [] }],
  owner: [{ apiKey: [] }],
  webhooks: [{ apiKey: [] }],
  execute: [{ apiKey: [] }],
  wallet: [{ apiKey: [] }, {}],
};

const HEADERS: Record<string, { description: string; schema: Json }> = {
  'X-Request-Id': {
    description: 'The id of this request in the logs.',
    schema: { type: 'string', format: 'uuid' },
  },
  'Idempotent-Replayed': {
    description: '`true` if this is the answer to an earlier request.',
    schema: { type: 'string', enum: ['true'] },
  },
  'PAYMENT-RESPONSE': {
    description:
      'The outcome of the payment: SettleResponse of x402 version 2, JSON in base64. `extensions.execution` has the execution, its record and deposit, and the transaction that returned the money, if any.',
    schema: { type: 'string' },
  },
  Location: {
    description: 'The URL of the execution, for a wallet with a key or a session.',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  ETag: { description: 'The version of the answer, for `If-None-Match`.', schema: { type: 'string' } },
  Allow: { description: 'The methods of this path.', schema: { type: 'string' } },
};

const TAGS: OpenApi['tags'] = [
  { name: 'Agents', description: 'The agents that you can call, with their prices.' },
  { name: 'Executions', description: 'Paid calls and their records.' },
  { name: 'Events', description: 'Events of executions, disputes, listings and keys, in real time.' },
  { name: 'Webhooks', description: 'The endpoints that events are sent to, and the deliveries to them.' },
  { name: 'Creators', description: 'For creators, who list agents.' },
  { name: 'Service', description: 'The service itself.' },
];

interface Deployment {
  baseUrl: string;
  environment: 'live' | 'test';
  /** https or mailto URL of the operator; null if there is none. */
  operatorContact: string | null;
}

/** Makes the document of a deployment. */
export function createDocument({ baseUrl, environment, operatorContact }: Deployment): OpenApi {
  const paths: OpenApi['paths'] = {};
  for (const id of ROUTE_IDS) {
    const { path, method } = routeOf(id);
    paths[path] = { ...paths[path], [method]: operationOf(id) };
  }
  paths[CONFIG_PATH] = {
    get: procedureOperation({
      operationId: 'getConfig',
      summary: 'Read the terms of this deployment',
      about: 'Addresses, fee, limits and collateral tiers, read from the chain at most 2 seconds ago.',
      schema: ConfigAnswer,
      example: CONFIG_ANSWER,
    }),
  };
  paths[CHANGES_PATH] = {
    get: procedureOperation({
      operationId: 'getPendingChanges',
      summary: 'List the pending changes of the terms',
      about:
        'A change that gives a key more rights or raises costs waits for `admin_delay_seconds`. From `applicable_at` to `expires_at`, anyone can apply it. Read from the chain at most 4 seconds ago.',
      schema: ChangesAnswer,
      example: CHANGES_ANSWER,
    }),
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Marketplace',
      version: '1.0.0',
      description: `Execute AI agents and pay per call in USDC. An escrow on Solana holds the price until the creator's signed result arrives. The guide is at ${baseUrl}/docs.`,
      ...(operatorContact !== null && { contact: contactOf(operatorContact) }),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl, description: environment === 'live' ? 'Mainnet, real USDC' : 'Test, no real USDC' }],
    tags: TAGS,
    paths,
    webhooks: { event: { post: WEBHOOK } },
    components: {
      schemas: componentSchemas(),
      headers: HEADERS,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `An API key: crtx_${environment}_... Each key spends from one wallet, within the limits that the wallet signed on-chain.`,
        },
      },
    },
  };
}

function operationOf(id: RouteId): Operation {
  const route = routeOf(id);
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
        description: `At most ${sizeOf(route.body.maxBytes)} and 64 levels of nesting, without duplicate names in an object.`,
        content: {
          'application/json': {
            schema: refOf(route.body.schema),
            examples: { request: { value: route.body.example } },
          },
        },
      },
    }),
    responses: { ...answersOf(route), ...refusalsOf(route) },
  };
}

function parametersOf(id: RouteId, route: Route): Operation['parameters'] {
  const text = { in: 'path', required: true, schema: { type: 'string', minLength: 1 } };
  const path = Object.entries(route.params ?? {}).map(([name, { about, example }]) => {
    return { name, description: about, example, ...text };
  });
  const described = route.query ? describeFields(id, toJson(route.query, 'input')) : {};
  const query = Object.entries((described.properties ?? {}) as Schemas).map(([name, { description, ...schema }]) => {
    const example = route.queryExample?.[name];
    const shared = { name, in: 'query', required: false, description: String(description ?? ''), schema };
    return example === undefined ? shared : { ...shared, example };
  });
  const headers = Object.entries(route.headers ?? {}).map(([name, { about, schema }]) => {
    return { name, in: 'header', required: false, description: about, schema: toJson(schema, 'input') };
  });
  if (route.cache !== CACHING.never) {
    const description = 'The `ETag` of your copy. If it is still current, the answer is 304 without a body.';
    headers.push({ name: 'If-None-Match', in: 'header', required: false, description, schema: { type: 'string' } });
  }
  return [...path, ...query, ...headers];
}

function answersOf(route: Route): Operation['responses'] {
  const kept = route.cache !== CACHING.never;
  const responses: Operation['responses'] = {};
  for (const [status, answer] of Object.entries(route.answers)) {
    const names = [...(kept ? ['ETag'] : []), ...(answer.headers ?? [])];
    const examples = valuesOf(answer.examples ?? {});
    const content: Content = {};
    // Generators of clients cannot read pictures. The description names the formats.
    if (answer.bytes && answer.bytes !== 'image/*') {
      const schema = { type: answer.bytes === 'application/json' ? 'object' : 'string' };
      content[answer.bytes] = { schema, examples: answer.schema ? {} : examples };
    }
    if (answer.schema) content['application/json'] = { schema: refOf(answer.schema), examples };
    responses[status] = { description: answer.about, headers: headersOf(names), content };
  }
  if (kept) responses[304] = { description: 'Your copy is current.', headers: headersOf(['ETag']) };
  return responses;
}

function contactOf(url: string): Json {
  const email = /^mailto:(.+)$/.exec(url)?.[1];
  return { name: 'The operator of this deployment', ...(email === undefined ? { url } : { email }) };
}

/** A query of /trpc: not in the table of routes, because tRPC defines its format. */
function procedureOperation({
  operationId,
  summary,
  about,
  schema,
  example,
}: Pick<Operation, 'operationId' | 'summary'> & { about: string; schema: z.ZodType; example: unknown }): Operation {
  const content = (schema: z.ZodType, name: string, value: unknown): Content => {
    return { 'application/json': { schema: refOf(schema), examples: { [name]: { value } } } };
  };
  const refusals = Object.entries(CONFIG_ERRORS).map(([status, { code, number }]) => [
    status,
    {
      description: describeError(code),
      headers: headersOf(headersByStatus[Number(status)] ?? []),
      content: content(ProcedureError, code, procedureErrorExample(code, number)),
    },
  ]);
  return {
    operationId,
    tags: ['Service'],
    summary,
    description: `${about} The answer has the format of tRPC: the value is \`result.data\`.`,
    security: [],
    parameters: [],
    responses: {
      200: {
        description: 'The answer.',
        headers: headersOf([]),
        content: content(schema, operationId, example),
      },
      ...Object.fromEntries(refusals),
    },
  };
}

/** Headers of errors besides X-Request-Id. */
const headersByStatus: Record<number, ResponseHeader[]> = {
  405: ['Allow'],
  409: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Errors by status; `error.code` distinguishes those with the same status. */
function refusalsOf(route: Route): Operation['responses'] {
  const statuses = [...new Set(errorsOf(route).map((code) => ERRORS[code].status))].sort();
  const responses = statuses.map((status) => {
    const codes = errorsOf(route).filter((code) => ERRORS[code].status === status);
    const own = (route.answers as Record<number, Answer>)[status];
    const schemas = [...(own?.schema ? [refOf(own.schema)] : []), ...codes.map((code) => pointTo(`error_${code}`))];
    const examples = {
      ...valuesOf(own?.examples ?? {}),
      ...valuesOf(Object.fromEntries(codes.map((code) => [code, errorExample(code)]))),
    };
    const description = codes.map(describeError).join('\n\n');
    const headers = headersOf(headersByStatus[status] ?? []);
    const schema = schemas.length === 1 ? schemas[0]! : { anyOf: schemas };
    return [status, { description, headers, content: { 'application/json': { schema, examples } } }] as const;
  });
  return Object.fromEntries(responses);
}

const describeError = (code: ErrorCode) => `\`${code}\`: ${ERRORS[code].meaning} ${ERRORS[code].remedy}`;

function headersOf(names: (ResponseHeader | string)[]): Json {
  return Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function valuesOf(examples: Record<string, unknown>): Record<string, { value: unknown }> {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}
