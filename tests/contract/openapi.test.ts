/** /openapi.json: valid, complete, and true of the router it is published by. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import express from 'express';
import { createHttpServer } from '../../app/relay/http.ts';
import type { OpenApi } from '../../app/relay/openapi/document.ts';
import { ANSWERS, BODIES, errorExample } from '../../app/relay/openapi/examples.ts';
import { GLOSSARY } from '../../app/relay/openapi/glossary.ts';
import { type Answer, errorsOf, ROUTE_IDS, routeOf } from '../../app/relay/openapi/routes.ts';
import { createPublicLimit } from '../../app/relay/publicLimit.ts';
import { addRoutes, type Handlers } from '../../app/relay/router.ts';
import { ERROR_CODES } from '../../app/sdk/errorCodes.ts';
import { ERRORS, errorBodyOf } from '../../app/sdk/wire.ts';
import { startWorld, type World } from '../relay/api/world.ts';

/** What the server answers beside the table: not REST, or not for callers. */
const BESIDE_THE_TABLE = ['/trpc', '/metrics'];

describe('/openapi.json', () => {
  let world: World;
  let document: OpenApi;
  before(async () => {
    world = await startWorld();
    document = (await world.get('/openapi.json')).json;
  });
  after(() => world.stop());

  it('is a valid OpenAPI 3.1 document', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone({ ...document }));
    expect(errors, JSON.stringify(errors)).to.equal(undefined);
    expect(valid).to.equal(true);
    expect(validator.version).to.equal('3.1');
  });

  it('is refused by the validator where it is broken', async () => {
    const broken = structuredClone(document) as unknown as { paths: Record<string, { get: { responses?: unknown } }> };
    broken.paths['/v1/agents']!.get.responses = { nonsense: {} };
    expect((await new Validator().validate(broken)).valid).to.equal(false);
  });

  it('names the deployment it comes from', () => {
    expect(document.servers).to.deep.equal([{ url: world.url, description: 'Test, no real USDC' }]);
  });

  it('has exactly the routes of the router', () => {
    const app = express();
    const handlers = Object.fromEntries(ROUTE_IDS.map((id) => [id, async () => ({})])) as unknown as Handlers;
    addRoutes(app, handlers, createPublicLimit(world.deps));
    const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method} ${path.replaceAll('{', ':').replaceAll('}', '')}`),
    );
    expect(routesOf(app).sort()).to.deep.equal(documented.sort());
  });

  it('leaves out nothing that the server answers', () => {
    const [app] = createHttpServer(world.deps).listeners('request') as unknown as [express.Application];
    const paths = layersOf(app).flatMap((layer) => (layer.route ? [layer.route.path] : []));
    const documented = Object.keys(document.paths).map((path) => path.replaceAll('{', ':').replaceAll('}', ''));
    expect(paths.filter((path) => !documented.includes(path) && !BESIDE_THE_TABLE.includes(path))).to.deep.equal([]);
  });

  describe('every example fits its schema', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    before(() => ajv.addSchema({ $id: 'doc', components: document.components }));
    const check = (schema: unknown, value: unknown, where: string) => {
      const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/'));
      const validate = ajv.compile(local);
      expect(validate(value), `${where}: ${JSON.stringify(validate.errors)} ${JSON.stringify(value)}`).to.equal(true);
    };

    it('as it is published', () => {
      let count = 0;
      for (const operations of Object.values(document.paths)) {
        for (const { operationId, requestBody, responses } of Object.values(operations)) {
          const bodies = [requestBody, ...Object.values(responses)].flatMap((part) =>
            Object.values(part?.content ?? {}),
          );
          for (const { schema, examples } of bodies) {
            for (const [name, { value }] of Object.entries(examples)) {
              check(schema, value, `${operationId} ${name}`);
              count += 1;
            }
          }
        }
      }
      expect(count).to.be.greaterThan(80);
    });

    it('as it is enforced', () => {
      for (const id of ROUTE_IDS) {
        const { answers, body } = routeOf(id);
        if (body) body.schema.parse(BODIES[id]);
        for (const [status, examples] of Object.entries(ANSWERS[id])) {
          const { schema } = answers[Number(status)] as Answer;
          for (const example of Object.values(examples)) schema?.parse(example);
        }
      }
      for (const code of ERROR_CODES) errorBodyOf(code).parse(errorExample(code));
    });

    it('and what does not fit is refused', () => {
      const value = errorExample('insufficient_balance') as { error: { details: unknown } };
      value.error.details = { limit: 'patience' };
      expect(() => check({ $ref: '#/components/schemas/error_insufficient_balance' }, value, 'bad')).to.throw('limit');
    });
  });

  it('has every answer of every route with an example', () => {
    for (const id of ROUTE_IDS) {
      const route = routeOf(id);
      const operation = document.paths[route.path]![route.method]!;
      for (const [status, answer] of Object.entries(route.answers)) {
        const [content] = Object.values(operation.responses[status]!.content!);
        if (answer.schema) expect(Object.keys(content!.examples), `${id} ${status}`).to.not.have.length(0);
      }
      for (const code of errorsOf(route)) {
        const response = operation.responses[ERRORS[code].status]!;
        expect(response.content!['application/json']!.examples[code]?.value, `${id} ${code}`).to.deep.equal(
          errorExample(code),
        );
        expect(response.description).to.include(code);
      }
    }
  });

  it('has every error code somewhere, 405 apart, which is no operation’s', () => {
    const documented = new Set(ROUTE_IDS.map(routeOf).flatMap(errorsOf));
    expect(ERROR_CODES.filter((code) => !documented.has(code))).to.deep.equal(['method_not_allowed']);
  });

  it('says what every field and parameter means, once', () => {
    const used = new Set<string>();
    const missing: string[] = [];
    const visit = (owner: string, schema: Record<string, unknown>): void => {
      for (const [name, field] of Object.entries(
        (schema.properties ?? {}) as Record<string, { description?: string }>,
      )) {
        if (!field.description) missing.push(`${owner}.${name}`);
        used.add(name).add(`${owner}.${name}`);
      }
      for (const part of Object.values(schema)) {
        for (const inner of [part].flat()) if (typeof inner === 'object' && inner) visit(owner, inner as typeof schema);
      }
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) visit(name, schema);
    for (const operations of Object.values(document.paths)) {
      for (const { operationId, parameters } of Object.values(operations)) {
        for (const { name, description } of parameters) {
          if (!description) missing.push(`${operationId}.${name}`);
          used.add(name).add(`${operationId}.${name}`);
        }
      }
    }
    expect(missing).to.deep.equal([]);
    expect(Object.keys(GLOSSARY).filter((name) => !used.has(name))).to.deep.equal([]);
  });

  it('needs a key exactly where the relay asks for one', async () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { security, operationId }] of Object.entries(operations)) {
        const url = path.replace('{execution_id}', 'b566c309-b734-86c3-aa14-0eba1f5ff01a').replace(/\{\w+\}/g, 'x');
        const headers = { 'content-type': 'application/json' };
        const body = method === 'post' ? '{"task":"x"}' : null;
        const { status } = await world.call(url, { method: method.toUpperCase(), headers, body });
        expect(status === 401, operationId).to.equal(security.length > 0);
      }
    }
  });
});

interface Layer {
  route?: { path: string; stack: { method?: string }[] };
}

function layersOf(app: express.Application): Layer[] {
  return (app as unknown as { router: { stack: Layer[] } }).router.stack;
}

/** What Express itself has: `get /v1/agents`; OPTIONS and 405 stand on every path. */
function routesOf(app: express.Application): string[] {
  return layersOf(app).flatMap(({ route }) => {
    const methods = (route?.stack ?? []).flatMap(({ method }) => (method && method !== 'options' ? [method] : []));
    return methods.map((method) => `${method} ${route!.path}`);
  });
}
