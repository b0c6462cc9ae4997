/**
 * Input schemas as people have them: what pydantic, zod and OpenAI really emit is taken and means what it says, whatever
 * is wrong is told at once, and no schema costs more than the house can bear.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { listingCommands } from '../../../app/cli/commands/listing.ts';
import { compileParameterCheck } from '../../../app/relay/agents/parameters.ts';
import { findInputSchemaFaults, findSchemaFaults } from '../../../app/relay/agents/schemas/faults.ts';
import { RULES } from '../../../app/relay/agents/schemas/rules.ts';
import { sampleParameters } from '../../../app/relay/agents/schemas/sample.ts';
import { encodeMetadata } from '../../../app/sdk/wire/metadata.ts';
import { CHECKED_FORMATS, describeSchemaRules, SCHEMA_KEYWORDS } from '../../../app/sdk/wire/schemaKeywords.ts';
import { startWorld, type World } from '../../harness/edge/api.ts';
import { metadataOf } from '../../harness/edge/rows.ts';

type Json = Record<string, unknown>;

const emitted = JSON.parse(readFileSync(join(import.meta.dirname, 'schemas', 'emitted.json'), 'utf8'));

/** The check of a schema that is accepted. */
function accept(schema: unknown) {
  expect(findInputSchemaFaults(schema as Json, 'input_schema')).to.deep.equal([]);
  const check = compileParameterCheck(schema as Json);
  return (parameters: Json) => check(parameters).map(({ message }) => message);
}

const faultsOf = (schema: Json) =>
  findInputSchemaFaults(schema, 'input_schema').map(({ path, expected }) => `${path} ${expected}`);

const ofA = (a: unknown, more: Json = {}): Json => ({ type: 'object', properties: { a }, ...more });

