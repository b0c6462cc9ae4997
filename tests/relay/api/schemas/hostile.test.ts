/** Schemas that would cost much to check, and any schema at random: the check ends. */
import { expect } from 'chai';
import fc from 'fast-check';
import { compileParameterCheck, createParameterCheck } from '../../../../app/relay/agents/parameters.ts';
import { sampleParameters } from '../../../../app/relay/agents/schemas/sample.ts';
import { ApiError } from '../../../../app/relay/errors.ts';
import { ownWork } from '../../../../app/relay/workers.ts';
import { findInputSchemaFaults } from '../../../../app/sdk/wire/schemas/faults.ts';
import { faultsOf, type Json, ofA } from './accept.ts';

/** Asks again if all threads are busy, as on a computer that pauses. */
async function untilTaken<Output>(ask: () => Promise<Output>): Promise<Output> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'service_unavailable')) throw error;
    }
  }
}

describe('schemas of an attacker', () => {
  const doubling = (keyword: string) => {
    const $defs = Object.fromEntries(
      Array.from({ length: 25 }, (_, n) => [
        `d${n}`,
        n === 24 ? {} : { [keyword]: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    );
    return ofA({ $ref: '#/$defs/d0' }, { $defs });
  };
  const times = <One>(count: number, one: One): One[] => Array.from({ length: count }, () => one);
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
  it('rejects: schemas that would cost much to check', () => {
    for (const [name, schema, says] of TOO_MUCH) expect(faultsOf(schema).join('; '), name).to.include(says);
  });

  const list = (value: unknown, count: number) => ({ a: times(count, value) });
  const text = 'x'.repeat(900_000);
  const ab = 'abbabaaabbaba'.repeat(20_000);
  /** A schema that is applied 4,800 times to one value. */
  const again = (schema: unknown) => {
    const all = (count: number, name: string) => ({ allOf: times(count, { $ref: `#/$defs/${name}` }) });
    return ofA(all(24, 'some'), { $defs: { some: all(200, 'one'), one: schema } });
  };
  // Starts the thread, which takes seconds.
  before(() => untilTaken(() => createParameterCheck(ofA({}))(ownWork, JSON.stringify({ a: text }))));

  const TOO_LONG = 'parameters must be smaller: checking them against this agent’s schema takes too long';
  it('stops a pattern asked again and again, and continues to check with the same schema', async () => {
    const schema = again({ type: 'string', pattern: '(a|b)*a(a|b){20}[ab]*$' });
    expect(findInputSchemaFaults(schema, 'input_schema')).to.deep.equal([]);
    const check = createParameterCheck(schema);
    const messageOf = async (a: unknown) => (await check(ownWork, JSON.stringify({ a })))[0]?.message;
    expect(await messageOf(ab)).to.equal(TOO_LONG);
    expect(await messageOf(1)).to.equal('parameters.a must be string');
    expect(await messageOf('a'.repeat(21))).to.equal(undefined);
  });

  it('do not block the event loop with small parameters', async () => {
    const { properties, $defs } = again({ enum: [0] }) as { properties: { a: Json }; $defs: Json };
    const check = createParameterCheck(ofA({ items: properties.a }, { $defs }));
    let turns = 0;
    let counting = setImmediate(function count() {
      turns += 1;
      counting = setImmediate(count);
    });
    try {
      const [fault] = await check(ownWork, JSON.stringify(list(0, 4_000)));
      expect(fault?.message).to.equal(TOO_LONG);
    } finally {
      clearImmediate(counting);
    }
    expect(turns).to.be.at.least(10);
  });

  it('accept valid large parameters', async () => {
    const faultsOfLarge = (a: unknown, parameters: Json) =>
      createParameterCheck(ofA(a))(ownWork, JSON.stringify(parameters));
    const long = { type: 'string', maxLength: 1_000_000, pattern: '^[\\s\\S]+$' };
    expect(await faultsOfLarge(long, { a: text })).to.deep.equal([]);
    const numbers = { type: 'array', items: { type: 'number', minimum: 0 } };
    expect(await faultsOfLarge(numbers, list(0, 400_000))).to.deep.equal([]);
    const different = { a: Array.from({ length: 50_000 }, (_, id) => ({ id })) };
    expect(await faultsOfLarge({ type: 'array', uniqueItems: true }, different)).to.deep.equal([]);
  });
});

describe('schemas at random', () => {
  it('are compiled, check any value and end, once they were accepted', async () => {
    const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
    const name = fc.constantFrom('a', 'b', '$ref', 'type', '__x');
    const leaf = fc.oneof(
      fc.boolean(),
      fc.record(
        {
          type: fc.constantFrom(...types, ['string', 'null']),
          enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }),
          const: fc.jsonValue({ maxDepth: 1 }),
          pattern: fc.oneof(
            { arbitrary: fc.constantFrom('^a+$', '(a|a)*b', '(?=a)', '\\d{3}', 'ä', ''), weight: 10 },
            // Refused.
            fc.constant('(a)\\1'),
          ),
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
        // Most schemas would be too large otherwise.
        { arbitrary: leaf, weight: 5 },
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
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(name, schema, { maxKeys: 3 }),
        schema,
        schema,
        fc.dictionary(name, fc.jsonValue()),
        async (properties, x, y, parameters) => {
          // Most cycles are removed; otherwise few generated schemas would be valid.
          const apart = (one: unknown) =>
            JSON.parse(JSON.stringify(one, (key, value) => (key === '$ref' ? undefined : value)));
          const whole = { type: 'object', properties, $defs: { x: apart(x), y: apart(y) } };
          // Refused and large schemas are drawn again, so 40 accepted ones are always checked within the time limit.
          fc.pre(JSON.stringify(whole).length < 4_000 && findInputSchemaFaults(whole, 's').length === 0);
          const check = compileParameterCheck(whole);
          for (const { path, message } of check(parameters))
            expect(message).to.satisfy((text: string) => text.startsWith(path));
          const sample = await untilTaken(() => sampleParameters(whole, createParameterCheck(whole)));
          expect(sample.fits).to.equal(check(sample.parameters).length === 0);
        },
      ),
      // To make such a schema smaller would take longer than the test may.
      { numRuns: 40, endOnFailure: true },
    );
  });
});
