/** /openapi.json is valid, complete, and matches the router that publishes it. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { createDocument, type OpenApi } from '../../app/relay/http/openapi/document.ts';
import { errorExample, procedureErrorExample } from '../../app/relay/http/openapi/examples.ts';
import { GLOSSARY } from '../../app/relay/http/openapi/glossary.ts';
import {
  CHANGES_ANSWER,
  CHANGES_PATH,
  ChangesAnswer,
  CONFIG_ANSWER,
  CONFIG_ERRORS,
  CONFIG_PATH,
  ConfigAnswer,
  ProcedureError,
} from '../../app/relay/http/openapi/procedures.ts';
import { errorsOf, ROUTE_IDS, routeOf } from '../../app/relay/http/routes/table.ts';
import { createApp } from '../../app/relay/http/server.ts';
import { ERROR_CODES } from '../../app/sdk/wire/errorCodes.ts';
import { ERRORS, errorBodyOf } from '../../app/sdk/wire/wire.ts';
import { readPage } from '../docs/markdown.ts';
import { useWorld } from '../harness/edge/api.ts';

/** Paths that the server answers outside the table of routes, because they are not REST or not for callers. */
const BESIDE_THE_TABLE = ['/trpc', '/metrics', '/mcp', '/mcp/'];

/** A layer of Express. */
interface Layer {
  route?: { path: string; stack: { method?: string }[] };
}