describe('schemas as they are emitted', () => {
  const pydantic = { query: 'q', where: { lat: 1, lon: 2 }, pet: { kind: 'cat' } };
  const FIT: [name: string, changes: Json][] = [
    ['required fields alone', {}],
    ['null for what may be null', { also: null, when: null, either: null, pair: null }],
    ['a list of models', { also: [{ lat: 1, lon: 1 }] }],
    ['the other form of a tagged union', { pet: { kind: 'dog', tricks: ['sit'] } }],
    ['a tuple, a set and a map', { pair: [1, 'a'], tags: ['a', 'b'], scores: { a: 0.5 } }],
    ['a fitting pattern and formats', { code: 'ABC-12', when: '2026-01-01T00:00:00Z', day: '2026-01-01' }],
    ['formats that are annotations', { file: 'any path', raw: 'any bytes', secret: 'word', data: '{}' }],
    ['a multiple', { step: 15 }],
  ];
  for (const [name, changes] of FIT) {
    it(`pydantic: takes ${name}`, () => {
      expect(accept(emitted.pydantic.input)({ ...pydantic, ...changes })).to.deep.equal([]);
    });
  }

  const UNFIT: [name: string, changes: Json, says: string][] = [
    [
      'a number beyond its bound in a nested model',
      { where: { lat: 91, lon: 2 } },
      'parameters.where.lat must be <= 90',
    ],
    [
      'an unknown field of a strict model',
      { where: { lat: 1, lon: 2, x: 1 } },
      'parameters.where.x is not a parameter',
    ],
    ['an unknown tag of a union', { pet: { kind: 'fish' } }, 'parameters.pet.kind must be "cat", or must be "dog"'],
    ['a value of no form', { either: [] }, 'parameters.either must be integer, or must be string, or must be null'],
    [
      'a model of an optional list that does not fit',
      { also: [{ lat: 1 }] },
      'parameters.also must fit one form of the schema: 0.lon is missing, or must be null',
    ],
    ['text against its pattern', { code: 'abc' }, 'parameters.code must match the pattern "^[A-Z]{3}-\\\\d{1,4}$"'],
    ['a tuple of the wrong kinds', { pair: ['a', 1] }, 'parameters.pair must fit one form'],
    ['a set with an item twice', { tags: ['a', 'a'] }, 'parameters.tags must not hold an item twice'],
    ['a map of the wrong values', { scores: { a: 'x' } }, 'parameters.scores.a must be number'],
    ['no multiple', { step: 7 }, 'parameters.step must be multiple of 5'],
    ['another value of an enum', { color: 'blue' }, 'parameters.color must be one of ["red","green"]'],
    ['a text that is no date', { day: 'tomorrow' }, 'parameters.day must match format "date", or must be null'],
  ];
  for (const [name, changes, says] of UNFIT) {
    it(`pydantic: refuses ${name}`, () => {
      expect(accept(emitted.pydantic.input)({ ...pydantic, ...changes }).join('; ')).to.include(says);
    });
  }

  it('pydantic: the schema of an answer, also where it is no object', () => {
    expect(findSchemaFaults(emitted.pydantic.output, 'output_schema')).to.deep.equal([]);
    expect(findSchemaFaults({ type: 'string' }, 'output_schema')).to.deep.equal([]);
  });

  it("openai: what its helper makes of a model, and the function of its guide's example", () => {
    const plan = accept(emitted.openai.tool.function.parameters);
    const good = { goal: 'g', steps: [{ explanation: 'e', output: null }], color: 'red', place: { lat: 1, lon: 2 } };
    expect(plan(good)).to.deep.equal([]);
    expect(plan({ ...good, steps: [{ explanation: 'e' }] })).to.deep.equal(['parameters.steps.0.output is missing']);
    const weather = accept({
      type: 'object',
      properties: {
        location: { type: 'string', description: 'City and country e.g. Bogotá, Colombia' },
        units: { type: ['string', 'null'], enum: ['celsius', 'fahrenheit', null], description: 'Units' },
      },
      required: ['location', 'units'],
      additionalProperties: false,
    });
    expect(weather({ location: 'Paris, France', units: null })).to.deep.equal([]);
    expect(weather({ location: 'Paris, France', units: 'kelvin' }).join()).to.include(
      'parameters.units must be one of',
    );
  });

  it('zod: nested, optional, nullable, union, tuple, record, formatted and described fields', () => {
    const model = z.object({
      email: z.email(),
      url: z.url().optional(),
      when: z.iso.datetime().optional(),
      wait: z.iso.duration().optional(),
      host: z.hostname().optional(),
      id: z.uuid().nullish(),
      name: z
        .string()
        .startsWith('a')
        .regex(/\d/)
        .describe('Its name')
        .meta({ title: 'T', examples: ['a1'] }),
      count: z.int().positive(),
      half: z.number().multipleOf(0.1).optional(),
      pair: z.tuple([z.string(), z.number()]).rest(z.boolean()).optional(),
      byName: z.record(z.string().regex(/^k/), z.number()).optional(),
      shape: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('dot') }),
        z.object({ kind: z.literal('line'), length: z.number() }),
      ]),
      mode: z.enum(['fast', 'good']).default('fast'),
      shared: z.object({ x: z.int() }).meta({ id: 'Shared' }).nullable(),
      never: z.never().optional(),
      bytes: z.base64().optional(),
      anything: z.unknown(),
    });
    const good = {
      email: 'a@example.com',
      name: 'a1',
      count: 1,
      shape: { kind: 'dot' },
      shared: { x: 1 },
      mode: 'fast',
      anything: 1,
    };
    const more = {
      when: '2026-01-01T00:00:00Z',
      wait: 'PT1S',
      host: 'example.com',
      id: null,
      half: 0.3,
      pair: ['a', 1, true],
      byName: { k1: 1 },
      bytes: 'YQ==',
      url: 'https://example.com/',
    };
    for (const target of ['draft-2020-12', 'draft-7'] as const) {
      const fields = target === 'draft-7' ? model.omit({ pair: true }) : model;
      const check = accept(z.toJSONSchema(fields, { target }));
      const { pair, ...others } = more;
      expect(check({ ...good, ...others, ...(target === 'draft-7' ? {} : { pair }) })).to.deep.equal([]);
      expect(check({ ...good, wait: 'soon', host: '-' })).to.have.length(2);
      for (const wrong of [
        { email: 'no' },
        { name: 'b1' },
        { name: 'a' },
        { count: 0 },
        { byName: { x: 1 } },
        { never: 1 },
        { shared: {} },
        { shape: { kind: 'line' } },
        { half: 0.25 },
        { bytes: '*' },
      ]) {
        expect(check({ ...good, ...wrong }), JSON.stringify(wrong)).to.have.length.above(0);
      }
    }
  });
});

