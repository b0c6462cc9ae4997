/**
 * Input schemas as pydantic, zod and OpenAI's helper really emit them: accepted, and checked with the intended meaning.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { z } from 'zod';
import { findSchemaFaults } from '../../../app/sdk/wire/schemas/faults.ts';
import { accept, faultsOf, type Json, MODELS, ofA, PYDANTIC, ZOD } from './schemas/accept.ts';

/** With the flag u, if the expression is valid with it. */
function ordinary(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}
const code = { regExp: Object.assign(ordinary, { code: '' }) };
/** Ajv with the expressions of JavaScript. */
const ORDINARY = addFormats.default(new Ajv2020({ strict: false, logger: false, code }));

describe('schemas as they are emitted', () => {
  const pydantic = { query: 'q', where: { lat: 1, lon: 2 }, pet: { kind: 'cat' } };
  for (const [library, versions] of Object.entries({ pydantic: PYDANTIC, zod: ZOD })) {
    for (const { version, types } of versions) {
      it(`by ${library} ${version} are accepted and checked, for all of its types`, () => {
        for (const type of types) {
          const { name, good, bad, input, output, draft7 } = type;
          // Tuples of draft 7 are refused with advice.
          for (const schema of [input, ...(draft7 && !name.startsWith('tuple') ? [draft7] : [])]) {
            const fits = accept(schema);
            // The library refuses more than its schema, for example most text of pydantic's decimals.
            const refuses = (a: unknown) => !ORDINARY.validate(schema, { a });
            for (const a of good) expect(fits({ a }), `${name}: ${JSON.stringify(a)}`).to.deep.equal([]);
            for (const a of bad.filter(refuses)) expect(fits({ a }), `${name}: ${JSON.stringify(a)}`).to.not.be.empty;
          }
          if (output) expect(findSchemaFaults(output, 'output_schema'), name).to.deep.equal([]);
        }
      });
    }
  }

  let check: ReturnType<typeof accept>;
  before(() => {
    check = accept(MODELS.input);
  });

  it('by pydantic accept a model with every kind of field, and with the required ones alone', () => {
    const nothing = { also: null, when: null, either: null, pair: null };
    const everything = {
      ...{ also: [{ lat: 1, lon: 1 }], pet: { kind: 'dog', tricks: ['sit'] }, pair: [1, 'a'], tags: ['a', 'b'] },
      ...{ scores: { a: 0.5 }, code: 'ABC-12', when: '2026-01-01T00:00:00Z', day: '2026-01-01', step: 15 },
      ...{ file: 'any path', raw: 'any bytes', secret: 'word', data: '{}' },
    };
    for (const changes of [{}, nothing, everything]) expect(check({ ...pydantic, ...changes })).to.deep.equal([]);
  });

  const UNFIT: [changes: Json, says: string][] = [
    [{ where: { lat: 91, lon: 2 } }, 'where.lat must be <= 90'],
    [{ where: { lat: 1, lon: 2, x: 1 } }, 'where.x is not a parameter'],
    [{ pet: { kind: 'fish' } }, 'pet.kind must be "cat", or must be "dog"'],
    [{ either: [] }, 'either must be integer, or must be string, or must be null'],
    [{ also: [{ lat: 1 }] }, 'also must match one alternative of the schema: 0.lon is missing, or must be null'],
    [{ code: 'abc' }, 'code must match the pattern "^[A-Z]{3}-\\\\d{1,4}$"'],
    [{ pair: ['a', 1] }, 'pair must match one alternative'],
    [{ tags: ['a', 'a'] }, 'tags must not contain an item twice'],
    [{ scores: { a: 'x' } }, 'scores.a must be number'],
    [{ step: 7 }, 'step must be multiple of 5'],
    [{ color: 'blue' }, 'color must be one of ["red","green"]'],
    [{ day: 'tomorrow' }, 'day must match format "date", or must be null'],
  ];
  it('by pydantic refuse a model with one field that does not fit, and say why', () => {
    for (const [changes, says] of UNFIT)
      expect(check({ ...pydantic, ...changes }).join('; ')).to.include(`parameters.${says}`);
  });

  it("accepts the openai helper's schema of a model", () => {
    const plan = accept(MODELS.openai.tool.function.parameters);
    const good = { goal: 'g', steps: [{ explanation: 'e', output: null }], color: 'red', place: { lat: 1, lon: 2 } };
    expect(plan(good)).to.deep.equal([]);
    expect(plan({ ...good, steps: [{ explanation: 'e' }] })).to.deep.equal(['parameters.steps.0.output is missing']);
  });

  const tool = { name: 'n', description: 'd' };
  const schema = ofA({ type: 'string' });
  const tuple = [{ type: 'string' }, { type: 'number' }];
  const OTHERS: [name: string, schema: Json, says: string[]][] = [
    [
      'a tuple of zod for draft 7',
      z.toJSONSchema(z.object({ a: z.tuple([z.string(), z.number()]) }), { target: 'draft-7' }),
      ['input_schema.properties.a.items must be a schema; write the array of schemas of a tuple as `prefixItems`'],
    ],
    [
      'a tuple of TypeBox',
      ofA({ type: 'array', items: tuple, additionalItems: false, minItems: 2, maxItems: 2 }),
      ['a.items must be a schema; write the array', 'a.additionalItems is not among', 'and this schema as `items`'],
    ],
    [
      'keywords of OpenAPI 3.0',
      ofA({ type: 'number', nullable: true, example: 1, minimum: 0, exclusiveMinimum: true }),
      ['"type": ["string", "null"]', 'write `examples`', 'exclusiveMinimum must be a number: the bound itself'],
    ],
    [
      'keywords of forms and of Gemini',
      ofA({ enum: [1], enumNames: ['one'] }, { propertyOrdering: ['a'] }),
      ['write `x-enumNames`', '`properties` keep their order'],
    ],
    ['a tool of OpenAI', { type: 'function', function: { ...tool, parameters: schema } }, ['`function.parameters`']],
    ['a tool of the Responses API', { type: 'function', ...tool, parameters: schema }, ['pass its `parameters`']],
    ['a tool of MCP', { ...tool, inputSchema: schema, outputSchema: schema }, ['pass its `inputSchema`']],
    ['a tool of Anthropic', { ...tool, input_schema: schema }, ['pass its `input_schema`']],
  ];
  it('by other tools are refused with advice', () => {
    for (const [name, refused, says] of OTHERS) {
      const faults = faultsOf(refused);
      for (const words of says) expect(faults.join('; '), name).to.include(words);
      if (/tool/.test(name)) expect(faults, name).to.have.length(1);
    }
  });
});