describe('/openapi.json', () => {
  const world = useWorld();
  let document: OpenApi;
  before(async () => {
    document = (await world.get('/openapi.json')).json;
  });

  it('is a valid OpenAPI 3.1 document', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone({ ...document }));
    expect(errors, JSON.stringify(errors)).to.equal(undefined);
    expect(valid).to.equal(true);
    expect(validator.version).to.equal('3.1');
  });

  it('names its deployment, and how to contact the operator if that is set', () => {
    expect(document.servers).to.deep.equal([{ url: world.url, description: 'Test, no real USDC' }]);
    const name = 'The operator of this deployment';
    expect(document.info.contact).to.deep.equal({ name, url: world.deps.config.operatorContact });
    const contactOf = (operatorContact: string | null) =>
      createDocument({ baseUrl: world.url, environment: 'test', operatorContact }).info.contact;
    expect(contactOf('mailto:help@example.com')).to.deep.equal({ name, email: 'help@example.com' });
    expect(contactOf(null)).to.equal(undefined);
  });

  it('has exactly the routes that the server answers', () => {
    const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method} ${path.replaceAll('{', ':').replaceAll('}', '')}`),
    );
    const { stack } = (createApp(world.deps) as unknown as { router: { stack: Layer[] } }).router;
    // OPTIONS and 405 exist on every path.
    const answered = stack.flatMap(({ route }) =>
      route && !BESIDE_THE_TABLE.includes(route.path)
        ? route.stack.flatMap(({ method }) => (method && method !== 'options' ? [`${method} ${route.path}`] : []))
        : [],
    );
    expect([...answered, `get ${CONFIG_PATH}`, `get ${CHANGES_PATH}`].sort()).to.deep.equal(documented.sort());
  });

  it('has the routes of the table in docs/callers.md, with their access and query parameters', () => {
    const NEEDS = {
      public: 'nothing',
      read: 'key or session',
      key: 'key',
      owner: 'key or session',
      webhooks: 'session or key with `webhooks`',
      execute: 'key',
      wallet: 'key or signature',
    };
    const listed = new Map<string, { needs: string; about: string }>();
    for (const [, cell = '', needs = '', about = ''] of readPage('docs/callers.md').matchAll(
      /^\| (`(?:GET|POST|PATCH|DELETE) \/.*?) \| (.*?) \| (.*) \|$/gm,
    )) {
      for (const [, name = ''] of cell.matchAll(/`(.*?)`/g)) listed.set(name, { needs, about });
    }
    const routes = ROUTE_IDS.map(routeOf);
    const names = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect([...listed.keys()].sort()).to.deep.equal([...names, `GET ${CONFIG_PATH}`, `GET ${CHANGES_PATH}`].sort());
    for (const [index, { access, query }] of routes.entries()) {
      const { needs, about } = listed.get(names[index]!)!;
      expect(needs, names[index]).to.equal(NEEDS[access]);
      for (const name of Object.keys(query?.shape ?? {})) expect(about, names[index]).to.include(`\`${name}\``);
    }
  });

  describe('every example', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    before(() => ajv.addSchema({ $id: 'doc', components: document.components }));
    const check = (schema: unknown, value: unknown, where: string) => {
      const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/'));
      const validate = ajv.compile(local);
      expect(validate(value), `${where}: ${JSON.stringify(validate.errors)} ${JSON.stringify(value)}`).to.equal(true);
    };

    it('fits the published schema', () => {
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

    it('fits the enforced schema', () => {
      for (const id of ROUTE_IDS) {
        const { answers, body } = routeOf(id);
        if (body) body.schema.parse(body.example);
        for (const { schema, examples = {} } of Object.values(answers)) {
          for (const example of Object.values(examples)) schema?.parse(example);
        }
      }
      for (const code of ERROR_CODES) errorBodyOf(code).parse(errorExample(code));
      ConfigAnswer.parse(CONFIG_ANSWER);
      ChangesAnswer.parse(CHANGES_ANSWER);
      for (const { code, number } of Object.values(CONFIG_ERRORS)) {
        ProcedureError.parse(procedureErrorExample(code, number));
      }
    });
  });

  it('has every answer of every route with an example', () => {
    for (const id of ROUTE_IDS) {
      const route = routeOf(id);
      const operation = document.paths[route.path]![route.method]!;
      for (const [status, answer] of Object.entries(route.answers)) {
        const content = operation.responses[status]!.content!['application/json'];
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

  it('has every error code, except those of procedures alone', () => {
    const documented = new Set(ROUTE_IDS.map(routeOf).flatMap(errorsOf));
    expect(ERROR_CODES.filter((code) => !documented.has(code))).to.deep.equal(['not_admin']);
  });

  for (const { path, schema } of [
    { path: CONFIG_PATH, schema: ConfigAnswer },
    { path: CHANGES_PATH, schema: ChangesAnswer },
  ]) {
    it(`describes the real answers of ${path}, success and error`, async () => {
      const read = (from: string, init = {}) => world.call(from, init);
      world.state.nowMs += 4_000;
      schema.parse((await read(path)).json);
      const wrong = [await read(path, { method: 'POST' }), await read(`${path}?batch=1`)];
      expect(wrong.map(({ status }) => status)).to.deep.equal([405, 400]);
      world.state.chainAnswers = false;
      world.state.nowMs += 4_000;
      wrong.push(await read(path));
      world.state.chainAnswers = true;
      for (const { status, json } of wrong) {
        const { code, data } = ProcedureError.parse(json).error;
        expect({ code: data.code, number: code }).to.deep.equal(CONFIG_ERRORS[status]);
      }
    });
  }

  it('documents 405 and 429 for every operation', () => {
    for (const operations of Object.values(document.paths)) {
      for (const { operationId, responses } of Object.values(operations)) {
        expect(Object.keys(responses[405]!.headers), operationId).to.include('Allow');
        if (operationId === 'getHealth') expect(responses).to.not.have.property('429');
        else expect(Object.keys(responses[429]!.headers), operationId).to.include('Retry-After');
      }
    }
  });

  it('requires no field that a caller may omit', () => {
    const { ExecuteBody, StartBody } = document.components.schemas;
    expect(ExecuteBody!.required).to.deep.equal(['task']);
    expect(StartBody!.required).to.deep.equal(['task']);
    // Generators treat a field with a default as always present.
    const requests = [ExecuteBody, StartBody, document.components.schemas.AgentMetadata];
    expect(JSON.stringify(requests)).to.not.include('"default"');
  });

  it('has patterns that ECMA-262 and Python read, also without Unicode classes, equal to the enforced ones', () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map((match) =>
      JSON.parse(match[1]!),
    );
    expect(patterns.length).to.be.greaterThan(8);
    for (const pattern of patterns) {
      expect(pattern).to.not.match(/\\[pP]\{/);
      expect(() => [new RegExp(pattern), new RegExp(pattern, 'u')]).to.not.throw();
    }
    const { name, description, ...fields } = document.components.schemas.AgentMetadata!.properties as Record<
      string,
      { pattern: string }
    >;
    const q = document.paths['/v1/agents']!.get!.parameters.find((one) => one.name === 'q')!.schema;
    for (const flags of ['', 'u']) {
      const takes = (pattern: unknown) => (text: string) => new RegExp(String(pattern), flags).test(text);
      for (const line of [name!.pattern, q.pattern]) {
        expect(['two words', 'Ünïcode 🎉'].every(takes(line))).to.equal(true);
        expect(['a\nb', 'a\u0000', 'a\u007f', 'a\u009f'].some(takes(line))).to.equal(false);
      }
      expect(['two\nlines', 'a\u0000'].map(takes(description!.pattern))).to.deep.equal([true, false]);
    }
    expect(fields.endpoint).to.include({ format: 'uri' });
  });

  it('allows null details only for errors whose answers may lack them', () => {
    const nullable = ERROR_CODES.filter((code) => {
      const schema = document.components.schemas[`error_${code}`];
      const details = schema && JSON.parse(JSON.stringify(schema)).properties.error.properties.details;
      return details && details.type !== 'null' && JSON.stringify(details).includes('{"type":"null"}]');
    });
    // A repeat of an interrupted call is answered from the journal, which keeps only the code.
    const fromJournal = nullable.filter((code) => {
      const { details } = ERRORS[code];
      return details.safeParse(null).success;
    });
    expect(fromJournal).to.deep.equal(['insufficient_balance', 'price_changed']);
  });

  it('documents every field and parameter once', () => {
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

  it('requires a key exactly where the relay requires one', async () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { security, operationId }] of Object.entries(operations)) {
        const url = path.replace('{execution_id}', 'b566c309-b734-86c3-aa14-0eba1f5ff01a').replace(/\{\w+\}/g, 'x');
        const headers = { 'content-type': 'application/json' };
        const body = method === 'post' || method === 'patch' ? '{"task":"x"}' : null;
        const { status } = await world.call(url, { method: method.toUpperCase(), headers, body });
        expect(status === 401, operationId).to.equal(security.length > 0);
      }
    }
  });
});