describe('schemas', () => {
  it('tell everything that is wrong with parameters, of large ones what comes first', () => {
    const check = accept({
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['a', 'b'],
      additionalProperties: false,
    });
    expect(check({ n: 'x', c: 1 })).to.deep.equal([
      'parameters.a is missing',
      'parameters.b is missing',
      'parameters.c is not a parameter of this agent',
      'parameters.n must be integer',
    ]);
    expect(check({ n: Array(2_000).fill(0) })).to.have.length(1);
  });

  it('name every fault at once, each with its path', () => {
    expect(
      faultsOf({
        type: 'object',
        nullable: true,
        properties: {
          a: { type: 'text', items: { minLength: -1 } },
          b: { if: {}, $ref: 5 },
          c: { anyOf: [] },
          constructor: { constructor: 1 },
        },
      }),
    ).to.deep.equal([
      'input_schema.nullable is not among the keywords that are allowed',
      'input_schema.properties.a.type must be one or several of object, array, string, number, integer, boolean, null',
      'input_schema.properties.a.items.minLength must be a whole number of at least 0',
      'input_schema.properties.b.if is not among the keywords that are allowed',
      'input_schema.properties.b.$ref must be text such as #/$defs/Name',
      'input_schema.properties.c.anyOf must be an array of 1 to 200 schemas',
      'input_schema.properties.constructor.constructor is not among the keywords that are allowed',
    ]);
  });

  it('follow references wherever they lead in the document, with their escapes', () => {
    const check = accept(
      ofA(
        { $ref: '#/$defs/a%20b~1c~0d' },
        {
          $defs: { 'a b/c~d': { $ref: '#/properties/b/items' }, all: true },
          properties: {
            a: { $ref: '#/$defs/a%20b~1c~0d', description: 'beside it' },
            b: { type: 'array', items: { type: 'integer' } },
            c: { $ref: '#/$defs/all' },
          },
        },
      ),
    );
    expect(check({ a: 1, b: [2], c: 'x' })).to.deep.equal([]);
    expect(check({ a: 'x' })).to.deep.equal(['parameters.a must be integer']);
  });

  const REFUSED: [name: string, schema: Json, says: string][] = [
    ['a reference to itself', ofA({ $ref: '#' }), 'properties.a.$ref must not lead back to itself'],
    [
      'a circle of references',
      ofA({}, { $defs: { x: { items: { $ref: '#/$defs/y' } }, y: { anyOf: [{ $ref: '#/$defs/x' }, true] } } }),
      'must not lead back to itself',
    ],
    [
      'a reference to nothing',
      ofA({ $ref: '#/$defs/None' }),
      'properties.a.$ref must name a schema of the same document',
    ],
    ['a reference to no schema', ofA({ $ref: '#/properties' }), 'properties.a.$ref must name a schema'],
    ['a reference elsewhere', ofA({ $ref: 'https://example.com/a.json' }), 'properties.a.$ref must name a schema'],
    ['a broken escape', ofA({ $ref: '#/%zz' }), 'properties.a.$ref must name a schema'],
    ['lookahead', ofA({ pattern: '^(?=a)b' }), 'properties.a.pattern must be a regular expression that RE2 can read'],
    ['a backreference', ofA({ pattern: '(a)\\1' }), 'properties.a.pattern must be a regular expression'],
    [
      'a pattern of names that RE2 cannot read',
      ofA({ patternProperties: { '(?!a)': {} } }),
      'patternProperties.(?!a) must be',
    ],
    ['an inner $id', ofA({ $id: 'x' }), 'properties.a.$id may stand at the top only'],
    ['an array', { type: 'array' }, 'input_schema.type must be "object"'],
    ['nothing', {}, 'input_schema.type must be "object"'],
  ];
  for (const [name, schema, says] of REFUSED) {
    it(`rejects: ${name}`, () => expect(faultsOf(schema).join('; ')).to.include(says));
  }

  it('take an object alone, and only a combination', () => {
    expect(accept({ type: 'object' })({ any: 1 })).to.deep.equal([]);
    expect(accept({ anyOf: [{ required: ['a'] }, { required: ['b'] }] })({ c: 1 })).to.deep.equal([
      'parameters must fit one form of the schema: a is missing, or b is missing',
    ]);
  });

  it('stand in one list, which says all that is checked', () => {
    expect(Object.values(SCHEMA_KEYWORDS).flat()).to.have.members(Object.keys(RULES));
    const text = describeSchemaRules().join('\n');
    for (const word of [...Object.keys(RULES), ...CHECKED_FORMATS]) expect(text).to.include(`\`${word}\``);
    const readme = readFileSync(join(import.meta.dirname, '..', '..', '..', 'README.md'), 'utf8');
    for (const line of describeSchemaRules()) expect(readme).to.include(`${line}\n`);
  });

  describe('of a hostile writer', () => {
    const doubling = (keyword: string) => {
      const $defs = Object.fromEntries(
        Array.from({ length: 25 }, (_, n) => [
          `d${n}`,
          n === 24 ? {} : { [keyword]: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
        ]),
      );
      return ofA({ $ref: '#/$defs/d0' }, { $defs });
    };
    const times = (count: number, schema: unknown) => Array.from({ length: count }, () => schema);
    const TOO_MUCH: [name: string, schema: Json, says: string][] = [
      ['allOf that doubles through references', doubling('allOf'), 'more than 10000 schemas'],
      ['anyOf that doubles through references', doubling('anyOf'), 'more than 10000 schemas'],
      ['a very wide union', ofA({ anyOf: times(201, {}) }), 'must be an array of 1 to 200 schemas'],
      [
        'many schemas',
        { type: 'object', properties: Object.fromEntries(times(1_000, {}).map((one, n) => [n, one])) },
        'more than 1000 schemas',
      ],
      [
        'much nesting through references',
        ofA(
          { $ref: '#/$defs/d0' },
          {
            $defs: Object.fromEntries(
              Array.from({ length: 40 }, (_, n) => [`d${n}`, n === 39 ? {} : { items: { $ref: `#/$defs/d${n + 1}` } }]),
            ),
          },
        ),
        'nested deeper than 32',
      ],
      ['a long pattern', ofA({ pattern: 'a'.repeat(1_001) }), 'at most 1000 characters'],
      [
        'much in patterns',
        ofA({ anyOf: Array.from({ length: 9 }, (_, n) => ({ pattern: `${n}${'a'.repeat(990)}` })) }),
        'at most 8192 characters together',
      ],
      [
        'patterns of large programs',
        ofA({ anyOf: Array.from({ length: 20 }, (_, n) => ({ pattern: `(a{30}){30}${n}` })) }),
        'at most 10000 instructions',
      ],
    ];
    for (const [name, schema, says] of TOO_MUCH) {
      it(`rejects: ${name}`, () => expect(faultsOf(schema).join('; ')).to.include(says));
    }

    const list = (value: unknown, count: number) => ({ a: times(count, value) });
    const names = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`n${n}`, 1]));
    const text = 'x'.repeat(900_000);
    const ab = 'abbabaaabbaba'.repeat(20_000);
    const STOPPED: [name: string, schema: Json, parameters: Json][] = [
      [
        'a union tried for each of many items',
        ofA({
          items: {
            anyOf: times(200, { type: 'object' })
              .concat([{ type: 'number' }])
              .slice(1),
          },
        }),
        list(0, 400_000),
      ],
      ['the length of one text asked again and again', ofA({ anyOf: times(200, { maxLength: 5 }) }), { a: text }],
      [
        'the names of one object counted again and again',
        ofA({ allOf: times(200, { minProperties: 5 }) }),
        { a: names },
      ],
      ['uniqueness asked again and again', ofA({ allOf: times(200, { uniqueItems: true }) }), { a: [text] }],
      ['an expression whose states never repeat', ofA({ pattern: '(a|b)*a(a|b){20}[^ab]' }), { a: ab }],
    ];
    for (const [name, schema, parameters] of STOPPED) {
      it(`stops ${name}`, () => {
        const [message] = accept(schema)(parameters);
        expect(message).to.equal(
          'parameters must be smaller: checking them against this agent’s schema takes too long',
        );
      });
    }

    it('leaves honest large parameters alone', () => {
      expect(accept(ofA({ type: 'string', maxLength: 1_000_000, pattern: '^[\\s\\S]+$' }))({ a: text })).to.deep.equal(
        [],
      );
      expect(accept(ofA({ type: 'array', items: { type: 'number', minimum: 0 } }))(list(0, 400_000))).to.deep.equal([]);
      expect(
        accept(ofA({ type: 'array', uniqueItems: true }))({ a: Array.from({ length: 50_000 }, (_, id) => ({ id })) }),
      ).to.deep.equal([]);
    });
  });

  it('that are accepted always compile, check anything and end', function () {
    this.timeout(300_000);
    const name = fc.constantFrom('a', 'b', '$ref', 'type', '__x');
    const leaf = fc.oneof(
      fc.boolean(),
      fc.record(
        {
          type: fc.constantFrom('object', 'array', 'string', 'number', 'integer', 'boolean', 'null', [
            'string',
            'null',
          ]),
          enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }),
          const: fc.jsonValue({ maxDepth: 1 }),
          pattern: fc.constantFrom('^a+$', '(a|a)*b', '(?=a)', '\\d{3}', 'ä', ''),
          format: fc.constantFrom('date', 'email', 'uri', 'path', 'uuid'),
          minLength: fc.nat(3),
          maximum: fc.integer({ min: -5, max: 5 }),
          multipleOf: fc.constantFrom(0.1, 2, 1e-300),
          uniqueItems: fc.boolean(),
          required: fc.uniqueArray(name),
          $ref: fc.constantFrom('#/$defs/x', '#/$defs/y'),
          default: fc.jsonValue({ maxDepth: 1 }),
        },
        { requiredKeys: [] },
      ),
    );
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.record(
          {
            properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
            patternProperties: fc.dictionary(fc.constantFrom('^a', '.', '[ab]'), tie('schema'), { maxKeys: 2 }),
            additionalProperties: tie('schema'),
            propertyNames: tie('schema'),
            items: tie('schema'),
            prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
            oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
            allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
            not: tie('schema'),
          },
          { requiredKeys: [] },
        ),
      ),
    }));
    fc.assert(
      fc.property(
        fc.dictionary(name, schema, { maxKeys: 3 }),
        schema,
        schema,
        fc.dictionary(name, fc.jsonValue()),
        (properties, x, y, parameters) => {
          // Most circles are cut, or little else would be generated.
          const apart = (one: unknown) =>
            JSON.parse(JSON.stringify(one, (key, value) => (key === '$ref' ? undefined : value)));
          const whole = { type: 'object', properties, $defs: { x: apart(x), y: apart(y) } };
          // What is refused is drawn again: 40 that are accepted are checked, whatever the draw.
          fc.pre(findInputSchemaFaults(whole, 's').length === 0);
          const check = compileParameterCheck(whole);
          for (const { path, message } of check(parameters))
            expect(message).to.satisfy((text: string) => text.startsWith(path));
          const sample = sampleParameters(whole, check);
          expect(sample.fits).to.equal(check(sample.parameters).length === 0);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('compare objects by what they hold, whatever their names', () => {
    for (const text of ['{"toString":1}', '{"valueOf":1}', '{"constructor":{}}', '{"__proto__":1}', '{"a":[-0]}']) {
      const value = JSON.parse(text);
      const check = compileParameterCheck({
        type: 'object',
        properties: { one: { const: value }, some: { enum: [2, value] }, all: { type: 'array', uniqueItems: true } },
      });
      expect(check({ one: JSON.parse(text), some: JSON.parse(text), all: [value, 1] }), text).to.deep.equal([]);
      const other = { ...value, other: 1 };
      const faults = check({ one: other, some: [value], all: [value, JSON.parse(text)] });
      expect(
        faults.map(({ path }) => path),
        text,
      ).to.deep.equal(['parameters.one', 'parameters.some', 'parameters.all']);
    }
  });

  describe('samples for probes', () => {
    const sample = (schema: Json) => sampleParameters(schema, compileParameterCheck(schema));
    it('follow references, unions, constants and what must all hold', () => {
      expect(sample(emitted.pydantic.input)).to.deep.include({ fits: true });
      expect(sample(emitted.openai.tool.function.parameters)).to.deep.include({ fits: true });
      const schema = {
        allOf: [
          { $ref: '#/$defs/Base' },
          { properties: { n: { exclusiveMinimum: 3, multipleOf: 5, type: 'integer' } }, required: ['n'] },
        ],
        $defs: {
          Base: {
            type: 'object',
            properties: {
              kind: { const: 'k' },
              when: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] },
            },
            required: ['kind', 'when'],
          },
        },
      };
      expect(sample(schema)).to.deep.equal({ parameters: { kind: 'k', when: '2026-01-01', n: 5 }, fits: true });
    });

    it('say where there is none', () => {
      expect(sample(ofA({ type: 'string', pattern: '^[A-Z]{3}$' }, { required: ['a'] }))).to.deep.equal({
        parameters: { a: 'x' },
        fits: false,
      });
      expect(sample({ ...ofA({ pattern: '^[A-Z]{3}$' }), required: ['a'], examples: [{ a: 'ABC' }] })).to.deep.equal({
        parameters: { a: 'ABC' },
        fits: true,
      });
    });
  });

  describe('over HTTP', () => {
    let world: World;
    before(async () => {
      world = await startWorld();
    });
    after(() => world.stop());

    it('are described where people look: /docs, the OpenAPI document and the help of the command line', async () => {
      const page = (await world.get('/docs')).text;
      const { components } = (await world.get('/openapi.json')).json;
      const { description } = components.schemas.AgentMetadata.properties.input_schema;
      const create = listingCommands().commands.find((command) => command.name() === 'create')!;
      const written: string[] = [];
      create.configureOutput({ writeOut: (text) => void written.push(text) }).outputHelp();
      for (const keyword of Object.keys(RULES)) {
        expect(page).to.include(`<code>${keyword}</code>`);
        expect(description).to.include(`\`${keyword}\``);
        expect(written.join('')).to.include(keyword);
      }
    });

    it('are refused with every fault in the message and in details.issues, both schemas together', async () => {
      const metadata = metadataOf({ input_schema: ofA({ foo: 1, bar: 2 }), output_schema: { if: {} } });
      const { status, json } = await world.post('/v1/metadata', encodeMetadata(metadata));
      expect([status, json.error.code]).to.deep.equal([400, 'invalid_request']);
      const paths = ['input_schema.properties.a.foo', 'input_schema.properties.a.bar', 'output_schema.if'];
      expect(json.error.details.issues.map(({ path }: { path: string }) => path)).to.deep.equal(paths);
      for (const path of paths) expect(json.error.message).to.include(path);
      expect(json.error.message).to.include('Allowed: type, enum, const');
    });

    it('tell a caller all that does not fit', async () => {
      const key = await world.addKey();
      const agent = await world.addListing({}, { input_schema: emitted.pydantic.input });
      const body = { task: 't', parameters: { query: '', where: { lat: 1 }, pet: { kind: 'cat' } } };
      const { status, json } = await world.post(`/v1/agents/${agent}/execute`, body, { key: key.apiKey });
      expect(status).to.equal(400);
      expect(json.error.details.issues).to.deep.equal([
        { in: 'body', path: 'parameters.query', expected: 'must NOT have fewer than 1 characters', got: '""' },
        { in: 'body', path: 'parameters.where.lon', expected: 'is required', got: 'nothing' },
      ]);
    });
  });
});
