import { expect } from 'chai';
import { findFlaws } from '../../../app/dashboard/parts/form/validator.ts';
import { compileParameterCheck } from '../../../app/relay/agents/parameters.ts';
import { CHECKED_FORMATS, describeSchemaRules, SCHEMA_KEYWORDS } from '../../../app/sdk/wire/schemaKeywords.ts';
import { RULES } from '../../../app/sdk/wire/schemas/rules.ts';
import { readPage } from '../../docs/markdown.ts';
import { accept, faultsOf, type Json, ofA } from './schemas/accept.ts';

describe('schemas', () => {
  it('report every fault of parameters, and only the first ones of large parameters', () => {
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

  it('are told in part if a value is long, and never with half a character', () => {
    const check = accept(ofA({ const: `${'x'.repeat(298)}🌍🌍` }));
    expect(check({ a: 'y' })).to.deep.equal([`parameters.a must be "${'x'.repeat(298)}\ufffd...`]);
  });

  const INHERITED = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== '__proto__');

  it('treat a name that every object inherits like any other', () => {
    const text = { type: 'string' };
    const properties = Object.fromEntries(INHERITED.map((name) => [name, text]));
    const check = accept({ type: 'object', properties, required: INHERITED, additionalProperties: false });
    expect(check({})).to.deep.equal(INHERITED.map((name) => `parameters.${name} is missing`));
    expect(check(Object.fromEntries(INHERITED.map((name) => [name, 'x'])))).to.deep.equal([]);
    expect(check(Object.fromEntries(INHERITED.map((name) => [name, 1])))).to.deep.equal(
      INHERITED.map((name) => `parameters.${name} must be string`),
    );
    expect(accept({ type: 'object', additionalProperties: false })({ valueOf: 1 })).to.deep.equal([
      'parameters.valueOf is not a parameter of this agent',
    ]);
    const nested = accept(ofA({ anyOf: [{ required: ['toString'] }, { required: ['constructor'] }] }));
    expect(nested({ a: {} })).to.deep.equal([
      'parameters.a must match one alternative of the schema: toString is missing, or constructor is missing',
    ]);
    const named = accept(ofA({ $ref: '#/$defs/constructor' }, { $defs: { constructor: { type: 'integer' } } }));
    expect(named({ a: 'x' })).to.deep.equal(['parameters.a must be integer']);
    expect(faultsOf(ofA({ $ref: '#/$defs/toString' }, { $defs: {} }))).to.have.length(1);
  });

  it('accept durations with fractions, and times without a zone, as pydantic and zod write them', () => {
    const TIMES: [format: string, good: string[], bad: string[]][] = [
      [
        'duration',
        ['PT1.5S', 'PT0,25H', '-P1DT2.000001S', 'P0.5D', 'P1Y2M3DT4H5M6S', 'P3W', 'PT0S'],
        ['P', 'PT', '1.5S', 'PT1.S', 'PT.5S', 'P1S', 'soon'],
      ],
      ['time', ['12:00:00', '12:00:00.5', '12:00:00Z', '12:00:00+05:30', '23:59:60Z'], ['24:00:00', '12', 'noon']],
      [
        'date-time',
        [
          '2026-01-01T00:00:00',
          '2026-01-01 00:00:00.25',
          '2026-01-01T00:00:00.123456789012Z',
          '2026-12-31T23:59:60Z',
          '2026-01-01t00:00:00z',
        ],
        ['2026-02-30T00:00:00', '2026-01-01', '2026-01-01T24:00:00Z', '2026-01-01T'],
      ],
    ];
    for (const [format, good, bad] of TIMES) {
      const check = accept(ofA({ type: 'string', format }));
      for (const a of good) expect(check({ a }), a).to.deep.equal([]);
      for (const a of bad) expect(check({ a }), a).to.have.length(1);
    }
  });

  it('are checked in the page without refusing a value that the service takes', () => {
    const VALUES: [format: string, values: string[]][] = [
      ['duration', ['PT1.5S', 'P1W2D', '-P1D', 'PT0,25H']],
      ['time', ['12:00:00', '12:00:00.123456Z']],
      ['date-time', ['2026-01-01T00:00:00', '2026-01-01T00:00:00+0000']],
      ['hostname', ['example.com.', 'localhost']],
      ['uuid', ['urn:uuid:00000000-0000-4000-8000-000000000000']],
      ['date', ['2024-02-29']],
      ['email', ['a+b@example.com', "o'x@example.com"]],
      ['ipv6', ['::ffff:192.0.2.1', '2001:DB8::1']],
      ['uri', ['urn:isbn:1', 'HTTPS://EXAMPLE.COM', 'data:,x']],
      // Annotations for the service.
      ['regex', ['(?P<a>b)']],
      ['uri-template', ['{']],
      ['json-pointer', ['no']],
    ];
    for (const [format, values] of VALUES) {
      const schema = ofA({ type: 'string', format });
      for (const a of values) expect([accept(schema)({ a }), findFlaws(schema, { a })], a).to.deep.equal([[], []]);
    }
    expect(findFlaws(ofA({ format: 'email' }), { a: 'x' })).to.have.length(1);
    expect(findFlaws(ofA({ not: { format: 'duration' } }), { a: 'x' })).to.deep.equal([]);
  });

  it('with multipleOf divide decimals exactly, and accept every amount in cents', () => {
    const MULTIPLES: [step: number, good: number[], bad: number[]][] = [
      [0.01, [1070468.14, 0.07, 4503599627370.49, 1e21, -19.99, 0], [0.005, 1070468.145, 1e-9]],
      [0.1, [0.3, 0.7, 123456789.1, 1e300], [0.25, 0.35]],
      [1e-9, [1e-9, 3e-9, 0.123456789, 5], [5e-10, 1.5e-9]],
      [1e-300, [3e-300, 1], [1.5e-300]],
      [1e20, [3e20, 0], [1e19, 150000000000000000000]],
      [0.000001, [1099511627.123457, 0.000003], [0.0000015]],
      [3, [9007199254740990, 3e21], [9007199254740991, 1e21, 1.5]],
      [2.5, [7.5, 1e6], [1, 7.4]],
    ];
    for (const [step, good, bad] of MULTIPLES) {
      const check = accept(ofA({ multipleOf: step }));
      for (const a of good) expect(check({ a }), `${a} of ${step}`).to.deep.equal([]);
      for (const a of bad) expect(check({ a }), `${a}`).to.deep.equal([`parameters.a must be multiple of ${step}`]);
    }
    const check = accept(ofA({ multipleOf: 0.01 }));
    for (let cents = 100_000_000; cents < 100_001_000; cents += 1)
      expect(check({ a: cents / 100 }), String(cents)).to.deep.equal([]);
  });

  it('report every fault of a schema at once, each with its path', () => {
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
      'input_schema.nullable is not among the keywords that are allowed: allow null by `type`, such as "type": ["string", "null"], or by `anyOf`',
      'input_schema.properties.a.type must be one or several of object, array, string, number, integer, boolean, null',
      'input_schema.properties.a.items.minLength must be a whole number of at least 0',
      'input_schema.properties.b.if is not among the keywords that are allowed',
      'input_schema.properties.b.$ref must be text such as #/$defs/Name',
      'input_schema.properties.c.anyOf must be an array of 1 to 200 schemas',
      'input_schema.properties.constructor.constructor is not among the keywords that are allowed',
    ]);
  });

  it('follow references anywhere in the document, with their escapes', () => {
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
    ['a reference to itself', ofA({ $ref: '#' }), 'properties.a.$ref must not form a cycle'],
    [
      'a circle of references',
      ofA({}, { $defs: { x: { items: { $ref: '#/$defs/y' } }, y: { anyOf: [{ $ref: '#/$defs/x' }, true] } } }),
      'must not form a cycle',
    ],
    [
      'a reference to nothing',
      ofA({ $ref: '#/$defs/None' }),
      'properties.a.$ref must name a schema of the same document',
    ],
    ['a reference elsewhere', ofA({ $ref: 'https://example.com/a.json' }), 'properties.a.$ref must name a schema'],
    ['a backreference', ofA({ pattern: '(a)\\1' }), 'properties.a.pattern must be a regular expression'],
    [
      'a pattern of names that RE2 cannot read',
      ofA({ patternProperties: { '(a)\\1': {} } }),
      'patternProperties.(a)\\1 must be',
    ],
    ['an inner $id', ofA({ $id: 'x' }), 'properties.a.$id is allowed only at the top level'],
    ['an array', { type: 'array' }, 'input_schema.type must be "object"'],
    ['a parameter without a name', { type: 'object', required: [''] }, 'an array of different property names'],
  ];
  it('rejects: references that lead nowhere or in a circle, patterns that RE2 cannot run, and no object', () => {
    for (const [name, schema, says] of REFUSED) expect(faultsOf(schema).join('; '), name).to.include(says);
  });

  it('may consist of type object alone, or of a combination alone', () => {
    expect(accept({ type: 'object' })({ any: 1 })).to.deep.equal([]);
    expect(accept({ anyOf: [{ required: ['a'] }, { required: ['b'] }] })({ c: 1 })).to.deep.equal([
      'parameters must match one alternative of the schema: a is missing, or b is missing',
    ]);
  });

  it('appear in one list of all checked keywords', () => {
    expect(Object.values(SCHEMA_KEYWORDS).flat()).to.have.members(Object.keys(RULES));
    const text = describeSchemaRules().join('\n');
    for (const word of [...Object.keys(RULES), ...CHECKED_FORMATS]) expect(text).to.include(`\`${word}\``);
    const page = readPage('docs/creators.md');
    for (const line of describeSchemaRules()) expect(page).to.include(`${line}\n`);
  });

  it('compare objects by content, whatever their property names', () => {
    for (const text of ['{"toString":1}', '{"valueOf":1}', '{"constructor":{}}', '{"__proto__":1}', '{"a":[-0]}']) {
      const value = JSON.parse(text);
      const check = compileParameterCheck({
        type: 'object',
        properties: { one: { const: value }, some: { enum: [2, value] }, all: { type: 'array', uniqueItems: true } },
      });
      expect(check({ one: JSON.parse(text), some: JSON.parse(text), all: [value, 1] }), text).to.deep.equal([]);
      const other = { ...value, other: 1 };
      const faults = check({ one: other, some: [value], all: [value, JSON.parse(text)] }).map(({ path }) => path);
      expect(faults, text).to.deep.equal(['parameters.one', 'parameters.some', 'parameters.all']);
    }
  });
});
